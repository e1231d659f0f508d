import { publicSourceOf } from '../../../core/source.ts'
import type { Check, Inbound } from '../../inbound.ts'
import { normalizeLoosely } from '../address.ts'
import type { ReadMail } from '../reading/protocol.ts'
import type { Envelope } from '../verify/verify.ts'
import type { SpamVerdict } from './rspamd.ts'

interface Reception {
  envelope: Envelope
  recipients: string[]
  spam: SpamVerdict | undefined
}

/**
 * Combines a message that was read with its envelope (from SMTP or a signed request) into the form that the
 * sink accepts.
 */
export function toInbound(
  raw: Buffer,
  { verification, report: _, damage, hiddenText, ...mail }: ReadMail,
  { envelope, recipients, spam }: Reception,
): Inbound {
  const { checks = [], ...proof } = verification ?? { proven: false }
  return {
    channel: 'email',
    recipients,
    ...mail,
    // An empty address cannot be answered. If From is unreadable, the envelope sender is used instead; it is
    // never proven.
    from: { ...mail.from, address: mail.from.address || normalizeLoosely(envelope.reversePath) },
    ...proof,
    source: publicSourceOf(envelope.ip),
    spam: spam?.spam ?? null,
    checks: [...checks, ...(spam ? [spam.check] : []), ...damageCheck(damage), ...hiddenText],
    raw,
  }
}

const damageCheck = (damage: string | null): Check[] =>
  damage === null ? [] : [{ name: 'mime', verdict: 'damaged', detail: damage }]
