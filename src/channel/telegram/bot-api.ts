import type { ApiMethods, ApiResponse } from '@grammyjs/types'
import { messageOf } from '../../core/errors.ts'
import { readUpTo } from '../../core/http/body.ts'

/** A file that is uploaded with a call. */
export class InputFile {
  readonly name: string
  readonly type: string
  readonly content: Uint8Array

  constructor(name: string, type: string, content: Uint8Array) {
    this.name = name
    this.type = type
    this.content = content
  }
}

type Methods = ApiMethods<InputFile>
export type Method = keyof Methods
export type Arguments<M extends Method> = Parameters<Methods[M]>[0]
export type Result<M extends Method> = ReturnType<Methods[M]>

/**
 * A failed call. Its message is Telegram's own description, or the reason why there was none; it never
 * contains a token.
 */
export class BotApiError extends Error {
  override readonly name = 'BotApiError'
  /** Telegram's `error_code`; null without a response from the Bot API. */
  readonly code: number | null
  /** Time in milliseconds that Telegram asks us to wait. */
  readonly retryAfterMs: number | null
  /** New id of a chat that has become a supergroup. */
  readonly migratedTo: number | null

  constructor(
    message: string,
    code: number | null = null,
    { retry_after, migrate_to_chat_id }: Failure['parameters'] = {},
  ) {
    super(message)
    this.code = code
    this.retryAfterMs = typeof retry_after === 'number' && retry_after > 0 ? retry_after * 1000 : null
    this.migratedTo = typeof migrate_to_chat_id === 'number' ? migrate_to_chat_id : null
  }

  /**
   * Whether the bot's token is no longer valid. That can be corrected, so messages of the bot are retried.
   */
  get tokenInvalid(): boolean {
    return this.code === 401 || this.code === 404
  }

  /** Whether a retry would fail too. */
  get permanent(): boolean {
    const { code } = this
    return code !== null && code >= 400 && code < 500 && !this.tokenInvalid && ![408, 409, 429].includes(code)
  }
}

interface Failure {
  parameters?: { retry_after?: unknown; migrate_to_chat_id?: unknown }
}

export interface BotApi {
  /** Calls a method of the Bot API as the bot of `token`. Throws `BotApiError`. */
  call<M extends Method>(
    token: string,
    method: M,
    args: Arguments<M>,
    signal?: AbortSignal,
  ): Promise<Result<M>>
  /**
   * Downloads a file at the path from `getFile`. Throws `BotApiError`, also when it is longer than
   * `maxBytes`.
   */
  download(token: string, path: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array>
}

export interface BotApiOptions {
  /** URL of Telegram's Bot API or a local Bot API server, without a trailing slash. */
  apiUrl: string
  /** Time limit of one call in milliseconds. */
  callMs?: number
  /** Time limit of an upload or a download in milliseconds. */
  fileMs?: number
}

const CALL_MS = 15_000
const FILE_MS = 60_000
/** More than any response of the methods that are called. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/**
 * Runs `work` with a signal that aborts with `outer`, or after `ms` milliseconds. Leaves no listener on
 * `outer`, which may be long-lived.
 */
const within = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (outer?.aborted) throw new BotApiError('stopped')
  const inner = new AbortController()
  const stop = () => inner.abort(new BotApiError('stopped'))
  const timer = setTimeout(() => inner.abort(new BotApiError(`no response within ${ms / 1000} s`)), ms)
  outer?.addEventListener('abort', stop, { once: true })
  try {
    return await work(inner.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}

/** Converts an error of fetch without the URL that some errors quote, which contains the token. */
const unreachable = (error: unknown): BotApiError => {
  if (error instanceof BotApiError) return error
  const { cause } = error as { cause?: { code?: unknown } }
  return new BotApiError(
    `could not be reached (${typeof cause?.code === 'string' ? cause.code : 'connection failed'})`,
  )
}

const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: 'manual' }).catch((error: unknown) => Promise.reject(unreachable(error)))

/** Reads the body; null when it is longer than `max` bytes. */
const read = (response: Response, max: number): Promise<Buffer | null> =>
  readUpTo(response.body, max).catch((error: unknown) => Promise.reject(unreachable(error)))

/**
 * Returns a response of the Bot API, or null if it is not one. `error_code` is not guaranteed; the HTTP
 * status replaces it.
 */
const asAnswer = (value: unknown, status: number): ApiResponse<unknown> | null => {
  if (typeof value !== 'object' || value === null) return null
  const answer = value as Record<string, unknown>
  if (answer.ok === false)
    return { ...answer, error_code: Number(answer.error_code) || status } as ApiResponse<unknown>
  return answer.ok === true && 'result' in answer ? (answer as unknown as ApiResponse<unknown>) : null
}

const answerOf = async (response: Response): Promise<ApiResponse<unknown>> => {
  const body = await read(response, MAX_RESPONSE_BYTES)
  try {
    const answer = asAnswer(JSON.parse(body?.toString() ?? ''), response.status)
    if (answer) return answer
  } catch {
    // not a response of the Bot API: a proxy's page, or a truncated response
  }
  throw new BotApiError(`not a response of the Bot API (HTTP ${response.status})`)
}

/** Files inside of a list are parts of the form as well, which the list refers to. */
const attach = (form: FormData, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((each) => attach(form, each))
  if (!(value instanceof InputFile)) return withFiles(form, value)
  const name = `file${[...form.keys()].length}`
  form.set(name, blobOf(value), value.name)
  return `attach://${name}`
}

const withFiles = (form: FormData, value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, attach(form, each)]))
    : value

const blobOf = ({ content, type }: InputFile): Blob => new Blob([Uint8Array.from(content)], { type })

const formOf = (args: Record<string, unknown>): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(args)) {
    if (value instanceof InputFile) form.set(name, blobOf(value), value.name)
    else if (Array.isArray(value)) form.set(name, JSON.stringify(attach(form, value)))
    else if (value !== undefined) form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return form
}

const hasFile = (value: unknown): boolean =>
  value instanceof InputFile ||
  (Array.isArray(value) && value.some((each: object) => Object.values(each).some(hasFile)))

const bodyOf = (args: Record<string, unknown>): RequestInit =>
  Object.values(args).some(hasFile)
    ? { method: 'POST', body: formOf(args) }
    : { method: 'POST', body: JSON.stringify(args), headers: { 'Content-Type': 'application/json' } }

/** Creates a stateless client of the Bot API over plain HTTP. */
export const createBotApi = ({ apiUrl, callMs = CALL_MS, fileMs = FILE_MS }: BotApiOptions): BotApi => {
  /** Removes the token, which every URL contains, from an error's message, whatever its origin. */
  const withoutToken = (token: string, error: unknown): BotApiError => {
    if (!(error instanceof BotApiError)) return new BotApiError(messageOf(error).replaceAll(token, '…'))
    error.message = error.message.replaceAll(token, '…')
    return error
  }
  return {
    async call(token, method, args, signal) {
      const init = bodyOf((args ?? {}) as Record<string, unknown>)
      const timeout = init.body instanceof FormData ? fileMs : callMs
      try {
        const answer = await within(timeout, signal, async (inner) =>
          answerOf(await request(`${apiUrl}/bot${token}/${method}`, { ...init, signal: inner })),
        )
        if (answer.ok) return answer.result as never
        throw new BotApiError(
          String(answer.description ?? 'no description'),
          answer.error_code,
          answer.parameters,
        )
      } catch (error) {
        throw withoutToken(token, error)
      }
    },
    async download(token, path, maxBytes, signal) {
      const segments = path.split('/').map(encodeURIComponent).join('/')
      try {
        return await within(fileMs, signal, async (inner) => {
          const response = await request(`${apiUrl}/file/bot${token}/${segments}`, { signal: inner })
          if (!response.ok)
            throw new BotApiError(`the download failed with HTTP ${response.status}`, response.status)
          const content = await read(response, maxBytes)
          if (!content) throw new BotApiError(`the file is longer than ${maxBytes} bytes`, 413)
          return content
        })
      } catch (error) {
        throw withoutToken(token, error)
      }
    },
  }
}
