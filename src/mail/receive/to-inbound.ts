import { normalizeLoosely } from '../../core/address/email-address.ts'
import { publicSourceOf } from '../../core/address/source.ts'
import type { Check, Inbound, SignedContent } from '../../core/channel/inbound.ts'
import { purposeOf } from '../parse/answer.ts'
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
  { verification, report: _, damage, textChecks, ...parsed }: ReadMail,
  { envelope, recipients, spam }: Reception,
): Inbound {
  const { checks = [], ...proof } = verification ?? { proven: false }
  const mail = withSignedReferences(parsed, verification?.signature)
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
    checks: [...checks, ...(spam ? [spam.check] : []), ...damageCheck(damage), ...textChecks],
    raw,
  }
}

/**
 * Leaves out the references to other messages that anyone could have added to a signed mail. If nothing else makes it an
 * answer, no line of it is quoted history.
 */
function withSignedReferences<Mail extends Pick<Inbound, References>>(
  mail: Mail,
  signature: SignedContent | null | undefined,
): Mail {
  if (!signature?.isOnlyProof) return mail
  const { covers } = signature
  const inReplyTo = covers.includes('in-reply-to') ? mail.inReplyTo : null
  const references = covers.includes('references') ? mail.references : []
  const isSame = purposeOf({ ...mail, inReplyTo, references }) === purposeOf(mail)
  return { ...mail, inReplyTo, references, replyText: isSame ? mail.replyText : mail.text }
}

type References = 'subject' | 'text' | 'replyText' | 'inReplyTo' | 'references'

const damageCheck = (damage: string | null): Check[] =>
  damage === null ? [] : [{ name: 'mime', verdict: 'damaged', detail: damage }]
