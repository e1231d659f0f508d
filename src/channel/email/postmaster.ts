import type { Inbound, Sink } from '../channel.ts'

interface Household {
  mailDomain: string
  postmaster?: (message: Inbound) => Promise<void>
}

/**
 * The sink, and beside it the postmaster of the service's own domain, whom every mail server must know (RFC 5321 4.5.1) and whom other
 * people's postmasters write to when something goes wrong. An agent that has the address goes first.
 */
export function withPostmaster(sink: Sink, { mailDomain, postmaster }: Household): Pick<Sink, 'accepts' | 'inbound'> {
  if (postmaster === undefined) return sink
  const address = `postmaster@${mailDomain.toLowerCase()}`
  return {
    accepts: async (recipient) => (await sink.accepts(recipient)) || recipient === address,
    inbound: async (message) => {
      const forPostmaster = message.recipients.includes(address) && !(await sink.accepts(address))
      const recipients = message.recipients.filter((recipient) => recipient !== address || !forPostmaster)
      if (recipients.length > 0) await sink.inbound({ ...message, recipients })
      if (forPostmaster) await postmaster(message)
    },
  }
}
