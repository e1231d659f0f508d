import { publicSourceOf } from '../../../core/source.ts'
import type { Check, Inbound } from '../../channel.ts'
import { normalizeLoosely } from '../address.ts'
import type { ReadMail } from '../reading/protocol.ts'
import type { Envelope } from '../verify/verify.ts'
import type { SpamVerdict } from './rspamd.ts'

/**
 * A message that was read, and its envelope (however it came: SMTP, or a signed request), as what the sink
 * takes.
 */
export function toInbound(
  raw: Buffer,
  { verification, report: _, damage, ...mail }: ReadMail,
  envelope: Envelope,
  recipients: string[],
  spam: SpamVerdict | undefined,
): Inbound {
  const { checks = [], ...proof } = verification ?? { proven: false }
  return {
    channel: 'email',
    recipients,
    ...mail,
    // Nobody can answer '': where From is not to be read, the envelope's sender stands for it, never proven.
    from: { ...mail.from, address: mail.from.address || normalizeLoosely(envelope.reversePath) },
    ...proof,
    source: publicSourceOf(envelope.ip),
    spam: spam?.spam ?? null,
    checks: [...checks, ...(spam ? [spam.check] : []), ...damageCheck(damage)],
    raw,
  }
}

const damageCheck = (damage: string | null): Check[] =>
  damage === null ? [] : [{ name: 'mime', verdict: 'damaged', detail: damage }]
