import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Access } from '../db/generated/prisma/client.ts'
import type { Admit, Channel } from '../db/generated/prisma/enums.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { findAgent } from './reach.ts'

/** Whom a new agent's channels let in: by email and at its Message URL its creator, by SMS the team, by Telegram nobody yet. */
export const defaultAccess = (creatorEmail: string[], creatorId: string): { channel: Channel; admit: Admit; senders: string[] }[] => [
  { channel: 'email', admit: 'list', senders: creatorEmail },
  { channel: 'sms', admit: 'team', senders: [] },
  { channel: 'telegram', admit: 'list', senders: [] },
  { channel: 'url', admit: 'list', senders: [creatorId] },
]

export type AccessView = Pick<Access, 'admit' | 'senders'>
export type AccessByChannel = Record<Channel, AccessView>

const present = ({ admit, senders }: AccessView): AccessView => ({ admit, senders })

/** The access of every channel of an agent. */
export const readAccess = async (deps: Db, viewer: Viewer, agentId: string): Promise<AccessByChannel> => {
  await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.access.findMany({ where: { agentId } })
  return Object.fromEntries(rows.map((row) => [row.channel, present(row)])) as AccessByChannel
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** A star stands for every local part of one domain, and for nothing else. */
const EMAIL_ENTRY = /^(\*|[^\s@<>,;:"()[\]\\*]+)@([^\s@<>,;:"()[\]\\*.]+\.)*[^\s@<>,;:"()[\]\\*.]+$/

/** What an entry of each channel's list looks like once its case and spaces are gone. */
const ENTRY: Record<Channel, { form: RegExp; words: string }> = {
  email: { form: EMAIL_ENTRY, words: 'must be an email address, or *@domain for all of a domain' },
  sms: {
    form: /^(\+[1-9]\d{3,14}|\d{3,8}|[a-z0-9 ]{1,11})$/,
    words: 'must be a phone number as +15551234567, a short code or a sender name',
  },
  telegram: { form: /^(\d{1,19}|@?[a-z][a-z0-9_]{3,31})$/, words: 'must be a Telegram user id or @username' },
  url: { form: UUID, words: 'must be the id of an agent or a member' },
}
const MOST_SENDERS = 1000

const normalizeSenders = (channel: Channel, senders: readonly string[]): string[] => {
  if (senders.length > MOST_SENDERS) throw invalidInput('senders', `at most ${MOST_SENDERS} entries`)
  const { form, words } = ENTRY[channel]
  const entries = senders.map((sender, index) => {
    const entry = sender.trim().toLowerCase()
    if (entry.length > 320 || !form.test(entry)) throw invalidInput(`senders[${index}]`, words)
    return entry
  })
  return [...new Set(entries)]
}

/** Sets whom a channel lets in. `admit` left out stays as it is. Throws `invalid_input`, and `forbidden` where agents may not. */
export const setAccess = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  channel: Channel,
  input: { admit?: Admit | undefined; senders: readonly string[] },
): Promise<AccessView> => {
  const agent = await findAgent(deps, viewer, agentId)
  const { agentsMaySetAccess } = await deps.prisma.workspace.findUniqueOrThrow({ where: { id: agent.workspaceId } })
  if (viewer.kind === 'agent' && !agentsMaySetAccess) throw new AppError('forbidden', 'In this workspace only members set access.')
  if (channel === 'url' && input.admit === 'anyone') throw invalidInput('admit', 'the Message URL is never open to anyone')
  const senders = normalizeSenders(channel, input.senders)
  const row = await deps.prisma.access.update({
    where: { agentId_channel: { agentId, channel } },
    data: { senders, ...(input.admit ? { admit: input.admit } : {}) },
  })
  return present(row)
}

/**
 * Puts a sender's address in the place of the username by which a list named them: who has that name from now on is not meant. Returns
 * whether the list has the address.
 */
export const pinSender = async (
  { pool }: Db,
  { agentId, channel, entry, address }: { agentId: string; channel: Channel; entry: string; address: string },
): Promise<boolean> => {
  const values = [agentId, channel, entry, address]
  const { rowCount } = await pool.query(
    `update access set senders = case when $4 = any(senders) then array_remove(senders, $3) else array_replace(senders, $3, $4) end
      where agent_id = $1 and channel = $2 and $3 = any(senders)`,
    values,
  )
  if (rowCount === 1) return true
  // Another message of theirs was faster, or of somebody who had the name before them.
  const { rows } = await pool.query<{ listed: boolean }>(
    'select $3 = any(senders) as listed from access where agent_id = $1 and channel = $2',
    [agentId, channel, address],
  )
  return rows[0]?.listed ?? false
}
