import type { Inbound, Sink } from '../../channel.ts'

interface RoleAddressOptions {
  mailDomain: string
  postmaster?: (message: Inbound) => Promise<void>
}

/**
 * Whom every mail server must know (RFC 5321 4.5.1, RFC 2142 4): other people's postmasters write to them
 * when something goes wrong.
 */
const ROLE_ADDRESSES = ['postmaster', 'abuse']

/** Whether a (normalized) address is that of somebody who looks after mail, on the service's own domain. */
export const isRoleAddress = (address: string, mailDomain: string): boolean =>
  ROLE_ADDRESSES.some((name) => address === `${name}@${mailDomain.toLowerCase()}`)

/**
 * The sink, and beside it the postmaster of the service's own domain, who reads its mail for abuse too. An
 * agent that has such an address goes first.
 */
export function withPostmaster(
  sink: Sink,
  { mailDomain, postmaster }: RoleAddressOptions,
): Pick<Sink, 'accepts' | 'inbound'> {
  if (postmaster === undefined) return sink
  return {
    accepts: async (recipient) => (await sink.accepts(recipient)) || isRoleAddress(recipient, mailDomain),
    inbound: async (message) => {
      const offices = message.recipients.filter((recipient) => isRoleAddress(recipient, mailDomain))
      const held = await Promise.all(offices.map((office) => sink.accepts(office)))
      const vacant = offices.filter((_, n) => !held[n])
      const recipients = message.recipients.filter((recipient) => !vacant.includes(recipient))
      if (recipients.length > 0) await sink.inbound({ ...message, recipients })
      if (vacant.length > 0) await postmaster(message)
    },
  }
}
