import { WAYS_IN } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Access, Agent, Prisma } from '../../db/generated/prisma/client.ts'
import type { Admit, Channel } from '../../db/generated/prisma/enums.ts'
import { audit, type Viewer } from '../../workspace/index.ts'
import {
  type AccessView,
  addEntry,
  canonicalEntry,
  type ListedEntry,
  normalizeEntries,
  normalizeEntry,
  removeEntry,
} from './access-list.ts'
import { findAgent } from './permission.ts'
import { ensureUnsupervised } from './supervision.ts'

export type { AccessView }

/** Channels through which messages can reach an agent. */
const CHANNELS = Object.keys(WAYS_IN) as Channel[]

/** Returns the access settings of a new agent's channels. */
export const defaultAccess = (creator: {
  email: string[]
  id: string
}): { channel: Channel; admit: Admit; senders: string[] }[] => {
  const senders = { email: creator.email, id: [creator.id] }
  return CHANNELS.map((channel) => {
    const { admit, creator: by } = WAYS_IN[channel]
    return { channel, admit, senders: by === null ? [] : senders[by] }
  })
}

export interface AccessDeps extends Db {
  clock: Clock
}

export type AccessByChannel = Record<Channel, AccessView>

/** Returns the access settings of all channels of an agent. */
export const readAccess = async (deps: Db, viewer: Viewer, agentId: string): Promise<AccessByChannel> => {
  await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.access.findMany({ where: { agentId } })
  return Object.fromEntries(rows.map((row): [Channel, AccessView] => [row.channel, row])) as AccessByChannel
}

/** Throws `forbidden` when the viewer is an agent and the workspace's agents may not set access. */
export const ensureMaySetAccess = async ({ prisma }: Db, viewer: Viewer): Promise<void> => {
  if (viewer.kind === 'member') return
  const { agentsMaySetAccess } = await prisma.workspace.findUniqueOrThrow({
    where: { id: viewer.workspaceId },
  })
  if (!agentsMaySetAccess) throw new AppError('forbidden', 'In this workspace only members can set access.')
}

const findOwnAgent = async (deps: Db, viewer: Viewer, agentId: string): Promise<Agent> => {
  const agent = await findAgent(deps, viewer, agentId)
  await ensureMaySetAccess(deps, viewer)
  return agent
}

/** Maximum number of entries of each kind in an audit record. */
const MAX_RECORDED = 100

/** Returns what one version of a list has and the other has not; undefined if there is nothing. */
const missingFrom = (there: readonly string[], here: readonly string[]): string[] | undefined => {
  const known = new Set(there)
  const missing = here.filter((entry) => !known.has(entry))
  return missing.length > 0 ? missing.slice(0, MAX_RECORDED) : undefined
}

/** From the narrowest to the widest. */
const ADMITS: readonly Admit[] = ['list', 'team', 'anyone']

/** Whether more can reach the agent afterwards. */
const isWider = (before: AccessView, after: AccessView): boolean =>
  ADMITS.indexOf(after.admit) > ADMITS.indexOf(before.admit) ||
  missingFrom(before.senders, after.senders) !== undefined ||
  missingFrom(after.blocked, before.blocked) !== undefined

const WIDEN = 'widen who can reach it'

/**
 * Which of the senders are listed by members, once the viewer has set the list. What an agent has listed stays the agent's
 * when a member sends the whole list back with a change; a member vouches for it with `addSender`.
 */
const listedByMembers = ({ kind }: Viewer, { senders: known, memberSenders }: Access, senders: string[]) => {
  const [all, ofMembers] = [new Set(known), new Set(memberSenders)]
  return senders.filter((sender) => ofMembers.has(sender) || (kind === 'member' && !all.has(sender)))
}

const differenceOf = (before: AccessView, after: AccessView): Prisma.InputJsonObject => {
  const lists = (['senders', 'blocked'] as const).map((list) => {
    const added = missingFrom(before[list], after[list])
    const removed = missingFrom(after[list], before[list])
    return [list, { ...(added && { added }), ...(removed && { removed }) }] as const
  })
  return {
    ...(before.admit === after.admit ? {} : { admit: after.admit }),
    ...Object.fromEntries(lists.filter(([, changes]) => Object.keys(changes).length > 0)),
  }
}

interface AccessInput {
  channel: Channel
  admit?: Admit | undefined
  senders?: readonly string[] | undefined
  blocked?: readonly string[] | undefined
}

/**
 * Sets who can reach the agent on a channel. What is omitted stays unchanged. Throws
 * `invalid_input`, and `forbidden` when the viewer is an agent and agents may not set access, or it widens its
 * access although a member has to approve what it sends.
 */
export const setAccess = async (
  deps: AccessDeps,
  viewer: Viewer,
  agentId: string,
  { channel, admit, senders, blocked }: AccessInput,
): Promise<AccessView> => {
  await findOwnAgent(deps, viewer, agentId)
  if (channel === 'url' && admit === 'anyone')
    throw invalidInput('admit', 'must not be anyone for the Message URL')
  const data = {
    ...(senders ? { senders: normalizeEntries(channel, 'senders', senders) } : {}),
    ...(blocked ? { blocked: normalizeEntries(channel, 'blocked', blocked) } : {}),
    ...(admit ? { admit } : {}),
  }
  return deps.prisma.$transaction(async (prisma) => {
    const where = { agentId_channel: { agentId, channel } }
    await prisma.$queryRaw`
      select 1 from access where agent_id = ${agentId}::uuid and channel = ${channel}::"Channel" for update`
    const before = await prisma.access.findUniqueOrThrow({ where })
    if (isWider(before, { ...before, ...data })) await ensureUnsupervised({ prisma }, viewer, WIDEN)
    const memberSenders = data.senders && listedByMembers(viewer, before, data.senders)
    const after = await prisma.access.update({
      where,
      data: { ...data, ...(memberSenders && { memberSenders }) },
    })
    const detail = { channel, ...differenceOf(before, after) }
    await audit({ ...deps, prisma }, viewer, { action: 'access.set', agentId, detail })
    return after
  })
}

/** One entry of a list of a channel. */
type EntryInput = Omit<ListedEntry, 'entry'> & { sender: string }

/**
 * Adds one sender to a list of a channel; other entries, also those that others change at the same time, stay.
 * Throws `invalid_input`, also when the list is full, and `forbidden` like `setAccess`.
 */
export const addSender = async (
  deps: AccessDeps,
  viewer: Viewer,
  { sender, ...input }: EntryInput,
): Promise<AccessView> => {
  const { agentId, channel, list } = input
  await findOwnAgent(deps, viewer, agentId)
  if (list === 'senders') await ensureUnsupervised(deps, viewer, WIDEN)
  const entry = normalizeEntry(channel, sender, 'sender')
  return deps.prisma.$transaction(async (prisma) => {
    // The agent before its list, as where it is deleted: a row that is changed twice locks the agent.
    await prisma.$queryRaw`select 1 from agent where id = ${agentId}::uuid for key share`
    const detail = { channel, [list]: { added: [entry] } }
    if (await addEntry(prisma, viewer, { ...input, entry }))
      await audit({ ...deps, prisma }, viewer, { action: 'access.set', agentId, detail })
    return prisma.access.findUniqueOrThrow({ where: { agentId_channel: { agentId, channel } } })
  })
}

/** Removes one sender from a list of a channel. Throws `not_found`, and `forbidden` like `setAccess`. */
export const removeSender = async (
  deps: AccessDeps,
  viewer: Viewer,
  { sender, ...input }: EntryInput,
): Promise<AccessView> => {
  const { agentId, channel, list } = input
  await findOwnAgent(deps, viewer, agentId)
  if (list === 'blocked') await ensureUnsupervised(deps, viewer, WIDEN)
  const entry = canonicalEntry(channel, sender)
  return deps.prisma.$transaction(async (prisma) => {
    const detail = { channel, [list]: { removed: [entry] } }
    await removeEntry(prisma, { ...input, entry })
    await audit({ ...deps, prisma }, viewer, { action: 'access.set', agentId, detail })
    return prisma.access.findUniqueOrThrow({ where: { agentId_channel: { agentId, channel } } })
  })
}
