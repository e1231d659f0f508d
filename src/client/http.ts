import { backoff, Deadline, pause } from './backoff.ts'
import { AmsError, errorOf } from './errors.ts'
import type { Page } from './list.ts'
import { type OnWaiting, Outage } from './outage.ts'

export interface ClientOptions {
  /** Where the service is; by default the environment variable AMS_URL. */
  url?: string | undefined
  /** An agent's token for an `Agent`, a member's for a `Workspace`; by default AMS_TOKEN. */
  token?: string | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** How often a failed request is repeated; 6 by default. */
  retries?: number | undefined
  /** How long one attempt may take; 60 seconds by default. */
  timeoutMs?: number | undefined
  /** Called once when requests are repeated because the service gives no answer; by default a warning. */
  onWaiting?: OnWaiting | undefined
}

/** Who has it repeats failed requests until they succeed or `signal` is aborted, unless `retries` is set. */
interface Patience {
  signal: AbortSignal | undefined
  outage: Outage
}

export interface Content {
  type: string
  body(): Blob | ReadableStream<Uint8Array>
}

export interface HttpRequest {
  method: string
  path: string
  query?: object | undefined
  body?: unknown
  /** A body that is not JSON; made again for each attempt, which may take any time. */
  content?: Content | undefined
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

const RETRIES = 6
const TIMEOUT_MS = 60_000
const BACKOFF = { baseMs: 300, maxMs: 10_000 }
/** A request that could only succeed later than this fails now. */
const MAX_RETRY_AFTER_SECONDS = 60

const environment = (name: string): string | undefined =>
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name]

const required = (name: string, variable: string, value: string | undefined): string => {
  const found = value?.trim() // it was perhaps read from a file, with the end of its line
  if (found) return found
  throw new AmsError('invalid_input', `${name}: is missing; pass it, or set ${variable}`)
}

/** What cannot be one is refused here: for fetch it is a failure of the network, which is tried again. */
export const headerOf = (name: string, value: string): string => {
  if (/^[ -~]*$/.test(value)) return value
  throw new AmsError('invalid_input', `${name}: must be printable ASCII characters`)
}

const baseOf = (given: string): string => {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new AmsError('invalid_input', 'url: must be an http or https URL')
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`
}

const TEMPORARY = new Set([429, 500, 502, 503, 504])

/** Whether the same request can succeed later; 409 only while the first attempt of a POST still runs. */
export const isTemporary = ({ code, status = 0, message }: AmsError): boolean =>
  code === 'unreachable' || TEMPORARY.has(status) || (status === 409 && message.includes('Idempotency-Key'))

/** `crypto.randomUUID` is missing on pages that were loaded over http. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

const jsonOf = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (response.status === 204) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AmsError('bad_response', 'The response is not JSON.', { status: response.status, cause })
  }
}

/** A field with keys has a parameter for each: `metadata.order=4711`. */
const partsOf = ([name, value]: [string, unknown]): [string, unknown][] => {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || value instanceof Date) return [[name, value]]
  return Object.entries(value).map(([key, one]) => [`${name}.${key}`, one])
}

/** Only the cursor is taken from the URL: the token is for this service only. */
const nextCursorOf = (link: string): string | null => {
  for (const part of link.split(',')) {
    const [target = '', ...parameters] = part.split(';').map((one) => one.trim())
    const isNext = parameters.some((one) => one === 'rel="next"' || one === 'rel=next')
    if (isNext) return new URLSearchParams(target.slice(0, -1).split('?', 2)[1]).get('cursor')
  }
  return null
}

/** Sends requests: adds the token, retries what is safe to retry, and turns failures into `AmsError`. */
export class Http {
  readonly url: string
  readonly outage: Outage
  readonly #options: ClientOptions
  readonly #patience: Patience | undefined
  readonly #token: string
  readonly #fetch: typeof globalThis.fetch
  readonly #retries: number
  readonly #timeoutMs: number

  constructor(options: ClientOptions, patience?: Patience) {
    const { url, token, fetch, retries, timeoutMs, onWaiting } = options
    this.#options = options
    this.#patience = retries === undefined ? patience : undefined
    this.outage = patience?.outage ?? new Outage(onWaiting)
    this.url = baseOf(required('url', 'AMS_URL', url ?? environment('AMS_URL')))
    this.#token = headerOf('token', required('token', 'AMS_TOKEN', token ?? environment('AMS_TOKEN')))
    this.#fetch = fetch ?? ((...args) => globalThis.fetch(...args))
    this.#retries = retries ?? RETRIES
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS
  }

  /** The same, for what must go on once the service is back: for the messages of a loop and all done with them. */
  patient(signal: AbortSignal | undefined): Http {
    return new Http(this.#options, { signal, outage: this.outage })
  }

  /** The JSON of the response; undefined if it has none. */
  json(request: HttpRequest): Promise<unknown> {
    return this.#retrying(request, jsonOf)
  }

  /** A page of a list that is an array: the header `Link` has the cursor of the next one. */
  page<Item>(request: HttpRequest): Promise<Page<Item>> {
    return this.#retrying(request, async (response) => ({
      items: (await jsonOf(response)) as Item[],
      nextCursor: nextCursorOf(response.headers.get('link') ?? ''),
    }))
  }

  /** The content of a file, unread. Once it has begun, nothing limits its time but the signal. */
  content(path: string, signal: AbortSignal | undefined): Promise<ReadableStream<Uint8Array>> {
    return this.#retrying({ method: 'GET', path, signal }, async ({ body }) => {
      if (!body) throw new AmsError('bad_response', 'The response has no content.')
      return signal ? body.pipeThrough(new TransformStream(), { signal }) : body
    })
  }

  /** One attempt; the body of a success is still unread. */
  async once({ method, path, query, body, content, headers, signal }: HttpRequest): Promise<Response> {
    const url = new URL(this.url + path)
    for (const [name, value] of Object.entries(query ?? {}).flatMap(partsOf))
      url.searchParams.set(name, value instanceof Date ? value.toISOString() : `${value}`)
    const fetch = this.#fetch // a browser's must not be called as a method of this object
    const response = await fetch(url, {
      method,
      redirect: 'manual', // the token is for this service only
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(content === undefined ? {} : { 'content-type': content.type }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Streams can be sent in one direction only.
      ...(content === undefined ? {} : { body: content.body(), duplex: 'half' as const }),
      ...(signal ? { signal } : {}),
    })
    if (!response.ok) throw errorOf(response, await response.text())
    this.outage.over()
    return response
  }

  async #attempt<T>(request: HttpRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const deadline = new Deadline(request.signal)
    if (request.content === undefined) deadline.restart(this.#timeoutMs)
    try {
      return await read(await this.once({ ...request, signal: deadline.signal }))
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      if (error instanceof AmsError) throw error
      throw unreachable(this.url, deadline.expired ? `no answer within ${this.#timeoutMs} ms` : error)
    } finally {
      deadline.release()
    }
  }

  async #retrying<T>(request: HttpRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, signal } = request
    const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomKey() } : {}
    const headers = { ...key, ...request.headers }
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt({ ...request, headers }, read)
      } catch (error) {
        if (!(error instanceof AmsError)) throw error
        const { retryAfter = 0, status } = error
        // An earlier attempt deleted it, and its answer was lost.
        if (attempt > 0 && method === 'DELETE' && status === 404) return undefined as T
        const isLast = attempt >= this.#retries || retryAfter > MAX_RETRY_AFTER_SECONDS
        if (!isTemporary(error) || (isLast && !this.#patience)) throw error
        this.outage.waiting(error)
        const delay = backoff(attempt, { ...BACKOFF, atLeastMs: retryAfter * 1000 })
        await pause(delay, signal ?? this.#patience?.signal)
      }
    }
  }
}

/** Node's fetch says why only in the cause. */
const reasonOf = (error: unknown): string => {
  if (typeof error === 'string') return error
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string }
  return cause?.code ?? cause?.message ?? message ?? String(error)
}

export const unreachable = (url: string, error: unknown): AmsError =>
  new AmsError('unreachable', `Cannot reach ${url}: ${reasonOf(error)}`, { cause: error })
