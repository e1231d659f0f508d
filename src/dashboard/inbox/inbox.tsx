import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { useLocation, useParams, useSearchParams } from 'wouter'
import { LinkButton } from '../parts/button.tsx'
import { InboxIcon, MailIcon, PencilIcon, SearchIcon } from '../parts/icons.tsx'
import { More } from '../parts/more.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { useKeys } from '../shell/keys.ts'
import { useTitle } from '../shell/page.tsx'
import { useAgents } from '../shell/viewer.tsx'
import { BulkBar } from './bulk.tsx'
import { FirstAgent } from './first-agent.tsx'
import './inbox.css'
import type { Row } from './row.ts'
import { RowList } from './row-list.tsx'
import { SearchField } from './search-field.tsx'
import { text } from './strings.ts'
import { type Rows, useRows } from './use-rows.ts'

const Thread = lazy(async () => ({ default: (await import('../thread/thread.tsx')).Thread }))

/** Which list is shown, and where its threads are: the address keeps the agent and the search. */
const useList = () => {
  const [search, setSearch] = useSearchParams()
  const kept = search.toString()
  const agent = useAgents().find(({ id }) => id === search.get('agent'))
  return {
    agent,
    query: search.get('q') ?? '',
    setQuery: useCallback(
      (query: string) =>
        setSearch(
          (old) => {
            const next = new URLSearchParams(old)
            if (query === '') next.delete('q')
            else next.set('q', query)
            return next
          },
          { replace: true },
        ),
      [setSearch],
    ),
    hrefOf: useCallback((id?: string) => `/inbox${id ? `/${id}` : ''}${kept ? `?${kept}` : ''}`, [kept]),
  }
}

type List = ReturnType<typeof useList>

/**
 * Returns the thread that is open, or was open before the list was shown again: there the list and the focus
 * return to.
 */
const useAnchor = (thread: string | undefined): string | undefined => {
  const [anchor, setAnchor] = useState(thread)
  if (thread && thread !== anchor) setAnchor(thread)
  useEffect(() => {
    if (!thread && anchor) document.querySelector<HTMLElement>(`.thread-row[href*="${anchor}"]`)?.focus()
  }, [thread, anchor])
  return anchor
}

/** Opens the next or the previous thread of the list. */
const useMove = ({ rows }: Rows, current: string | undefined, { hrefOf }: List) => {
  const [, go] = useLocation()
  return (step: number) => {
    const at = rows.findIndex(({ threadId }) => threadId === current)
    const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
    if (row) go(hrefOf(row.threadId), { replace: current !== undefined })
  }
}

const useSelection = (rows: readonly Row[]) => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    (id: string) =>
      setIds((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id])),
    [],
  )
  return { ids, rows: rows.filter(({ id }) => ids.has(id)), toggle, clear: () => setIds(new Set()) }
}

const None = ({ query }: { query: string }) =>
  query === '' ? (
    <Empty icon={MailIcon} title={text.none}>
      <p>{text.noneHint}</p>
      <LinkButton href="/agents">{text.howTo}</LinkButton>
    </Empty>
  ) : (
    <Empty icon={SearchIcon} title={text.nothingFound}>
      <p>{text.nothingFoundHint}</p>
    </Empty>
  )

const ListPane = ({ list, rows, thread }: { list: List; rows: Rows; thread: string | undefined }) => {
  const { agent, query, setQuery, hrefOf } = list
  const [, go] = useLocation()
  const field = useRef<HTMLInputElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const anchor = useAnchor(thread)
  const selection = useSelection(rows.rows)
  // An open thread is the page's subject, and alone on narrow screens.
  const Title = thread ? 'h2' : 'h1'
  const compose = agent ? `/compose?agent=${agent.id}` : '/compose'
  const currentRow = rows.rows.find(({ threadId }) => threadId === thread)
  useKeys([
    { keys: '/', label: text.keys.search, group: 'list', run: () => field.current?.focus() },
    { keys: 'c', label: text.keys.compose, group: 'any', run: () => go(compose) },
    {
      keys: 'x',
      label: text.keys.select,
      group: 'list',
      run: () => currentRow && selection.toggle(currentRow.id),
    },
  ])
  return (
    <section className="inbox-list" aria-label={text.list}>
      <header className="inbox-head">
        <Title>{agent?.name ?? text.title}</Title>
        <LinkButton href={compose} icon={PencilIcon}>
          {text.compose}
        </LinkButton>
      </header>
      <SearchField ref={field} query={query} onQuery={setQuery} />
      {selection.rows.length > 0 && <BulkBar rows={selection.rows} onDone={selection.clear} />}
      <div className="inbox-scroll" ref={scroller}>
        {rows.loading && <Loading lines={8} />}
        {rows.failure && <Failed failure={rows.failure} onRetry={rows.retry} />}
        {!rows.loading && !rows.failure && rows.rows.length === 0 && <None query={query} />}
        <RowList
          rows={rows.rows}
          current={anchor}
          isOpen={thread !== undefined}
          scroller={scroller}
          hrefOf={hrefOf}
          showAgent={!agent}
          selected={selection.ids}
          onSelect={selection.toggle}
        />
        {rows.hasMore && <More busy={rows.busy} onMore={rows.more} />}
      </div>
    </section>
  )
}

const Threaded = () => {
  const { thread } = useParams<{ thread?: string }>()
  const [, go] = useLocation()
  const list = useList()
  const { agent, query, hrefOf } = list
  const rows = useRows(agent?.id ?? null, query)
  const move = useMove(rows, thread, list)
  useTitle(agent ? text.of(agent.name) : text.title)
  useKeys([
    { keys: 'j', label: text.keys.next, group: 'list', run: () => move(1) },
    { keys: 'k', label: text.keys.previous, group: 'list', run: () => move(-1) },
    { keys: 'o', label: text.keys.open, group: 'list', run: () => move(0) },
    { keys: 'Escape', label: text.keys.back, group: 'list', run: () => go(hrefOf()) },
  ])
  return (
    <div className={thread ? 'inbox reading' : 'inbox'}>
      <ListPane list={list} rows={rows} thread={thread} />
      <section className="inbox-thread" aria-label={text.reading}>
        {thread ? (
          <Suspense fallback={<Loading lines={5} />}>
            <Thread key={thread} id={thread} back={hrefOf()} onNext={() => move(1)} />
          </Suspense>
        ) : (
          <Empty icon={InboxIcon} title={text.choose}>
            <p>{text.chooseHint}</p>
          </Empty>
        )}
      </section>
    </div>
  )
}

export const Screen = () => (useAgents().length === 0 ? <FirstAgent /> : <Threaded />)
