import { findOptOuts, findSuppressed, noteKeyword } from '../../agent/index.ts'
import type { Outbound, Rejection } from '../../core/channel/outbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import type { Db } from '../../db/client.ts'
import type { Suppression } from '../../db/generated/prisma/client.ts'
import type { OutgoingMessage } from './claim-sends.ts'

type Sent = Pick<OutgoingMessage, 'agentId' | 'channel' | 'hasSuppressions'>

/**
 * Splits the remaining recipients into those who may be written to and those who may not, with the reason for
 * each. No call to a provider is needed.
 */
export const filterSuppressed = async (deps: Db & { clock: Clock }, message: Sent, out: Outbound) => {
  const closed = [...(await stopped(deps, message, out)), ...(await suppressed(deps, message, out))]
  const barred = new Set(closed.map(({ recipient }) => recipient))
  return { open: out.envelopeTo.filter((recipient) => !barred.has(recipient)), closed }
}

/** Recipients who texted STOP. */
const stopped = async (deps: Db, { channel }: Sent, { from, envelopeTo }: Outbound): Promise<Rejection[]> => {
  if (!CHANNELS[channel].optOut) return []
  const found = await findOptOuts(deps, from.address, envelopeTo)
  return [...found].map((recipient) => ({
    recipient,
    reason: optedOut(recipient, from.address),
    permanent: true,
  }))
}

const optedOut = (theirs: string, ours: string) =>
  `${theirs} has opted out of messages from ${ours} (STOP), and can opt in again by texting START to it`

/** Returns a sentence about each of these recipients who has opted out of messages from `ours`. */
export const optedOutOf = async (deps: Db, ours: string, recipients: readonly string[]): Promise<string[]> =>
  [...(await findOptOuts(deps, ours, recipients))].map((theirs) => optedOut(theirs, ours))

/** Recipients whose mail bounced permanently, or who reported it as spam. */
const suppressed = async (deps: Db, message: Sent, { envelopeTo }: Outbound): Promise<Rejection[]> => {
  if (!message.hasSuppressions) return []
  const spelled = new Map(envelopeTo.map((recipient) => [lowerCase(recipient), recipient]))
  const found = await findSuppressed(deps, message, [...spelled.keys()])
  return found.map((entry) => ({
    recipient: spelled.get(entry.recipient)!,
    reason: wordsOf(entry),
    permanent: true,
  }))
}

const wordsOf = ({ reason, detail, createdAt }: Suppression): string => {
  const since = `${reason === 'bounce' ? 'it bounced' : 'they complained'} on ${createdAt.toISOString().slice(0, 10)}`
  return `not sent: the recipient has been on the agent's suppression list since ${since} (${detail})`
}

/** Saves opt-outs that the provider knows of but that never reached this service. */
export const rememberOptOuts = async (
  deps: Db & { clock: Clock },
  { from }: Outbound,
  rejected: readonly Rejection[],
): Promise<void> => {
  for (const { recipient, optedOut } of rejected)
    if (optedOut)
      await noteKeyword(deps, { ours: from.address, theirs: recipient, means: 'stop', word: 'STOP' })
}
