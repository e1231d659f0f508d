import { domainOf } from '../../core/address/email-address.ts'
import type { Inbound, Sink } from '../../core/channel/inbound.ts'
import type { Outbound, SendResult } from '../../core/channel/outbound.ts'
import type { WindowCounts } from '../../core/window-counts.ts'
import { recipientCandidates } from '../header/address.ts'
import type { MailReader } from '../reading/mail-reader.ts'
import { compose } from '../send/compose.ts'

export interface LocalDelivery {
  /**
   * Sink for local mail. Addresses that it accepts are trusted as senders: agents on the service's own domain
   * and on their verified domains.
   */
  sink: Pick<Sink, 'accepts' | 'inbound'> & {
    /** Whether an agent gets the mail to an address that nobody has, on a domain that is verified. */
    catches?(address: string): Promise<boolean>
  }
  reader: MailReader
  /** The service's own domain. */
  mailDomain: string
  /** Whether other installations have addresses on that domain too: those of workspaces that have moved. */
  shared?: boolean
  /** Unknown recipients on that domain, by the workspace that sent to them. */
  unknown: WindowCounts
}

/**
 * Unknown recipients of this service that a workspace can write to within an hour: more are guesses.
 * @limit Sending
 */
const MAX_UNKNOWN = 50
export const UNKNOWN_WINDOW_MS = 3_600_000

const PROVEN = { name: 'local', verdict: 'pass', detail: 'sent by an agent of this service' }
const UNPROVEN = {
  name: 'local',
  verdict: 'fail',
  detail: 'sent by an agent of this service from a domain that is currently not verified',
}

/**
 * Converts a message for the sink. Only an agent of this service can send on this path, which proves the
 * sender's address as long as the service accepts mail for it: a custom domain that is currently not verified
 * may belong to someone else.
 */
const toInbound = async (
  message: Outbound,
  recipients: string[],
  { reader, sink }: LocalDelivery,
): Promise<Inbound> => {
  const raw = await compose(message)
  const [read, proven] = await Promise.all([
    reader.read({ raw, envelope: null, source: message.from.address }),
    sink.accepts(message.from.address),
  ])
  const { verification: _, report: __, damage: ___, byAgent: ____, textChecks, ...mail } = read
  return {
    channel: 'email',
    recipients,
    ...mail,
    proven,
    automatic: null,
    checks: [proven ? PROVEN : UNPROVEN, ...textChecks],
    raw,
  }
}

/** Resolves a recipient as RCPT does: with its plus-tag, or without, or to the agent that gets all other mail of its domain. */
const findLocal = async (recipient: string, { sink }: LocalDelivery): Promise<string | null> => {
  const candidates = recipientCandidates(recipient)
  for (const candidate of candidates) if (await sink.accepts(candidate)) return candidate
  const [whole] = candidates
  return whole !== undefined && (await sink.catches?.(whole)) ? whole : null
}

const NO_SUCH = '550 5.1.1 No such recipient here'
const TOO_MANY_UNKNOWN = '450 4.7.1 Too many unknown recipients here'

/**
 * Delivers a message to its recipients that are agents of this service, without leaving the process but with
 * the same checks as other mail. `remote`: the recipients that remain to be sent to. Unknown addresses on our
 * own domain are rejected; after too many of them, all addresses on it are, for now, so that nobody finds out
 * which exist by guessing.
 */
export const deliverLocally = async (
  message: Outbound,
  delivery: LocalDelivery,
): Promise<SendResult & { remote: string[] }> => {
  const { unknown, mailDomain, shared = false } = delivery
  const { workspaceId } = message
  const isOurs = (recipient: string) => !shared && domainOf(recipient) === mailDomain
  const found = await Promise.all(
    message.envelopeTo.map(async (recipient) => ({
      recipient,
      address: await findLocal(recipient, delivery),
    })),
  )
  const missing: string[] = []
  const barred: string[] = []
  // Counted with the answers, since several messages, each to many, may ask at once. System mail is never held up:
  // invitations to unknown addresses would otherwise delay everybody's.
  for (const { recipient, address } of found.filter((one) => isOurs(one.recipient))) {
    if (workspaceId !== undefined && unknown.of(workspaceId) >= MAX_UNKNOWN) barred.push(recipient)
    else if (address === null) {
      missing.push(recipient)
      if (workspaceId !== undefined) unknown.note(workspaceId)
    }
  }
  const retryAfterMs = unknown.resetSeconds * 1000
  const local = found.flatMap(({ recipient, address }) =>
    address === null || barred.includes(recipient) ? [] : [{ recipient, address }],
  )
  if (local.length > 0)
    await delivery.sink.inbound(
      await toInbound(message, [...new Set(local.map(({ address }) => address))], delivery),
    )
  return {
    accepted: local.map(({ recipient }) => recipient),
    rejected: [
      ...missing.map((recipient) => ({ recipient, reason: NO_SUCH, permanent: true })),
      ...barred.map((recipient) => ({ recipient, reason: TOO_MANY_UNKNOWN, permanent: false, retryAfterMs })),
    ],
    remote: found.flatMap(({ recipient, address }) =>
      address === null && !isOurs(recipient) ? [recipient] : [],
    ),
  }
}
