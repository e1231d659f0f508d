import { type AccessList, entriesFor, pinSender } from '../../agent/index.ts'
import type { Channels } from '../../channel/channel.ts'
import type { Inbound } from '../../core/channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { Db } from '../../db/client.ts'
import type { EventSender } from '../../event/index.ts'
import type { Target } from './target.ts'

/** What is known of a message's sender. */
export type Sender = Pick<Inbound, 'channel' | 'from' | 'proven' | 'automatic'>

type Within = Db & { channels: Channels }

const byAddress = ({ channel, from }: Sender, entries: readonly string[]) =>
  entriesFor(channel, from.address).some((entry) => entries.includes(entry))

/** Returns the entry that names the sender by username. */
const byUsername = ({ channels }: Within, sender: Sender, entries: readonly string[]) => {
  const { channel, from, proven, automatic } = sender
  const { username } = from
  if (!username || automatic !== null || !proven) return undefined
  return entries.find((entry) => channels[channel]?.names?.(entry, username))
}

const isOn = async (deps: Within, sender: Sender, target: Target, list: AccessList): Promise<boolean> => {
  if (byAddress(sender, target[list])) return true
  const { channel, from } = sender
  const entry = byUsername(deps, sender, target[list])
  return entry ? pinSender(deps, { agentId: target.agentId, channel, list, entry }, from.address) : false
}

/**
 * Returns on which of the channel's lists the sender is, by address or still by username, and whether a member has
 * listed them: what the agent has listed itself admits a sender, but does not let them instruct it.
 */
export const listsOf = async (deps: Within, sender: Sender, target: Target) => {
  const listed = await isOn(deps, sender, target, 'senders')
  const ofMembers = target.memberSenders
  return {
    listed,
    blocked: await isOn(deps, sender, target, 'blocked'),
    listedByMember:
      listed && (byAddress(sender, ofMembers) || byUsername(deps, sender, ofMembers) !== undefined),
  }
}

/**
 * Returns the sender to name in the event: a member or an agent only when the sender is verified, otherwise a
 * contact.
 */
export const senderOf = (
  { channel, from: { address, name }, proven }: Sender,
  target: Pick<Target, 'member' | 'teammate'> | null,
): EventSender => {
  const { contact: field } = CHANNELS[channel]
  const contact = { email: field === 'email' ? address : null, phone: field === 'phone' ? address : null }
  if (proven && target?.member)
    return { id: target.member.id, kind: 'member', name: target.member.name ?? name, ...contact }
  if (proven && target?.teammate)
    return { id: target.teammate.id, kind: 'agent', name: target.teammate.name, ...contact }
  return { id: null, kind: 'contact', name, ...contact }
}

/**
 * `"Ann Example" <ann@example.com>` without the quotes: for people to read, not to be parsed as an address
 * header.
 */
export const displayOf = ({ address, name }: Inbound['from']) => (name ? `${name} <${address}>` : address)
