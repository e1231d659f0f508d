import type { Inbound, Outbound, Rejection, SendResult, Sink } from '../../channel.ts'
import { domainOf, recipientCandidates } from '../address.ts'
import type { MailReader } from '../reading/reader.ts'
import { compose } from '../send/compose.ts'

export interface LocalDelivery {
  /**
   * Who takes mail here, and is believed to be its sender: agents on the service's own domain and on verified
   * own ones.
   */
  sink: Pick<Sink, 'accepts' | 'inbound'>
  reader: MailReader
  /** The service's own domain. */
  mailDomain: string
}

const PROVEN = { name: 'local', verdict: 'pass', detail: 'sent by an agent of this service' }
const UNPROVEN = {
  name: 'local',
  verdict: 'fail',
  detail: 'sent by an agent of this service, from a domain that is not verified now',
}

/**
 * What a sink takes. The sender is an agent of this service, which nobody else can claim to be on this way.
 * That proves its address as long as the service takes mail for it: an own domain that is not verified now
 * may be somebody else's.
 */
const arrivalOf = async (
  message: Outbound,
  recipients: string[],
  { reader, sink }: LocalDelivery,
): Promise<Inbound> => {
  const raw = await compose(message)
  const [read, proven] = await Promise.all([
    reader.read({ raw, envelope: null, source: message.from.address }),
    sink.accepts(message.from.address),
  ])
  const { verification: _, report: __, damage: ___, byAgent: ____, ...mail } = read
  return {
    channel: 'email',
    recipients,
    ...mail,
    proven,
    automatic: null,
    checks: [proven ? PROVEN : UNPROVEN],
    raw,
  }
}

/** Whom a recipient means, as at RCPT: with its plus-tag, or without. */
const findLocal = async (recipient: string, { sink }: LocalDelivery): Promise<string | null> => {
  for (const candidate of recipientCandidates(recipient)) if (await sink.accepts(candidate)) return candidate
  return null
}

const NO_SUCH = '550 5.1.1 No such recipient here'

/**
 * Hands a message to those of its recipients who are agents of this service: the same message, the same
 * admission as any other mail, without leaving the process. `remote` are the recipients that it is still to
 * go to; nobody's address on our own domain is refused.
 */
export const deliverLocally = async (
  message: Outbound,
  delivery: LocalDelivery,
): Promise<SendResult & { remote: string[] }> => {
  const found = await Promise.all(
    message.envelopeTo.map(async (recipient) => ({
      recipient,
      address: await findLocal(recipient, delivery),
    })),
  )
  const here = found.flatMap(({ recipient, address }) => (address === null ? [] : [{ recipient, address }]))
  if (here.length > 0)
    await delivery.sink.inbound(
      await arrivalOf(message, [...new Set(here.map(({ address }) => address))], delivery),
    )
  const others = found.filter(({ address }) => address === null).map(({ recipient }) => recipient)
  const isOurs = (recipient: string) => domainOf(recipient) === delivery.mailDomain
  return {
    accepted: here.map(({ recipient }) => recipient),
    rejected: others
      .filter(isOurs)
      .map((recipient): Rejection => ({ recipient, reason: NO_SUCH, permanent: true })),
    remote: others.filter((recipient) => !isOurs(recipient)),
  }
}
