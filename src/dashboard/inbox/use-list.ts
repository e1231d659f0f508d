import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { locale } from '../parts/language.ts'
import { soughtIn } from '../parts/list/highlight.tsx'
import { useAgents, useViewer } from '../screen/viewer.tsx'
import { type Known, parseSearch } from './query.ts'
import { text } from './strings.ts'

const pathOf = (search: URLSearchParams, thread = ''): string => {
  const kept = search.toString()
  return `/inbox${thread && `/${thread}`}${kept && `?${kept}`}`
}

/** Which list is shown, and where its threads are: the address keeps the agent and the search. */
export const useList = () => {
  const [params, setParams] = useSearchParams()
  const agents = useAgents()
  const { id } = useViewer()
  const query = params.get('q') ?? ''
  const wanted = params.get('agent')
  const known = useMemo<Known>(
    () => ({ agents, me: id, now: new Date(), locale, say: text.problem }),
    [agents, id],
  )
  // Read again only for another search: the agents are others whenever one of their counts is.
  const names = JSON.stringify(agents.map((agent) => [agent.id, agent.name]))
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const { search, problems } = useMemo(() => {
    const read = parseSearch(query, known)
    return { ...read, search: { ...read.search, agentId: read.search.agentId ?? wanted } }
  }, [query, wanted, names])
  const sought = useMemo(() => soughtIn(`${search.words} ${search.subject ?? ''}`), [search])
  const kept = params.toString()
  return {
    query,
    known,
    search,
    problems,
    /** The words that are marked where they are found. */
    sought,
    agent: agents.find((one) => one.id === search.agentId),
    /** The address names an agent that does not exist, or no longer. */
    isOfNobody: search.agentId !== null && agents.every((one) => one.id !== search.agentId),
    setQuery: useCallback(
      (next: string) =>
        setParams(
          (old) => {
            const changed = new URLSearchParams(old)
            if (next === '') changed.delete('q')
            else changed.set('q', next)
            return changed
          },
          { replace: true },
        ),
      [setParams],
    ),
    hrefOf: useCallback((thread?: string) => pathOf(new URLSearchParams(kept), thread), [kept]),
    hrefOfQuery: (next: string) => {
      const changed = new URLSearchParams(wanted ? { agent: wanted } : {})
      if (next !== '') changed.set('q', next)
      return pathOf(changed)
    },
  }
}

export type List = ReturnType<typeof useList>
