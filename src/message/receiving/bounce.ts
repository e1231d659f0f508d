import { isDeleted, suppress } from '../../agent/index.ts'
import type { BouncedRecipient, BounceReport } from '../../core/channel/inbound.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import type { Db } from '../../db/client.ts'
import type { Message, Prisma, Recipient } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import type { Feed, LoggedEvent } from '../../event/index.ts'
import { BOUNCED, changeUsage, ensureNotMoving, noteChange, REPORTED } from '../../workspace/index.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import { COMPLAINED, concludeMessage, lockMessage, logOutcome } from '../stored/status.ts'

export interface ApplyBounceDeps extends Db {
  clock: Clock
  log: Logger
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
  metrics?: Metrics
}

type Sent = Pick<Message, 'id' | 'agentId' | 'workspaceId' | 'channel' | 'to' | 'cc' | 'bcc'>

/**
 * Returns the recipient that the report applies to, or null when that cannot be determined. The return path
 * decides, not the address in the report, which differs behind an alias. A return path that all recipients of
 * a message share is accepted only if there was just one: any of them could have forged a report about the
 * others.
 */
const findRecipient = async (
  tx: Prisma.TransactionClient,
  { id, agentId, to, cc, bcc }: Sent,
  { recipient }: BounceReport,
): Promise<Recipient | null> => {
  const sentTo = await tx.recipient.findMany({ where: { messageId: id, agentId } })
  if (recipient === null) return sentTo.length === 1 ? sentTo[0]! : null
  const named = [...to, ...cc, ...bcc][recipient]
  return sentTo.find(({ address }) => address === named) ?? null
}

/**
 * Returns what the report says about the recipient: the entries with their address or, when there are none,
 * all entries. A mailbox counts as missing only if all of them say so: an alias exists even if one of the
 * addresses behind it does not.
 */
const detailOf = (
  address: string,
  { kind, recipients, detail }: BounceReport,
): Omit<BouncedRecipient, 'address'> => {
  const named = recipients.filter((one) => one.address === lowerCase(address))
  const entries = named.length > 0 ? named : recipients
  return {
    detail: entries[0]?.detail ?? detail,
    permanent: kind === 'complaint' || (entries.length > 0 && entries.every(({ permanent }) => permanent)),
  }
}

const fail = async (
  tx: Prisma.TransactionClient,
  message: Sent,
  { address, detail, now }: { address: string; detail: string; now: Date },
): Promise<LoggedEvent[]> => {
  await tx.recipient.updateMany({
    where: { messageId: message.id, agentId: message.agentId, address },
    data: { status: 'failed', detail },
  })
  return concludeMessage(tx, message, now)
}

/** Notes who complained. The message counts as reported once everyone who got it has done so. */
const report = async (
  tx: Prisma.TransactionClient,
  { id, agentId, workspaceId }: Sent,
  { address, detail, now }: { address: string; detail: string; now: Date },
): Promise<LoggedEvent[]> => {
  const ofMessage = { messageId: id, agentId }
  const data = { detail: COMPLAINED + detail }
  await tx.recipient.updateMany({ where: { ...ofMessage, address }, data })
  const content = { OR: [{ detail: null }, { NOT: { detail: { startsWith: COMPLAINED } } }] }
  const others = { ...ofMessage, address: { not: address }, status: { not: 'failed' }, ...content } as const
  if ((await tx.recipient.count({ where: others })) > 0) {
    await noteChange(tx, { workspaceId, kind: 'message_changed', agentId, ids: [id] })
    return []
  }
  const { count } = await tx.message.updateMany({
    where: { id, agentId, status: { in: ['sending', 'sent', 'failed'] } },
    data: { status: 'reported', error: null },
  })
  return count > 0 ? logOutcome(tx, { id, agentId }, now) : []
}

/** Counts a recipient, once: reports may arrive twice. */
const countForDay = (
  tx: Prisma.TransactionClient,
  { agentId, workspaceId }: Sent,
  { kind, now }: { kind: BounceReport['kind']; now: Date },
): Promise<void> =>
  changeUsage(tx, {
    agentId,
    workspaceId,
    day: now,
    metric: kind === 'complaint' ? REPORTED : BOUNCED,
    count: 1,
  })

/** Applies the report. Returns the events that it raised, or null if the report does not apply. */
const apply = async (
  tx: Prisma.TransactionClient,
  deps: ApplyBounceDeps,
  message: Sent,
  returned: BounceReport,
): Promise<LoggedEvent[] | null> => {
  await lockMessage(tx, message)
  const known = await findRecipient(tx, message, returned)
  if (known === null) return null
  const { address } = known
  const { detail, permanent } = detailOf(address, returned)
  const now = deps.clock.now()
  const isNew =
    returned.kind === 'complaint' ? !known.detail?.startsWith(COMPLAINED) : known.status !== 'failed'
  if (isNew) await countForDay(tx, message, { kind: returned.kind, now })
  const events =
    returned.kind === 'complaint'
      ? await report(tx, message, { address, detail, now })
      : await fail(tx, message, { address, detail, now })
  if (permanent) await suppress(tx, message, [{ address, detail }], { reason: returned.kind, createdAt: now })
  return events
}

/**
 * Processes a bounce or complaint from one recipient of a message. A bounce marks the message `failed` with
 * the remote server's text; complaints of all who got it mark it `reported`. A recipient who cannot be reached, or has
 * complained, is put on the agent's suppression list. Idempotent. Resolves once it is committed. Throws
 * `unavailable` while its workspace moves.
 */
export const applyBounce = async (deps: ApplyBounceDeps, returned: BounceReport): Promise<void> => {
  const message = await deps.prisma.message.findFirst({
    where: { id: returned.messageId, direction: 'outbound' },
    select: {
      ...{ id: true, agentId: true, workspaceId: true, channel: true },
      to: true,
      cc: true,
      bcc: true,
    },
  })
  const { messageId, kind } = returned
  if (!message || (await isDeleted(deps, message.agentId)))
    return deps.log.info({ messageId, kind }, 'bounce or complaint ignored: the message no longer exists')
  await ensureNotMoving(deps, message.workspaceId)
  const events = await deps.prisma.$transaction((tx) => apply(tx, deps, message, returned))
  if (!events)
    return deps.log.warn(
      { messageId, kind },
      'bounce or complaint ignored: the recipient could not be determined',
    )
  deps.metrics?.count('sends', kind === 'bounce' ? 'bounced' : 'reported')
  deps.afterCommit(() => deps.feed.committed(events))
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${message.id}`))
  deps.log.info({ messageId, agentId: message.agentId, kind }, 'outgoing message bounced or reported as spam')
}
