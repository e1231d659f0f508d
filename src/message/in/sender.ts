import { type AccessList, pinSender } from '../../agent/access-list.ts'
import type { Channels } from '../../channel/channel.ts'
import type { Inbound } from '../../channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { Db } from '../../db/client.ts'
import type { EventSender } from '../../event/event.ts'
import type { Target } from './target.ts'

/** What is known of a message's sender. */
export type Sender = Pick<Inbound, 'channel' | 'from' | 'proven' | 'automatic'>

/** Returns whether the sender is on the channel's list, by address or still by username. */
export const isOn = async (
  deps: Db & { channels: Channels },
  { channel: kind, from, proven, automatic }: Sender,
  target: Target,
  list: AccessList,
): Promise<boolean> => {
  const { address, username } = from
  const channel = deps.channels[kind]
  if (target[list].some((entry) => channel?.matches(entry, address))) return true
  const entry =
    username && automatic === null && proven && target[list].find((each) => channel?.names?.(each, username))
  return entry ? pinSender(deps, { agentId: target.agentId, channel: kind, list, entry }, address) : false
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
