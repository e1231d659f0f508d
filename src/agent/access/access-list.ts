import { domainOf, normalizeGiven } from '../../core/address/email-address.ts'
import { WAYS_IN } from '../../core/channels.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import type { Db } from '../../db/client.ts'
import type { Access, Prisma } from '../../db/generated/prisma/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'
import { within } from '../../db/transaction.ts'
import type { Viewer } from '../../workspace/index.ts'

/** The two lists of a channel's access: the senders that it admits, and those that it refuses in any case. */
export type AccessList = 'senders' | 'blocked'

export type AccessView = Pick<Access, 'admit' | 'senders' | 'blocked'>

/** Entries of each access list. @limit Agents */
const MAX_ENTRIES = 1000

const tooMany = (field: string) => invalidInput(field, `must have at most ${MAX_ENTRIES} entries`)

/** The form in which entries are stored: that of addresses. */
export const canonicalEntry = (channel: Channel, given: string): string =>
  channel === 'email' ? normalizeGiven(given) : lowerCase(given.trim())

/** Prefix of an entry for all addresses of a domain, without its subdomains. */
const ANYBODY = '*@'

export const isDomain = (entry: string): boolean => entry.startsWith(ANYBODY)

/** Returns the entries that stand for a normalized address. */
export const entriesFor = (channel: Channel, address: string): string[] => {
  const own = lowerCase(address)
  return channel === 'email' ? [own, ANYBODY + domainOf(own)] : [own]
}

/** The same in SQL, of an address in lower case: an expression for an array. */
export const entriesForSql = (channel: string, address: string): string =>
  `array[${address}, case when ${channel} = 'email' then '${ANYBODY}' || split_part(${address}, '@', 2) end]`

/** Returns the entry as lists contain it. Throws `invalid_input` naming the field. */
export const normalizeEntry = (channel: Channel, given: string, field: string): string => {
  const { form, words } = WAYS_IN[channel].entry
  const entry = canonicalEntry(channel, given)
  if (entry.length > 320 || !form.test(entry)) throw invalidInput(field, words)
  return entry
}

/** Returns a whole list, without duplicates. Throws `invalid_input` naming the field. */
export const normalizeEntries = (channel: Channel, list: AccessList, given: readonly string[]): string[] => {
  if (given.length > MAX_ENTRIES) throw tooMany(list)
  return [...new Set(given.map((entry, index) => normalizeEntry(channel, entry, `${list}[${index}]`)))]
}

/**
 * The assignment, in an update of a list, that keeps `member_senders` part of `senders`, by an expression for the list
 * that is given as SQL.
 */
const alsoOfMembers = (list: AccessList, changed: (column: string) => string): string =>
  list === 'senders' ? `, member_senders = ${changed('member_senders')}` : ''

/** One entry of a list of an agent's channel. */
export interface ListedEntry {
  agentId: string
  channel: Channel
  list: AccessList
  entry: string
}

/** Records that a member lists a sender. */
const VOUCH = `
  update access set member_senders = array_append(member_senders, $3)
   where agent_id = $1::uuid and channel = $2::"Channel" and $3 = any(senders) and not ($3 = any(member_senders))`

/**
 * Adds a (normalized) entry to a list for a member or an agent, whatever others change at the same time. Returns
 * whether the list did not contain it. Throws `invalid_input` when the list is full.
 */
export const addEntry = async (
  tx: Prisma.TransactionClient,
  { kind }: Pick<Viewer, 'kind'>,
  { agentId, channel, list, entry }: ListedEntry,
): Promise<boolean> => {
  const { rows } = await within(tx).pool.query<{ full: boolean; known: boolean }>(
    `with found as (
       select ${list} as entries from access where agent_id = $1::uuid and channel = $2::"Channel" for update
     ),
     changed as (
       update access set ${list} = array_append(found.entries, $3) from found
        where agent_id = $1::uuid and channel = $2::"Channel" and not ($3 = any(entries)) and cardinality(entries) < $4
     )
     select $3 = any(entries) as known, cardinality(entries) >= $4 as full from found`,
    [agentId, channel, entry, MAX_ENTRIES],
  )
  const { known = false, full = false } = rows[0] ?? {}
  if (full && !known) throw tooMany(list)
  if (list === 'senders' && kind === 'member') await within(tx).pool.query(VOUCH, [agentId, channel, entry])
  return !known
}

const NOT_LISTED: Record<AccessList, string> = {
  senders: 'This sender is not on the list.',
  blocked: 'This sender is not blocked.',
}

/** Removes a (normalized) entry from a list, whatever others change at the same time. Throws `not_found`. */
export const removeEntry = async (
  tx: Prisma.TransactionClient,
  { agentId, channel, list, entry }: ListedEntry,
): Promise<void> => {
  const { rows } = await within(tx).pool.query(
    `update access set ${list} = array_remove(${list}, $3)${alsoOfMembers(list, (column) => `array_remove(${column}, $3)`)}
      where agent_id = $1::uuid and channel = $2::"Channel" and $3 = any(${list}) returning agent_id`,
    [agentId, channel, entry],
  )
  if (rows.length === 0) throw new AppError('not_found', NOT_LISTED[list])
}

const pinned = (column: string): string =>
  `case when $4 = any(${column}) then array_remove(${column}, $3) else array_replace(${column}, $3, $4) end`

/**
 * Replaces a username on a list with the address of its current owner, so that it does not stand for a later
 * owner of the username. Returns whether the list then contains the address.
 */
export const pinSender = async (
  { pool }: Db,
  { agentId, channel, list, entry }: ListedEntry,
  address: string,
): Promise<boolean> => {
  const values = [agentId, channel, entry, address]
  const { rows: replaced } = await pool.query(
    `update access set ${list} = ${pinned(list)}${alsoOfMembers(list, pinned)}
      where agent_id = $1 and channel = $2 and $3 = any(${list}) returning agent_id`,
    values,
  )
  if (replaced.length > 0) return true
  // Another message already replaced the username, from this sender or from its previous owner.
  const { rows } = await pool.query<{ listed: boolean }>(
    `select $3 = any(${list}) as listed from access where agent_id = $1 and channel = $2`,
    [agentId, channel, address],
  )
  return rows[0]?.listed ?? false
}
