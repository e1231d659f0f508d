import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'
import { type Arrival, sizeOf } from './store.ts'

/** What is kept of messages that are refused. Strangers decide how many there are, and how long they are. */

const DAY_MS = 24 * 3_600_000
const MIB = 1024 * 1024

/**
 * Most of what one agent refuses in a day (UTC) that is kept: of one source, and in all. A source has room
 * for one message of the greatest size with its files, an agent for several of these.
 */
const MAX = {
  messages: { source: 200, agent: 2_000 },
  bytes: { source: 48 * MIB, agent: 128 * MIB },
}

/**
 * What is left of a message for whose bytes there is no room: characters of its text; recipients and
 * references of each kind.
 */
const HEAD_TEXT = 1_000
const HEAD_ENTRIES = 10

type Amount = keyof typeof MAX

const usesOf = (what: Amount, agentId: string, source: string, amount: number) => [
  {
    key: `refused ${what}:${agentId}`,
    limit: MAX[what].agent,
    amount,
    windowMs: DAY_MS,
    of: 'the agent refused',
  },
  {
    key: `refused ${what}:${agentId}:${source}`,
    limit: MAX[what].source,
    amount,
    windowMs: DAY_MS,
    of: 'it refused from this source',
  },
]

/** The first `most` characters, whole ones. */
const startOf = (text: string, most: number): string =>
  Array.from(text.slice(0, 2 * most))
    .slice(0, most)
    .join('')

const headOf = ({ message, attachments, event }: Arrival, why: string): Arrival => {
  const checks = message.checks as Prisma.JsonArray
  const files = attachments.length > 0 ? ', not its files' : ''
  const kept = {
    name: 'kept',
    verdict: 'partly',
    detail: `the first ${HEAD_TEXT} characters of its text${files}: ${why}`,
  }
  return {
    event,
    raw: null,
    attachments: [],
    message: {
      ...message,
      text: startOf(message.text, HEAD_TEXT),
      replyText: null,
      to: message.to.slice(0, HEAD_ENTRIES),
      cc: message.cc.slice(0, HEAD_ENTRIES),
      threadReferences: message.threadReferences.slice(-HEAD_ENTRIES),
      // The rule that refused it stays the last one.
      checks: [...checks.slice(0, -1), kept, ...checks.slice(-1)],
    },
  }
}

const bytesOf = (arrival: Arrival): number => sizeOf(arrival) + Buffer.byteLength(arrival.message.text)

/**
 * What is to be stored of an arrival. All of it, unless it is refused and the agent has refused too much
 * today, from its source or in all: then what it says of itself and where its text begins, and a check that
 * says so; past a number of messages, nothing (null).
 */
export const limitRefused = (
  rates: Pick<RateLimits, 'takeAll'>,
  arrival: Arrival,
  source: string,
): Arrival | null => {
  const { status, agentId } = arrival.message
  if (status !== 'refused') return arrival
  if (rates.takeAll(usesOf('messages', agentId, source, 1)) !== null) return null
  const over = rates.takeAll(usesOf('bytes', agentId, source, bytesOf(arrival)))
  return over === null ? arrival : headOf(arrival, `what ${over.of} today takes ${over.limit / MIB} MiB`)
}
