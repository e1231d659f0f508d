import { request } from 'undici'
import type { Check } from '../../core/channel/inbound.ts'
import { messageOf } from '../../core/errors.ts'
import { readUpTo } from '../../core/http/body.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import type { Envelope } from '../verify/verify.ts'

export interface SpamVerdict {
  /** Why the message is spam; null if it is not, or if the check failed. */
  spam: string | null
  check: Check
}

/**
 * Checks whether a message is spam. Never rejects: if the check fails, the message is not spam and the check
 * result says so.
 */
export type SpamCheck = (
  raw: Buffer,
  envelope: Envelope,
  recipients: readonly string[],
) => Promise<SpamVerdict>

export interface RspamdOptions {
  /** URL of Rspamd's normal worker, without a trailing slash. */
  url: string
  mailDomain: string
  log: Logger
  metrics?: Metrics | undefined
  timeoutMs?: number
}

/** Actions that Rspamd recommends to a mail server (https://rspamd.com/doc/developers/protocol.html). */
const ACTIONS: Record<string, 'spam' | 'ham'> = {
  reject: 'spam',
  'add header': 'spam',
  'rewrite subject': 'spam',
  // Asks a mail server to defer the message, which has already been received.
  'soft reject': 'ham',
  greylist: 'ham',
  'no action': 'ham',
}

const TIMEOUT_MS = 5_000
/** A response lists each matching rule; a longer one is not from Rspamd. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** A single line of UTF-8 bytes in a Latin-1 string, as Node.js writes header values. */
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

const readResponse = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const answer = await readUpTo(body, MAX_ANSWER_BYTES)
  if (answer === null) throw new Error('response is too long')
  return answer.toString()
}

const verdictOf = (answer: unknown): SpamVerdict & { outcome: 'spam' | 'ham' } => {
  const {
    action,
    score,
    required_score: limit,
  } = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
  const outcome = typeof action === 'string' && Object.hasOwn(ACTIONS, action) ? ACTIONS[action]! : null
  if (outcome === null || typeof score !== 'number') throw new Error('response has no action or no score')
  const points = `score ${score.toFixed(1)}${typeof limit === 'number' ? ` of ${limit.toFixed(1)}` : ''}`
  const detail = `Rspamd: ${action}, ${points}`
  return {
    outcome,
    spam: outcome === 'spam' ? `Rspamd would ${action} it (${points})` : null,
    check: { name: 'spam', verdict: outcome === 'spam' ? 'fail' : 'pass', detail },
  }
}

/** Creates a spam check that queries Rspamd, by default for at most 5 seconds per message. */
export const createRspamd = ({
  url,
  mailDomain,
  log,
  metrics,
  timeoutMs = TIMEOUT_MS,
}: RspamdOptions): SpamCheck => {
  const query = async (raw: Buffer, envelope: Envelope, recipients: readonly string[]) => {
    const headers = headersOf(envelope, recipients, mailDomain)
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await request(`${url}/checkv2`, {
      method: 'POST',
      headers,
      body: raw,
      signal,
    })
    const answer = await readResponse(body)
    if (statusCode !== 200) throw new Error(`response status ${statusCode}`)
    return verdictOf(JSON.parse(answer))
  }
  return async (raw, envelope, recipients) => {
    try {
      const { outcome, ...verdict } = await query(raw, envelope, recipients)
      metrics?.count('spamChecks', outcome)
      return verdict
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not query Rspamd; message accepted without a spam check')
      metrics?.count('spamChecks', 'failed')
      return {
        spam: null,
        check: { name: 'spam', verdict: 'temperror', detail: 'Rspamd could not be queried' },
      }
    }
  }
}
