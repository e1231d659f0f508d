import type { AnswerClaim, Inbound } from '../../core/channel/inbound.ts'
import { findCodes } from '../../core/codes/index.ts'
import { replaceUnstorable } from '../../core/text/sanitize-text.ts'
import { keywordOf } from './keyword.ts'
import { fetchMedia, type MediaDeps } from './media.ts'
import { normalizeNumber, senderOf } from './number.ts'

const SIGNED = { name: 'signature', verdict: 'pass', detail: 'signed by Twilio' }

/** What the sender's number is worth: it admits the sender, but an agent should know what it rests on. */
const CALLER_ID = {
  name: 'caller_id',
  verdict: 'unverified',
  detail:
    "the sender's number is what its carrier reported; caller ids can be forged, so this is weaker evidence than DKIM",
}

/**
 * Converts a signed webhook about a text for the sink. Returns null when it has no valid recipient or no id.
 * Never throws `invalid_input`.
 */
export const toInbound = async (deps: MediaDeps, form: URLSearchParams): Promise<Inbound | null> => {
  const messageId = form.get('MessageSid') ?? form.get('SmsMessageSid') ?? form.get('SmsSid') ?? ''
  const to = ours(form.get('To') ?? '')
  if (messageId === '' || to === null) return null
  const text = replaceUnstorable(form.get('Body') ?? '')
  const { attachments, checks } = await fetchMedia(deps, form)
  const keyword = keywordOf(text, form.get('OptOutType'))
  return {
    channel: 'sms',
    recipients: [to],
    from: { address: senderOf(form.get('From') ?? ''), name: null },
    to: [to],
    cc: [],
    subject: null,
    text,
    replyText: text,
    attachments,
    messageId: replaceUnstorable(messageId).slice(0, 64),
    inReplyTo: null,
    references: [],
    codes: findCodes({ subject: null, texts: [text] }),
    proven: true,
    automatic: null,
    checks: [SIGNED, CALLER_ID, ...checks],
    raw: null,
    ...(keyword ? { keyword } : {}),
  }
}

/** Returns a signed text as one that may answer what an agent asked; null for a keyword, or without a valid recipient. */
export const answerOf = (form: URLSearchParams): AnswerClaim | null => {
  const to = ours(form.get('To') ?? '')
  const text = replaceUnstorable(form.get('Body') ?? '')
  if (to === null || keywordOf(text, form.get('OptOutType'))) return null
  return { channel: 'sms', to, from: senderOf(form.get('From') ?? ''), text }
}

const ours = (to: string): string | null => {
  try {
    return normalizeNumber(to)
  } catch {
    return null
  }
}
