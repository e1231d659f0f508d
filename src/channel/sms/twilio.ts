import { readUpTo } from '../../core/body.ts'
import { messageOf } from '../../core/errors.ts'
import { oneLine } from '../sanitize-text.ts'

/** Twilio's REST API as far as it is used here: plain calls, without their library. */

export interface TwilioAccount {
  accountSid: string
  authToken: string
  /** `https://api.twilio.com`, or who stands in for it. */
  apiUrl: string
}

/**
 * What a call came to. `temporary`: nobody was there, or Twilio says to come back later, or what came back
 * makes no sense. `missing`: there is no such thing, or not any more.
 */
export type TwilioAnswer =
  | { ok: true; body: Record<string, unknown> }
  | { ok: false; temporary: boolean; missing: boolean; code: number | null; words: string }

/** How long one call may take. */
const PATIENCE_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024
const LONGEST_WORDS = 300

const parse = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** 429, 408 and what is the server's fault pass; what is wrong with the request stays wrong. */
const isTemporary = (status: number): boolean =>
  status === 429 || status === 408 || status >= 500 || status < 400

export class Twilio {
  readonly #account: TwilioAccount

  constructor(account: TwilioAccount) {
    this.#account = account
  }

  get authorization(): string {
    const { accountSid, authToken } = this.#account
    return `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`
  }

  /** Calls something below the account: `Messages.json`. Never throws. */
  call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    fields: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<TwilioAnswer> {
    return this.request(
      method,
      `${this.#account.apiUrl}/2010-04-01/Accounts/${this.#account.accountSid}/${path}`,
      fields,
      signal,
    )
  }

  /**
   * Calls another of Twilio's APIs, where Twilio itself is called: each has a host of its own. A stand-in has
   * one for all.
   */
  sibling(product: string, path: string): Promise<TwilioAnswer> {
    const host = this.#account.apiUrl.replace(/^https:\/\/api\.twilio\.com$/, `https://${product}.twilio.com`)
    return this.request('GET', `${host}/${path}`, {})
  }

  private async request(
    method: string,
    url: string,
    fields: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<TwilioAnswer> {
    const form = new URLSearchParams(fields).toString()
    const asQuery = method === 'GET' && form !== ''
    const patience = AbortSignal.timeout(PATIENCE_MS)
    try {
      const response = await fetch(asQuery ? `${url}?${form}` : url, {
        method,
        headers: {
          Authorization: this.authorization,
          Accept: 'application/json',
          'User-Agent': 'agent-messaging-service',
        },
        ...(method === 'POST' ? { body: new URLSearchParams(fields) } : {}),
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, patience]) : patience,
      })
      return this.#understand(
        response.status,
        (await readUpTo(response.body, MAX_ANSWER_BYTES))?.toString() ?? '',
      )
    } catch (error) {
      return this.#failed(
        null,
        null,
        patience.aborted ? `Twilio did not answer within ${PATIENCE_MS / 1000} s` : causeOf(error),
      )
    }
  }

  #understand(status: number, text: string): TwilioAnswer {
    if (status === 204) return { ok: true, body: {} }
    const body = parse(text)
    if (status >= 200 && status < 300)
      return body
        ? { ok: true, body }
        : this.#failed(null, null, `Twilio answered ${status} with an invalid response`)
    const code = typeof body?.code === 'number' ? body.code : null
    const said =
      typeof body?.message === 'string' && body.message !== '' ? body.message : `Twilio answered ${status}`
    return this.#failed(status, code, code === null ? said : `${said} (Twilio error ${code})`)
  }

  /**
   * Its words, of which a message's `error` and the log may hold all: what it repeats of our credentials is
   * taken out. `status`: null where there was no answer that makes sense.
   */
  #failed(status: number | null, code: number | null, words: string): TwilioAnswer {
    const { authToken } = this.#account
    const clean = words.replaceAll(authToken, '…').replaceAll(this.authorization.slice('Basic '.length), '…')
    const temporary = status === null || isTemporary(status)
    return { ok: false, temporary, missing: status === 404, code, words: oneLine(clean, LONGEST_WORDS) }
  }
}

/** Node's `fetch failed` says nothing; its cause says what. */
const causeOf = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string } }
  return `Twilio could not be reached: ${cause?.code ?? messageOf(cause ?? error)}`
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
