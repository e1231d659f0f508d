import type { Client } from 'graphql-sse'
import { stringifyDocument } from 'urql'
import { type Change, onChange } from './change.ts'
import { client as queries } from './client.ts'
import { graphql, type ResultOf } from './graphql.ts'

/** What the service is asked to tell, and how it becomes changes. The only place that knows the subscriptions. */

const AGENTS = graphql(`query LiveAgents { agents { id } }`)

const RECEIVED = graphql(`
  subscription LiveReceived($agentId: UUID!) {
    messageReceived(agentId: $agentId) { sender { name email phone } message { threadId subject } }
  }
`)

const CHANGED = graphql(`
  subscription LiveChanged($agentId: UUID!) {
    messageChanged(agentId: $agentId) { threadId }
  }
`)

const WEBHOOKS = graphql(`
  subscription LiveWebhooks($agentId: UUID!) {
    webhookChanged(agentId: $agentId) { webhookId }
  }
`)

const received = (agentId: string, { messageReceived: event }: ResultOf<typeof RECEIVED>): Change => ({
  topic: 'messages',
  agentId,
  ...(event.message ? { threadId: event.message.threadId } : {}),
  arrived: {
    from: event.sender.name ?? event.sender.email ?? event.sender.phone ?? '',
    subject: event.message?.subject ?? '',
  },
})

const changed = (agentId: string, { messageChanged }: ResultOf<typeof CHANGED>): Change => ({
  topic: 'messages',
  agentId,
  threadId: messageChanged.threadId,
})

const SUBSCRIPTIONS = [
  { query: stringifyDocument(RECEIVED), toChange: received },
  { query: stringifyDocument(CHANGED), toChange: changed },
  {
    query: stringifyDocument(WEBHOOKS),
    toChange: (agentId: string): Change => ({ topic: 'webhooks', agentId }),
  },
]

const codeOf = (errors: readonly { extensions?: unknown }[]): string | null =>
  (errors[0]?.extensions as { code?: string } | undefined)?.code ?? null

export interface Follower {
  tell(changes: readonly Change[]): void
  /** The subscriptions ended: with the code of the API's error, or null if the connection broke. */
  end(code: string | null): void
}

const followAgent = (sse: Client<true>, agentId: string, { tell, end }: Follower): void => {
  for (const { query, toChange } of SUBSCRIPTIONS)
    sse.subscribe(
      { query, variables: { agentId } },
      {
        next: ({ data, errors }) => {
          const code = errors ? codeOf(errors) : null
          if (code !== null && code !== 'not_found') end(code)
          if (data) tell([toChange(agentId, data as never)])
        },
        error: (error) => end(Array.isArray(error) ? codeOf(error) : null),
        complete: () => undefined,
      },
    )
}

/**
 * Subscribes to what happens in the workspace, also with agents that are made later. Returns a function that
 * ends this; it resolves once the agents are known.
 */
export const followWorkspace = async (sse: Client<true>, follower: Follower): Promise<() => void> => {
  const followed = new Set<string>()
  const followNew = async (): Promise<void> => {
    const { data } = await queries.query(AGENTS, {}, { requestPolicy: 'network-only' }).toPromise()
    if (!data) return follower.end(null)
    const added = data.agents.filter(({ id }) => !followed.has(id))
    for (const { id } of added) {
      followed.add(id)
      followAgent(sse, id, follower)
    }
  }
  const stop = onChange((changes) => {
    if (changes.some(({ topic }) => topic === 'agents')) void followNew()
  })
  await followNew()
  return stop
}
