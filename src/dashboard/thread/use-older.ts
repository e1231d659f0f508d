import { useState } from 'react'
import { useClient } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { MESSAGE, type ShownMessage } from '../message/message-fields.ts'
import { say } from '../parts/toast.ts'

const OLDER = graphql(
  `
    query OlderMessages($id: UUID!, $after: String!) {
      thread(id: $id) {
        id
        messages(first: 50, after: $after) {
          edges { node { ...ThreadMessage } }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  `,
  [MESSAGE],
)

type Page = ResultOf<typeof OLDER>['thread']['messages']

const nextOf = ({ pageInfo }: Page): string | null => (pageInfo.hasNextPage ? pageInfo.endCursor : null)

/** Messages before the newest 50, which are loaded when they are asked for. */
export const useOlder = (threadId: string, newest: Page) => {
  const client = useClient()
  const [loaded, setLoaded] = useState<{ messages: readonly ShownMessage[]; next: string | null } | null>(
    null,
  )
  const [busy, setBusy] = useState(false)
  const first = newest.edges.map(({ node }) => node)
  const known = new Set(first.map(({ id }) => id))
  const messages = [...first, ...(loaded?.messages ?? []).filter(({ id }) => !known.has(id))]
  const next = loaded ? loaded.next : nextOf(newest)
  /** Loads the next page, or all that there are. Resolves to whether that succeeded. */
  const load = async (all: boolean): Promise<boolean> => {
    // With those shown so far: what arrives later pushes the oldest of them out of the newest 50.
    let shown: readonly ShownMessage[] = messages
    let after = next
    setBusy(true)
    while (after !== null) {
      const { data, error } = await client.query(OLDER, { id: threadId, after }).toPromise()
      const failure = failureOf(error)
      if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
      if (!data) break
      shown = [...shown, ...data.thread.messages.edges.map(({ node }) => node)]
      after = nextOf(data.thread.messages)
      setLoaded({ messages: shown, next: after })
      if (!all) break
    }
    setBusy(false)
    return after === null
  }
  return { messages, busy, more: next === null ? undefined : () => void load(false), all: () => load(true) }
}
