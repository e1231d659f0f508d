import { WAYS_IN } from '../core/channels.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Access } from '../db/generated/prisma/client.ts'
import type { Admit, Channel } from '../db/generated/prisma/enums.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { findAgent } from './permission.ts'

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

export type AccessView = Pick<Access, 'admit' | 'senders'>
export type AccessByChannel = Record<Channel, AccessView>

const present = ({ admit, senders }: AccessView): AccessView => ({ admit, senders })

/** Returns the access settings of all channels of an agent. */
export const readAccess = async (deps: Db, viewer: Viewer, agentId: string): Promise<AccessByChannel> => {
  await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.access.findMany({ where: { agentId } })
  return Object.fromEntries(rows.map((row) => [row.channel, present(row)])) as AccessByChannel
}

const MAX_SENDERS = 1000

const normalizeSenders = (channel: Channel, senders: readonly string[]): string[] => {
  if (senders.length > MAX_SENDERS) throw invalidInput('senders', `must have at most ${MAX_SENDERS} entries`)
  const { form, words } = WAYS_IN[channel].entry
  const entries = senders.map((sender, index) => {
    const entry = sender.trim().toLowerCase()
    if (entry.length > 320 || !form.test(entry)) throw invalidInput(`senders[${index}]`, words)
    return entry
  })
  return [...new Set(entries)]
}

/**
 * Sets who can reach the agent on a channel. An omitted `admit` stays unchanged. Throws `invalid_input`, and
 * `forbidden` when the viewer is an agent and agents may not set access.
 */
export const setAccess = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  input: { channel: Channel; admit?: Admit | undefined; senders: readonly string[] },
): Promise<AccessView> => {
  const { channel } = input
  const agent = await findAgent(deps, viewer, agentId)
  const { agentsMaySetAccess } = await deps.prisma.workspace.findUniqueOrThrow({
    where: { id: agent.workspaceId },
  })
  if (viewer.kind === 'agent' && !agentsMaySetAccess)
    throw new AppError('forbidden', 'In this workspace only members can set access.')
  if (channel === 'url' && input.admit === 'anyone')
    throw invalidInput('admit', 'must not be anyone for the Message URL')
  const senders = normalizeSenders(channel, input.senders)
  const row = await deps.prisma.access.update({
    where: { agentId_channel: { agentId, channel } },
    data: { senders, ...(input.admit ? { admit: input.admit } : {}) },
  })
  return present(row)
}

/**
 * Replaces a username on an access list with the address of its current owner, so that a later owner of the
 * username is not admitted. Returns whether the list then contains the address.
 */
export const pinSender = async (
  { pool }: Db,
  { agentId, channel, entry, address }: { agentId: string; channel: Channel; entry: string; address: string },
): Promise<boolean> => {
  const values = [agentId, channel, entry, address]
  const { rows: pinned } = await pool.query(
    `update access set senders = case when $4 = any(senders) then array_remove(senders, $3) else array_replace(senders, $3, $4) end
      where agent_id = $1 and channel = $2 and $3 = any(senders) returning agent_id`,
    values,
  )
  if (pinned.length > 0) return true
  // Another message already replaced the username, from this sender or from its previous owner.
  const { rows } = await pool.query<{ listed: boolean }>(
    'select $3 = any(senders) as listed from access where agent_id = $1 and channel = $2',
    [agentId, channel, address],
  )
  return rows[0]?.listed ?? false
}
