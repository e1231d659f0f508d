import type { Inbound } from '../channel.ts'
import { normalizeLoosely } from './address.ts'
import { automaticMark, hasAgentMark } from './loop.ts'
import type { MailParser } from './parser.ts'
import type { SpamCheck } from './rspamd.ts'
import { type Envelope, type VerifyOptions, verify } from './verify.ts'

export interface ReceiveOptions extends VerifyOptions {
  parser: MailParser
  mailDomain: string
  /** Left out: nobody looks for spam. */
  spamCheck?: SpamCheck | undefined
}

/** One raw message and its envelope (however it came: SMTP, or a signed request) as what the sink takes. Never throws. */
export async function understand(raw: Buffer, envelope: Envelope, recipients: string[], options: ReceiveOptions): Promise<Inbound> {
  const { headers, damage, ...mail } = await options.parser.parse(raw)
  const [{ checks, ...proof }, verdict] = await Promise.all([
    verify(raw, mail.from.address, envelope, options),
    options.spamCheck?.(raw, envelope, recipients),
  ])
  return {
    channel: 'email',
    recipients,
    ...mail,
    // Nobody can answer '': where From is not to be read, the envelope's sender stands for it, never proven.
    from: { ...mail.from, address: mail.from.address || normalizeLoosely(envelope.reversePath) },
    ...proof,
    automatic: automaticMark(headers, envelope.reversePath, options.mailDomain),
    byAgent: hasAgentMark(headers),
    spam: verdict?.spam ?? null,
    checks: [
      ...checks,
      ...(verdict ? [verdict.check] : []),
      ...(damage === null ? [] : [{ name: 'mime', verdict: 'damaged', detail: damage }]),
    ],
    raw,
  }
}
