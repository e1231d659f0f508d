import { messageOf } from '../../core/errors.ts'
import { readUpTo } from '../../core/http/body.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'

/** The part of Twilio's REST API that is used here, as plain HTTP calls without Twilio's library. */

export interface TwilioAccount {
  accountSid: string
  authToken: string
  /** `https://api.twilio.com`, or a stand-in for it. */
  apiUrl: string
}

/**
 * Result of a call. `temporary`: no response, an invalid response, or Twilio asks to retry later. `missing`:
 * the resource does not exist or no longer exists.
 */
export type TwilioAnswer =
  | { ok: true; body: Record<string, unknown> }
  | { ok: false; temporary: boolean; missing: boolean; code: number | null; reason: string }

/** The fields of a call; one with several values is repeated. */
type Fields = Readonly<Record<string, string | readonly string[]>>

const formOf = (fields: Fields): URLSearchParams =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each])),
  )

/** Time limit of one call in milliseconds. */
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 1024 * 1024
const MAX_REASON_LENGTH = 300

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

/** 429, 408 and server errors are temporary; an invalid request stays invalid. */
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

  /** Calls a resource of the account, such as `Messages.json`. Never throws. */
  call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    fields: Fields = {},
    signal?: AbortSignal,
  ): Promise<TwilioAnswer> {
    return this.request(
      method,
      `${this.#account.apiUrl}/2010-04-01/Accounts/${this.#account.accountSid}/${path}`,
      fields,
      signal,
    )
  }

  /** Calls another of Twilio's APIs. At Twilio, each has its own host; a stand-in has one for all. */
  sibling(product: string, path: string): Promise<TwilioAnswer> {
    const host = this.#account.apiUrl.replace(/^https:\/\/api\.twilio\.com$/, `https://${product}.twilio.com`)
    return this.request('GET', `${host}/${path}`, {})
  }

  private async request(
    method: string,
    url: string,
    fields: Fields,
    signal?: AbortSignal,
  ): Promise<TwilioAnswer> {
    const form = formOf(fields).toString()
    const asQuery = method === 'GET' && form !== ''
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const response = await fetch(asQuery ? `${url}?${form}` : url, {
        method,
        headers: {
          Authorization: this.authorization,
          Accept: 'application/json',
          'User-Agent': 'agent-messaging-service',
        },
        ...(method === 'POST' ? { body: formOf(fields) } : {}),
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
      return this.#interpret(
        response.status,
        (await readUpTo(response.body, MAX_RESPONSE_BYTES))?.toString() ?? '',
      )
    } catch (error) {
      return this.#failed(
        null,
        null,
        timeout.aborted ? `Twilio did not respond within ${TIMEOUT_MS / 1000} s` : causeOf(error),
      )
    }
  }

  #interpret(status: number, text: string): TwilioAnswer {
    if (status === 204) return { ok: true, body: {} }
    const body = parse(text)
    if (status >= 200 && status < 300)
      return body
        ? { ok: true, body }
        : this.#failed(null, null, `Twilio sent an invalid response (HTTP ${status})`)
    const code = typeof body?.code === 'number' ? body.code : null
    const message =
      typeof body?.message === 'string' && body.message !== ''
        ? body.message
        : `Twilio responded with HTTP ${status}`
    return this.#failed(status, code, code === null ? message : `${message} (Twilio error ${code})`)
  }

  /**
   * Returns a failure whose text can be stored in a message's `error` and in the log: our credentials are
   * removed from it. `status` is null when there was no valid response.
   */
  #failed(status: number | null, code: number | null, reason: string): TwilioAnswer {
    const { authToken } = this.#account
    const clean = reason.replaceAll(authToken, '…').replaceAll(this.authorization.slice('Basic '.length), '…')
    const temporary = status === null || isTemporary(status)
    return { ok: false, temporary, missing: status === 404, code, reason: oneLine(clean, MAX_REASON_LENGTH) }
  }
}

/** Node's message is only `fetch failed`; its cause contains the reason. */
const causeOf = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string } }
  return `Twilio could not be reached: ${cause?.code ?? messageOf(cause ?? error)}`
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
