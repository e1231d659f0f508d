import type { Inbound, Sink } from '../../core/channel/inbound.ts'

interface RoleAddressOptions {
  mailDomain: string
  postmaster?: (message: Inbound) => Promise<void>
}

/**
 * Addresses that every mail server must accept (RFC 5321 4.5.1, RFC 2142 4): postmasters of other systems use
 * them to report problems.
 */
const ROLE_ADDRESSES = ['postmaster', 'abuse']

/** Whether a normalized address is a role address on the service's own domain. */
export const isRoleAddress = (address: string, mailDomain: string): boolean =>
  ROLE_ADDRESSES.some((name) => address === `${name}@${mailDomain.toLowerCase()}`)

/**
 * Extends the sink with the postmaster of the service's own domain, who also receives mail to abuse. An agent
 * with such an address takes precedence.
 */
export function withPostmaster(
  sink: Sink,
  { mailDomain, postmaster }: RoleAddressOptions,
): Pick<Sink, 'accepts' | 'inbound'> {
  if (postmaster === undefined) return sink
  return {
    accepts: async (recipient) => (await sink.accepts(recipient)) || isRoleAddress(recipient, mailDomain),
    inbound: async (message) => {
      const roleAddresses = message.recipients.filter((recipient) => isRoleAddress(recipient, mailDomain))
      const isAgent = await Promise.all(roleAddresses.map((address) => sink.accepts(address)))
      const unassigned = roleAddresses.filter((_, n) => !isAgent[n])
      const recipients = message.recipients.filter((recipient) => !unassigned.includes(recipient))
      // First, because it is refused over a rate limit: agents would get the mail again when it is sent again.
      if (unassigned.length > 0) await postmaster(message)
      if (recipients.length > 0) await sink.inbound({ ...message, recipients })
    },
  }
}
