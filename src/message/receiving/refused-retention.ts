import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { RateLimits } from '../../workspace/index.ts'
import { type Arrival, sizeOf } from './store.ts'

/** Limits on what is stored of refused messages, whose number and size are up to strangers. */

const DAY_MS = 24 * 3_600_000
const MIB = 1024 * 1024

/**
 * Maximum amount of refused messages stored per agent and day (UTC), from one source and in total. The limit
 * per source allows one message of the maximum size with its attachments, the limit per agent several of
 * them.
 */
const MAX = {
  messages: { source: 200, agent: 2_000 },
  bytes: { source: 48 * MIB, agent: 128 * MIB },
}

/**
 * What is stored of a refused message that exceeds the byte limit: characters of its text, and recipients and
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
    of: 'by the agent',
  },
  {
    key: `refused ${what}:${agentId}:${source}`,
    limit: MAX[what].source,
    amount,
    windowMs: DAY_MS,
    of: 'from this source',
  },
]

/** Returns the first `max` characters, without splitting a surrogate pair. */
const startOf = (text: string, max: number): string =>
  Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('')

const shortened = ({ message, attachments, event }: Arrival, why: string): Arrival => {
  const checks = message.checks as Prisma.JsonArray
  const files = attachments.length > 0 ? ', without attachments' : ''
  const kept = {
    name: 'kept',
    verdict: 'partly',
    detail: `the first ${HEAD_TEXT} characters of its text${files}: ${why}`,
  }
  return {
    event,
    wakeLimits: null,
    raw: null,
    attachments: [],
    message: {
      ...message,
      text: startOf(message.text, HEAD_TEXT),
      replyText: null,
      to: message.to.slice(0, HEAD_ENTRIES),
      cc: message.cc.slice(0, HEAD_ENTRIES),
      threadReferences: message.threadReferences.slice(-HEAD_ENTRIES),
      // The rule that refused the message stays last.
      checks: [...checks.slice(0, -1), kept, ...checks.slice(-1)],
    },
  }
}

const bytesOf = (arrival: Arrival): number => sizeOf(arrival) + Buffer.byteLength(arrival.message.text)

/**
 * Returns what to store of an arrival. Admitted messages are stored in full, and so are refused ones within
 * the daily limits for their source and agent. Over the byte limit, the headers, the start of the text and a
 * check that says so remain; over the limit on messages, nothing does (null).
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
  return over === null
    ? arrival
    : shortened(arrival, `messages refused today ${over.of} exceed ${over.limit / MIB} MiB`)
}
