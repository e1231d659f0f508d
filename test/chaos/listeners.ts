import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'graphql-sse'
import { openEvents } from '../support/events.ts'
import { until } from '../support/until.ts'
import type { Seeded } from './seeded.ts'
import { type ChaosAgent, fronts } from './traffic.ts'
import type { World } from './world.ts'

/**
 * A listener that runs until `over`. Whenever its connection ends, it resumes on any process after its last
 * id.
 */
export interface Listener {
  readonly name: string
  readonly agentId: string
  readonly received: number[]
  /** What it received besides events, which should be nothing. */
  readonly others: string[]
  readonly resumed: number
}

/** Listens once, after `last`, until the connection ends or `leave` is aborted. */
type Listen = (
  base: string,
  last: number,
  hear: (id: number) => void,
  leave: AbortSignal,
) => Promise<string | null>

/** The agent's client, on its event stream. */
const stream =
  (agent: ChaosAgent): Listen =>
  async (base, last, hear, leave) => {
    const url = `${base}/agents/${agent.id}/connections/${agent.connectionId}/events`
    const events = await openEvents(url, agent.token, { 'Last-Event-ID': String(last) })
    let ended = false
    const end = () => {
      ended = true
    }
    events.ended.then(end, end)
    const others: string[] = []
    const take = () => {
      for (const { id, event } of events.frames.splice(0))
        event === 'message.received' ? hear(id!) : others.push(event)
    }
    await until(() => {
      take()
      return ended || leave.aborted
    }, 3_600_000)
    events.close()
    take()
    if (events.status === 204) others.push('204')
    return others[0] ?? null
  }

const QUERY =
  'subscription ($agentId: UUID!, $after: SafeInt) { messageReceived(agentId: $agentId, after: $after) { id } }'

/** A dashboard, on a GraphQL subscription. */
const subscription =
  (agent: ChaosAgent, token: string): Listen =>
  async (base, last, hear, leave) => {
    const client = createClient({
      url: `${base}/graphql`,
      headers: { Authorization: `Bearer ${token}` },
      retryAttempts: 0,
    })
    leave.addEventListener('abort', () => client.dispose(), { once: true })
    const results = client.iterate<{ messageReceived: { id: number } }>({
      query: QUERY,
      variables: { agentId: agent.id, after: last },
    })
    for await (const { data } of results) {
      if (!data) break // sent by a process that stops
      hear(data.messageReceived.id)
    }
    return null
  }

const start = (
  world: World,
  { pick, below }: Seeded,
  name: string,
  agentId: string,
  listen: Listen,
  over: AbortSignal,
): Listener => {
  const received: number[] = []
  const others: string[] = []
  let resumed = 0
  const run = async () => {
    for (; !over.aborted; resumed++) {
      const leave = new AbortController()
      const go = () => leave.abort()
      over.addEventListener('abort', go)
      const timer = setTimeout(go, 500 + below(8_000)) // it sometimes disconnects by itself
      const hear = (id: number) => void received.push(id)
      const other = await listen(
        pick(fronts(world)).place.http,
        received.at(-1) ?? 0,
        hear,
        leave.signal,
      ).catch(() => null)
      clearTimeout(timer)
      over.removeEventListener('abort', go)
      if (other) others.push(other)
      await sleep(20)
    }
  }
  void run()
  return {
    name,
    agentId,
    received,
    others,
    get resumed() {
      return resumed
    },
  }
}

/** Starts the agent's client and a dashboard. */
export const startListeners = (
  world: World,
  chance: Seeded,
  agent: ChaosAgent,
  over: AbortSignal,
): Listener[] => [
  start(world, chance, 'stream', agent.id, stream(agent), over),
  start(world, chance, 'subscription', agent.id, subscription(agent, world.ownerToken), over),
]
