import type { Check } from '../../core/channel/inbound.ts'
import type { UnsubscribeWay } from '../../core/channel/unsubscribe.ts'
import type { ChannelKind } from '../../core/channels.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import {
  audit,
  callExternally,
  type ExternalCallDeps,
  nameOf,
  noteChange,
  type Viewer,
} from '../../workspace/index.ts'
import type { MessageRef } from '../approval/approval.ts'
import { readMessage, readRaw } from '../reading/read.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { lockMessage } from '../stored/status.ts'
import { type SendDeps, sendMessage } from './send.ts'

export interface UnsubscribeDeps extends SendDeps, ExternalCallDeps {
  log: Logger
  /** Posts a form to a URL that a stranger named, and resolves with the status of the response. */
  postForm(url: string, body: string): Promise<number>
}

const CHECK = 'unsubscribe'
const checksOf = ({ checks }: Pick<MessageWithFiles, 'checks'>): Check[] => checks as unknown as Check[]

const isWay = (verdict: string | undefined): verdict is UnsubscribeWay['kind'] =>
  verdict === 'one_click' || verdict === 'mail'

/** Returns how to unsubscribe, as the original says in fields that its signature covers. Throws `conflict`. */
const wayOf = async (
  deps: UnsubscribeDeps,
  viewer: Viewer,
  message: MessageWithFiles,
): Promise<UnsubscribeWay> => {
  const verdict = checksOf(message).find(({ name }) => name === CHECK)?.verdict
  const { unsubscribeWay } = deps.channels[message.channel as ChannelKind] ?? {}
  if (!isWay(verdict) || !unsubscribeWay)
    throw new AppError(
      'conflict',
      'This message does not say, in a way that its signature covers, how to unsubscribe.',
    )
  const raw = await readRaw(deps, viewer, message.agentId, message.id)
  const way = unsubscribeWay(raw, verdict, message.counterpart)
  if (!way) throw new AppError('conflict', 'The original of this message does not say how to unsubscribe.')
  return way
}

/**
 * Throws `conflict` for an address of the service, or of a member: the words of a stranger would reach a person or an
 * agent as a teammate's.
 */
const ensureOutside = async (
  { prisma, mailDomain }: UnsubscribeDeps,
  { workspaceId }: MessageWithFiles,
  to: string,
): Promise<void> => {
  const domain = to.slice(to.lastIndexOf('@') + 1).toLowerCase()
  const email = { equals: to, mode: 'insensitive' } as const
  const known = await Promise.all([
    prisma.domain.count({ where: { name: domain, OR: [{ workspaceId }, { state: { not: 'pending' } }] } }),
    prisma.member.count({ where: { workspaceId, email } }),
    prisma.memberIdentity.count({ where: { channel: 'email', value: email, member: { workspaceId } } }),
  ])
  if (domain !== mailDomain && known.every((count) => count === 0)) return
  throw new AppError(
    'conflict',
    `Nobody unsubscribes at ${to}: it is an address of this service or of a member.`,
  )
}

/** Posts what RFC 8058 3.2 says. Throws `unavailable` when the sender's server does not accept it. */
const post = async (deps: UnsubscribeDeps, viewer: Viewer, url: string): Promise<void> => {
  const status = await callExternally(deps, viewer, () =>
    deps.postForm(url, 'List-Unsubscribe=One-Click'),
  ).catch((error: unknown) => {
    if (error instanceof AppError) throw error
    deps.log.info({ error: messageOf(error) }, 'could not unsubscribe')
    throw new AppError('unavailable', "The sender's server could not be reached.", { cause: error })
  })
  if (status < 200 || status > 299)
    throw new AppError('unavailable', `The sender's server answered ${status}, not that it unsubscribed you.`)
}

/** Writes down that it was requested, in place of the check that says that it can be. */
const note = async (deps: UnsubscribeDeps, viewer: Viewer, message: MessageWithFiles): Promise<void> => {
  const { id, agentId, workspaceId } = message
  const requested = { name: CHECK, verdict: 'requested', detail: `requested by ${nameOf(viewer)}` }
  await deps.prisma.$transaction(async (tx) => {
    await lockMessage(tx, { id, agentId })
    const where = { id_agentId: { id, agentId } }
    const now = await tx.message.findUnique({ where, select: { checks: true } })
    if (!now) return
    const checks = checksOf(now).map((check) => (check.name === CHECK ? requested : { ...check }))
    await tx.message.update({ where, data: { checks } })
    await noteChange(tx, { workspaceId, kind: 'message_changed', agentId, ids: [id] })
    const detail = { message: id }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'message.unsubscribe', agentId, detail })
  })
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${id}`))
}

/**
 * Unsubscribes the agent's address from what a received email belongs to: by a POST (RFC 8058), or by a mail
 * from the address at which it arrived, which may wait for approval as any other. Only in ways that the
 * sender's signature covers. Nothing happens a second time. Throws `conflict` when the email offers none, and
 * `unavailable` when the sender's server does not accept it.
 */
export const unsubscribe = async (
  deps: UnsubscribeDeps,
  viewer: Viewer,
  { agentId, messageId }: MessageRef,
): Promise<MessageWithFiles> => {
  const message = await readMessage(deps, viewer, agentId, messageId)
  if (checksOf(message).some(({ name, verdict }) => name === CHECK && verdict === 'requested')) return message
  const way = await wayOf(deps, viewer, message)
  if (way.kind === 'one_click') await post(deps, viewer, way.url)
  else {
    const { to, subject, text } = way
    await ensureOutside(deps, message, to)
    await sendMessage(deps, viewer, agentId, { replyTo: messageId, to: [to], subject, text })
  }
  await note(deps, viewer, message)
  return readMessage(deps, viewer, agentId, messageId)
}
