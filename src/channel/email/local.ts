import type { Inbound, Outbound, Rejection, SendResult, Sink } from '../channel.ts'
import { domainOf, recipientCandidates } from './address.ts'
import { compose } from './compose.ts'
import type { MailParser } from './parser.ts'

export interface LocalDelivery {
  sink: Pick<Sink, 'accepts' | 'inbound'>
  parser: MailParser
  /** The service's own domain: whose mail needn't leave the process. */
  mailDomain: string
}

/** The same message for those of its recipients on our own domain, and for the others. */
export const splitLocal = (message: Outbound, mailDomain: string): { local: string[]; remote: string[] } => {
  const isLocal = (recipient: string) => domainOf(recipient) === mailDomain
  return { local: message.envelopeTo.filter(isLocal), remote: message.envelopeTo.filter((recipient) => !isLocal(recipient)) }
}

/** What a sink takes. The sender is proven: it is an agent of this service, which nobody else can claim to be on this way. */
const arrivalOf = async (message: Outbound, recipients: string[], { parser }: LocalDelivery): Promise<Inbound> => {
  const raw = await compose(message)
  const { headers: _, damage: __, ...mail } = await parser.parse(raw)
  const checks = [{ name: 'local', verdict: 'pass', detail: 'sent by an agent of this service' }]
  return { channel: 'email', recipients, ...mail, proven: true, automatic: null, checks, raw }
}

/** Whom a recipient means, as at RCPT: with its plus-tag, or without. */
const findLocal = async (recipient: string, { sink }: LocalDelivery): Promise<string | null> => {
  for (const candidate of recipientCandidates(recipient)) if (await sink.accepts(candidate)) return candidate
  return null
}

/** Hands a message to agents of this service: the same message, the same admission as any other mail, without leaving the process. */
export const deliverLocally = async (message: Outbound, recipients: string[], delivery: LocalDelivery): Promise<SendResult> => {
  const found = await Promise.all(recipients.map(async (recipient) => ({ recipient, address: await findLocal(recipient, delivery) })))
  const addresses = found.map(({ address }) => address).filter((address) => address !== null)
  if (addresses.length > 0) await delivery.sink.inbound(await arrivalOf(message, [...new Set(addresses)], delivery))
  const rejected = found
    .filter(({ address }) => address === null)
    .map(({ recipient }): Rejection => ({ recipient, reason: '550 5.1.1 No such recipient here', permanent: true }))
  return { accepted: found.filter(({ address }) => address !== null).map(({ recipient }) => recipient), rejected }
}
