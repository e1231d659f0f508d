import type { ApiMethods, ApiResponse } from '@grammyjs/types'
import { readUpTo } from '../../core/body.ts'
import { messageOf } from '../../core/errors.ts'

/** A file that goes along with a call. */
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
 * Why a call came to nothing. Its message is Telegram's own description, or what went wrong on the way; never
 * a token.
 */
export class BotApiError extends Error {
  override readonly name = 'BotApiError'
  /** Telegram's `error_code`; null when there was no answer of the Bot API's. */
  readonly code: number | null
  /** How long Telegram asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number | null
  /** The chat's new id: the group has become a supergroup. */
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
   * The bot's token counts no more. Somebody can put that right, so what waits for the bot is tried again.
   */
  get tokenDead(): boolean {
    return this.code === 401 || this.code === 404
  }

  /** Whether the same call would come to the same. */
  get permanent(): boolean {
    const { code } = this
    return code !== null && code >= 400 && code < 500 && !this.tokenDead && ![408, 409, 429].includes(code)
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
   * Downloads a file that `getFile` told the path of. Throws `BotApiError`, also when it is longer than
   * `maxBytes`.
   */
  download(token: string, path: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array>
}

export interface BotApiOptions {
  /** Telegram's, or a local Bot API server's; without a slash at its end. */
  apiUrl: string
  /** How long one call may take. */
  callMs?: number
  /** How long a file may take, up or down. */
  fileMs?: number
}

const CALL_MS = 15_000
const FILE_MS = 60_000
/** More than any answer of the methods that we call. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

/**
 * Runs `work` with a signal that aborts with `outer`, or after `ms` milliseconds. Leaves nothing on `outer`,
 * which may live long.
 */
const within = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (outer?.aborted) throw new BotApiError('stopped')
  const inner = new AbortController()
  const stop = () => inner.abort(new BotApiError('stopped'))
  const timer = setTimeout(() => inner.abort(new BotApiError(`no answer within ${ms / 1000} s`)), ms)
  outer?.addEventListener('abort', stop, { once: true })
  try {
    return await work(inner.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}

/** What fetch threw, without the URL that some errors quote: it holds the token. */
const unreachable = (error: unknown): BotApiError => {
  if (error instanceof BotApiError) return error
  const { cause } = error as { cause?: { code?: unknown } }
  return new BotApiError(
    `could not be reached (${typeof cause?.code === 'string' ? cause.code : 'connection failed'})`,
  )
}

const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: 'manual' }).catch((error: unknown) => Promise.reject(unreachable(error)))

/** The body, or null when it is longer than `most` bytes. */
const read = (response: Response, most: number): Promise<Buffer | null> =>
  readUpTo(response.body, most).catch((error: unknown) => Promise.reject(unreachable(error)))

/**
 * As an answer of the Bot API, or null. One without an `error_code`, which is not promised, has the status of
 * HTTP.
 */
const asAnswer = (value: unknown, status: number): ApiResponse<unknown> | null => {
  if (typeof value !== 'object' || value === null) return null
  const answer = value as Record<string, unknown>
  if (answer.ok === false)
    return { ...answer, error_code: Number(answer.error_code) || status } as ApiResponse<unknown>
  return answer.ok === true && 'result' in answer ? (answer as unknown as ApiResponse<unknown>) : null
}

const answerOf = async (response: Response): Promise<ApiResponse<unknown>> => {
  const body = await read(response, MAX_ANSWER_BYTES)
  try {
    const answer = asAnswer(JSON.parse(body?.toString() ?? ''), response.status)
    if (answer) return answer
  } catch {
    // falls through: a proxy's page, half an answer
  }
  throw new BotApiError(`an answer that is not the Bot API's (HTTP ${response.status})`)
}

const formOf = (args: Record<string, unknown>): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(args)) {
    if (value instanceof InputFile)
      form.set(name, new Blob([Uint8Array.from(value.content)], { type: value.type }), value.name)
    else if (value !== undefined) form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return form
}

const bodyOf = (args: Record<string, unknown>): RequestInit =>
  Object.values(args).some((value) => value instanceof InputFile)
    ? { method: 'POST', body: formOf(args) }
    : { method: 'POST', body: JSON.stringify(args), headers: { 'Content-Type': 'application/json' } }

/** The Bot API over plain HTTP. Keeps no state: every call says which bot it is. */
export const createBotApi = ({ apiUrl, callMs = CALL_MS, fileMs = FILE_MS }: BotApiOptions): BotApi => {
  /** The token is in every URL; what an error says must not carry it further, whoever wrote it. */
  const withoutToken = (token: string, error: unknown): BotApiError => {
    if (!(error instanceof BotApiError)) return new BotApiError(messageOf(error).replaceAll(token, '…'))
    error.message = error.message.replaceAll(token, '…')
    return error
  }
  return {
    async call(token, method, args, signal) {
      const init = bodyOf((args ?? {}) as Record<string, unknown>)
      const patience = init.body instanceof FormData ? fileMs : callMs
      try {
        const answer = await within(patience, signal, async (inner) =>
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
            throw new BotApiError(`the file was answered with HTTP ${response.status}`, response.status)
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
