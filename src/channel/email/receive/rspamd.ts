import { request } from 'undici'
import { readUpTo } from '../../../core/body.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Check } from '../../channel.ts'
import { oneLine } from '../../sanitize-text.ts'
import type { Envelope } from '../verify/verify.ts'

export interface SpamVerdict {
  /** Why it is spam, in words; null when it is none, or when nobody could say. */
  spam: string | null
  check: Check
}

/** Asks whether a message is spam. Never rejects: without an answer it is none, and the evidence says so. */
export type SpamCheck = (
  raw: Buffer,
  envelope: Envelope,
  recipients: readonly string[],
) => Promise<SpamVerdict>

export interface RspamdOptions {
  /** Where Rspamd's normal worker listens, without a slash at its end. */
  url: string
  mailDomain: string
  log: Logger
  metrics?: Metrics | undefined
  timeoutMs?: number
}

/** https://rspamd.com/doc/developers/protocol.html: what it would have a mail server do. */
const ACTIONS: Record<string, 'spam' | 'ham'> = {
  reject: 'spam',
  'add header': 'spam',
  'rewrite subject': 'spam',
  // For a mail server to ask the sender to come again; this message has come.
  'soft reject': 'ham',
  greylist: 'ham',
  'no action': 'ham',
}

const TIMEOUT_MS = 5_000
/** An answer lists each rule that matched; longer than this it is none of Rspamd's. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** One line of UTF-8, in the Latin-1 that a header's bytes are written as. */
const inHeader = (value: string): string => Buffer.from(oneLine(value, 320)).toString('latin1')

const headersOf = (
  { ip, helo, reversePath }: Envelope,
  recipients: readonly string[],
  mailDomain: string,
) => ({
  'Content-Type': 'message/rfc822',
  'MTA-Name': mailDomain,
  From: inHeader(reversePath),
  Rcpt: recipients.map(inHeader),
  ...(ip === '' ? {} : { IP: ip }),
  ...(helo === '' ? {} : { Helo: inHeader(helo) }),
})

const readAnswer = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const answer = await readUpTo(body, MAX_ANSWER_BYTES)
  if (answer === null) throw new Error('its answer is too long')
  return answer.toString()
}

const verdictOf = (answer: unknown): SpamVerdict & { outcome: 'spam' | 'ham' } => {
  const {
    action,
    score,
    required_score: limit,
  } = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
  const outcome = typeof action === 'string' && Object.hasOwn(ACTIONS, action) ? ACTIONS[action]! : null
  if (outcome === null || typeof score !== 'number') throw new Error('its answer has no action and score')
  const points = `score ${score.toFixed(1)}${typeof limit === 'number' ? ` of ${limit.toFixed(1)}` : ''}`
  const detail = `Rspamd: ${action}, ${points}`
  return {
    outcome,
    spam: outcome === 'spam' ? `Rspamd would ${action} it (${points})` : null,
    check: { name: 'spam', verdict: outcome === 'spam' ? 'fail' : 'pass', detail },
  }
}

/** Has an Rspamd look at each message, for 5 seconds at most. */
export const createRspamd = ({
  url,
  mailDomain,
  log,
  metrics,
  timeoutMs = TIMEOUT_MS,
}: RspamdOptions): SpamCheck => {
  const ask = async (raw: Buffer, envelope: Envelope, recipients: readonly string[]) => {
    const headers = headersOf(envelope, recipients, mailDomain)
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await request(`${url}/checkv2`, {
      method: 'POST',
      headers,
      body: raw,
      signal,
    })
    const answer = await readAnswer(body)
    if (statusCode !== 200) throw new Error(`it answered ${statusCode}`)
    return verdictOf(JSON.parse(answer))
  }
  return async (raw, envelope, recipients) => {
    try {
      const { outcome, ...verdict } = await ask(raw, envelope, recipients)
      metrics?.count('spamChecks', outcome)
      return verdict
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'Rspamd could not be asked: a message goes through without it')
      metrics?.count('spamChecks', 'failed')
      return {
        spam: null,
        check: { name: 'spam', verdict: 'temperror', detail: 'Rspamd could not be asked' },
      }
    }
  }
}
