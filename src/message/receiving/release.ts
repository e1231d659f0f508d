import { admit } from '../../admission/index.ts'
import {
  addEntry,
  ensureMaySetAccess,
  ensureUnsupervised,
  findAgent,
  isDomain,
  normalizeEntry,
} from '../../agent/index.ts'
import type { Channels } from '../../channel/channel.ts'
import type { ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import { ensureScope } from '../../core/scopes.ts'
import type { Db } from '../../db/client.ts'
import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { within } from '../../db/transaction.ts'
import type { Feed, LoggedEvent } from '../../event/index.ts'
import { audit, ensureRoomToStore, type Viewer } from '../../workspace/index.ts'
import { readFresh } from '../reading/read.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { instructorOf, mayInstruct } from './instructor.ts'
import { displayOf, listsOf, type Sender, senderOf } from './sender.ts'
import { type Refused, type Released, storeReleased } from './store-released.ts'
import { findTargets } from './target.ts'

export interface ReleaseDeps extends Db {
  clock: Clock
  channels: Channels
  feed: Pick<Feed, 'committed'>
  notifier: Pick<Notifier, 'publish'>
}

export interface ReleaseOptions {
  /** Adds the senders to the lists of their channels too. */
  listSender?: boolean | undefined
}

const whoIs = ({ kind, name, email, id }: Viewer): string =>
  `the ${kind} ${name && email ? `${name} <${email}>` : (name ?? email ?? id)}`

/** Returns who the sender is now, as if the message arrived at this moment. */
const reconsider = async (
  deps: ReleaseDeps,
  viewer: Viewer,
  message: Refused,
  { listSender = false }: ReleaseOptions,
): Promise<Released> => {
  const { agentId, addressId, counterpart: address, counterpartName: name, refusal } = message
  const channel = message.channel as ChannelKind
  const sender: Sender = {
    channel,
    from: { address, name },
    proven: message.proven ?? false,
    automatic: null,
  }
  const own = await deps.prisma.address.findFirst({ where: { id: addressId, agentId } })
  const asked = { ...sender, messageId: null, inReplyTo: null, references: [] }
  const addressed = own && { ...asked, recipients: [own.value] }
  const [[target = null] = []] = addressed
    ? await findTargets(deps, [{ message: addressed, chat: false }])
    : []
  const lists = target && (await listsOf(deps, sender, target))
  const { admission } = admit({
    self: null,
    spam: null,
    team: target !== null && (target.member !== null || target.teammate !== null),
    listed: listSender || (lists?.listed ?? false),
    blocked: lists?.blocked ?? false,
    proven: sender.proven,
    admit: target?.admit ?? 'list',
    full: false,
    overRate: () => null,
  })
  const detail = `released by ${whoIs(viewer)}; it was refused as ${refusal}`
  const listedByMember = (listSender && viewer.kind === 'member') || (lists?.listedByMember ?? false)
  const admitted = admission !== null
  const instructor = instructorOf({ admitted, proven: sender.proven, listedByMember }, target)
  return {
    message,
    instructor,
    mayInstruct: target !== null && mayInstruct(instructor, target),
    admission: admission ?? 'anyone',
    sender: senderOf(sender, target),
    from: displayOf(sender.from),
    check: { name: 'release', verdict: admission ?? 'anyone', detail },
  }
}

/** Adds the senders to the lists of their channels. Throws `invalid_input` for one that no list can contain. */
const listSenders = async (
  deps: { prisma: Prisma.TransactionClient; clock: Clock },
  viewer: Viewer,
  released: readonly Released[],
): Promise<void> => {
  for (const { message } of released) {
    const { agentId, channel, counterpart } = message
    const entry = normalizeEntry(channel, counterpart, 'listSender')
    if (isDomain(entry))
      throw invalidInput('listSender', 'cannot list this sender, whose address would stand for a domain')
    if (await addEntry(deps.prisma, viewer, { agentId, channel, list: 'senders', entry }))
      await audit(deps, viewer, {
        action: 'access.set',
        agentId,
        detail: { channel, senders: { added: [entry] } },
      })
  }
}

/** How long the transaction may take, in milliseconds, with its wait for other changes of the agent's log. */
const TRANSACTION = { timeout: 15_000, maxWait: 5_000 }

/**
 * Commits everything together. The agent's log is locked first, as a deletion of the agent does, so that the two
 * cannot deadlock, and so that of two concurrent releases of a message the second finds it received.
 */
const commit = (
  deps: ReleaseDeps,
  viewer: Viewer,
  { agentId, released, listSender }: { agentId: string; released: readonly Released[] } & ReleaseOptions,
): Promise<LoggedEvent[]> =>
  deps.prisma.$transaction(async (prisma) => {
    await ensureRoomToStore(prisma, deps.clock, viewer.workspaceId, released.length)
    await prisma.$queryRaw`select 1 from event_log where agent_id = ${agentId}::uuid for update`
    if (listSender) await listSenders({ ...deps, prisma }, viewer, released)
    const events = await storeReleased(within(prisma), agentId, released, deps.clock.now())
    const messages = events.map(({ messageId }) => messageId)
    if (messages.length > 0)
      await audit({ ...deps, prisma }, viewer, { action: 'message.release', agentId, detail: { messages } })
    return events
  }, TRANSACTION)

/** Releases those of the messages that are refused. `missing` is thrown for the index of an unknown id. */
const release = async (
  deps: ReleaseDeps,
  viewer: Viewer,
  { agentId, ids, listSender }: { agentId: string; ids: readonly string[] } & ReleaseOptions,
  missing: (index: number) => AppError,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  await ensureMaySetAccess(deps, viewer)
  if (listSender) ensureScope(viewer, 'settings')
  await ensureUnsupervised(deps, viewer, 'let in messages that were refused')
  const found = await deps.prisma.message.findMany({
    where: { agentId, id: { in: [...ids] } },
    orderBy: { createdAt: 'asc' },
  })
  const byId = new Map(found.map((message) => [message.id, message]))
  for (const [index, id] of ids.entries()) {
    const message = byId.get(id)
    if (!message) throw missing(index)
    if (message.status !== 'refused' && message.status !== 'received')
      throw new AppError('conflict', `The message ${id} was not refused.`)
  }
  const refused = found.filter(({ status }) => status === 'refused')
  if (refused.length === 0) return
  const released: Released[] = []
  for (const message of refused) released.push(await reconsider(deps, viewer, message, { listSender }))
  const events = await commit(deps, viewer, { agentId, released, listSender })
  deps.afterCommit(() => deps.feed.committed(events))
  for (const { messageId } of events)
    deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${messageId}`))
}

/**
 * Lets a refused message in: it becomes `received` and raises its event. A message that is received already is
 * returned as it is. Agents may release messages if they may widen their access, because both decide who can reach them.
 * Throws `not_found`, `forbidden`, `plan_limit`, and `conflict` for a message that was not refused.
 */
export const releaseMessage = async (
  deps: ReleaseDeps,
  viewer: Viewer,
  { agentId, messageId }: { agentId: string; messageId: string },
  options: ReleaseOptions,
): Promise<MessageWithFiles> => {
  await release(deps, viewer, { agentId, ids: [messageId], ...options }, () => notFound('message'))
  return readFresh(deps, agentId, messageId)
}

/** A message after its release. */
export type ReleasedMessage = Pick<Message, 'id' | 'status' | 'admission'>

/**
 * Releases up to 100 messages, oldest first: all of them or, when it throws, none. Returns them in the order of
 * the ids.
 */
export const releaseMessages = async (
  deps: ReleaseDeps,
  viewer: Viewer,
  agentId: string,
  { ids, ...options }: { ids: readonly string[] } & ReleaseOptions,
): Promise<ReleasedMessage[]> => {
  await release(deps, viewer, { agentId, ids, ...options }, (index) =>
    invalidInput(`ids[${index}]`, 'is not a message of this agent'),
  )
  const found = await deps.prisma.message.findMany({
    where: { agentId, id: { in: [...ids] } },
    select: { id: true, status: true, admission: true },
  })
  const byId = new Map(found.map((message) => [message.id, message]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
