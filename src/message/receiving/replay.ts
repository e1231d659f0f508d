import { createHash } from 'node:crypto'
import { overRate } from '../../admission/index.ts'
import type { Inbound } from '../../core/channel/inbound.ts'
import type { Logger } from '../../core/logger.ts'
import type { RateLimits } from '../../workspace/index.ts'
import type { SignedQuery, Target } from './target.ts'

/**
 * A DKIM signature proves who wrote a mail, but not who sends it, when, and to whom: everyone who has a copy can send it
 * again with other unsigned fields. What follows decides what such a copy is worth.
 */

const DAY_MS = 24 * 3_600_000
/**
 * For how many days a signature alone proves a mail. Mail servers try for up to five days (RFC 5321 4.5.4.1), some of
 * them through a relay that queues as well.
 * @limit Receiving
 */
const MAX_SIGNATURE_AGE_DAYS = 7

/** Whether the mail is proven, and by nothing but a signature. */
const isSignedOnly = ({ proven, signature }: Inbound): boolean => proven && signature?.isOnlyProof === true

const fingerprintOf = (id: string, isTrusted: boolean): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    createHash('sha256')
      .update(`${isTrusted ? 'received' : 'other'}:${id}`)
      .digest(),
  )

/**
 * Identifies an arrival: by its signed content, if it has a signature, and otherwise by `fingerprint`. A copy that is
 * refused, or whose sender is not proven, must not keep the genuine mail out that comes after it. The content of a second
 * signature takes the place of the fingerprint: a copy may have only that one.
 */
export const identityOf = (
  { proven, signature }: Inbound,
  { isRefused, fingerprint }: { isRefused: boolean; fingerprint: Uint8Array<ArrayBuffer> | null },
): { fingerprint: Uint8Array<ArrayBuffer> | null; signedContent: Uint8Array<ArrayBuffer> | null } => {
  if (!signature) return { fingerprint, signedContent: null }
  const isTrusted = proven && !isRefused
  const [first, second] = signature.ids.map((id) => fingerprintOf(id, isTrusted))
  return { fingerprint: second ?? (isTrusted ? fingerprint : null), signedContent: first ?? null }
}

/** What is looked up for a signed mail. */
export const signedQuery = (message: Inbound): SignedQuery | undefined => {
  const { signature, messageId } = message
  if (!signature) return undefined
  const isAlone = isSignedOnly(message)
  return {
    contents: signature.ids.flatMap((id) => [true, false].map((isTrusted) => fingerprintOf(id, isTrusted))),
    named: isAlone ? (signature.recipients ?? []) : [],
    messageId: isAlone && signature.covers.includes('message-id') ? messageId : null,
  }
}

const UNLESS_SPF =
  'anyone could send a copy, so that the mail must come from a server of its domain (SPF), with its author as MAIL FROM'

/** Returns why the mail may be a copy that its author did not send to this agent now, or null. */
const doubtOf = ({ signature }: Inbound, { named }: Target, now: Date): string | null => {
  const { signedAt, recipients } = signature!
  if (signedAt === null) return `the signature does not say when it was made: ${UNLESS_SPF}`
  const days = (now.getTime() - signedAt) / DAY_MS
  const date = new Date(signedAt).toISOString().slice(0, 10)
  if (days > MAX_SIGNATURE_AGE_DAYS)
    return `signed ${Math.floor(days)} days ago (${date}), more than ${MAX_SIGNATURE_AGE_DAYS}: ${UNLESS_SPF}`
  if (days < -1) return `signed in the future (${date}): ${UNLESS_SPF}`
  if (recipients === null) return `the signature does not cover To and Cc: ${UNLESS_SPF}`
  return named ? null : `To and Cc, which are signed, do not name this agent: ${UNLESS_SPF}`
}

/** Returns the message with what it proves to this agent. */
export const weighed = (message: Inbound, target: Target, now: Date): Inbound => {
  const doubt = isSignedOnly(message) ? doubtOf(message, target, now) : null
  if (doubt === null) return message
  const check = { name: 'replay', verdict: 'fail', detail: doubt }
  return { ...message, proven: false, checks: [...message.checks, check] }
}

/**
 * Whether the agent has this mail already. A copy counts against whoever sends it, not against its author.
 */
export const isRepeated = (
  { rates, log }: { rates: RateLimits; log: Logger },
  message: Inbound,
  { known, agentId }: Target,
): boolean => {
  if (!known) return false
  overRate(rates, agentId, { ...message, proven: false })
  log.info(
    { ...message.origin, sender: message.from.address, agentId },
    'incoming message ignored: the agent has received the same signed content before',
  )
  return true
}

const arriving = new Map<string, Promise<unknown>>()

/** Runs the work for copies of the same signed content one after another, so that each finds what was stored before. */
export const inTurn = async <Result>(
  { signature }: Inbound,
  work: () => Promise<Result>,
): Promise<Result> => {
  if (!signature) return work()
  const { ids } = signature
  const mine = Promise.allSettled(ids.map((id) => arriving.get(id))).then(work)
  for (const id of ids) arriving.set(id, mine)
  try {
    return await mine
  } finally {
    for (const id of ids) if (arriving.get(id) === mine) arriving.delete(id)
  }
}
