import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { Agent, type Dispatcher } from 'undici'
import { messageOf } from '../core/errors.ts'

/** Where a bucket is, and the credentials for it. */
export interface BucketSettings {
  /** URL of the bucket, without a trailing slash. */
  readonly url: string
  /** What all keys begin with: empty, or with a slash at the end. */
  readonly prefix: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials. */
  readonly sessionToken: string | undefined
}

export type Method = 'PUT' | 'GET' | 'DELETE' | 'HEAD'

/** The store did not do what was asked. The message is for the log and for operators; it has no credentials. */
class StoreError extends Error {
  override readonly name = 'StoreError'
  /** HTTP status; null when there was no response. */
  readonly status: number | null

  constructor(message: string, status: number | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
  }
}

/** Time limits in milliseconds: a connection, and a whole request of up to 40 MiB. */
const CONNECT_MS = 3_000
const REQUEST_MS = 15_000
const MAX_RESPONSE = 128 * 1024 * 1024
const CONNECTIONS = 64

/**
 * Another attempt is made after a response that asks for it (Amazon's "503 SlowDown" is part of normal operation)
 * and for a connection that the server closed, but not after a timeout: the caller has waited long enough.
 */
const AGAIN_MS = 200
const isWorthwhile = (error: unknown): boolean =>
  error instanceof StoreError &&
  (error.status === null ? !isTimeout(error.cause) : error.status >= 500 || error.status === 429)

const isTimeout = (cause: unknown): boolean =>
  /timeout/i.test(`${(cause as Error | undefined)?.name} ${messageOf(cause)}`)

/** Amazon's codes, such as `AccessDenied`; not the rest of the text, which may name the key id. */
const codeIn = (body: string): string => /<Code>(\w{1,64})<\/Code>/.exec(body)?.[1] ?? 'no code'

/**
 * A bucket of an S3-compatible store. Requests are signed by aws4fetch (AWS Signature Version 4), and sent over
 * connections of our own: with time limits, and without proxy settings from the environment.
 */
export class Bucket {
  readonly #settings: BucketSettings
  readonly #origin: string
  readonly #base: string
  readonly #agent = new Agent({
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_MS },
    maxResponseSize: MAX_RESPONSE,
  })
  readonly #signingKeys = new Map<string, ArrayBuffer>()

  constructor(settings: BucketSettings) {
    this.#settings = settings
    const { origin, pathname } = new URL(settings.url)
    this.#origin = origin
    this.#base = pathname === '/' ? '' : pathname
  }

  /** Stores an object, or replaces it. The store compares it with the checksum that the request has. */
  async put(key: string, body: Uint8Array): Promise<void> {
    await this.#send('PUT', key, body)
  }

  /** Returns an object; null if there is none. */
  async get(key: string): Promise<Buffer | null> {
    try {
      return await this.#send('GET', key)
    } catch (error) {
      if (error instanceof StoreError && error.status === 404) return null
      throw error
    }
  }

  /** Deletes an object. Succeeds if there is none. */
  async delete(key: string): Promise<void> {
    try {
      await this.#send('DELETE', key)
    } catch (error) {
      if (!(error instanceof StoreError && error.status === 404)) throw error
    }
  }

  /** Rejects if the bucket cannot be used. */
  async check(): Promise<void> {
    await this.#request('HEAD', null, undefined)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #send(method: Method, key: string, body?: Uint8Array): Promise<Buffer> {
    try {
      return await this.#request(method, key, body)
    } catch (error) {
      if (!isWorthwhile(error)) throw error
      await sleep(AGAIN_MS)
      return this.#request(method, key, body)
    }
  }

  async #request(method: Method, key: string | null, body: Uint8Array | undefined): Promise<Buffer> {
    const path = key === null ? `${this.#base}/` : `${this.#base}/${this.#settings.prefix}${key}`
    const signal = AbortSignal.timeout(REQUEST_MS)
    let response: { status: number; content: Buffer }
    try {
      const headers = await this.#headers(method, path, body)
      const sent = { origin: this.#origin, path, method, headers, signal, body: body ?? null }
      response = await readWhole(await this.#agent.request(sent))
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      throw new StoreError(`${method} failed: ${code ?? message}`, null, error)
    }
    const { status, content } = response
    if (status >= 200 && status < 300) return content
    throw new StoreError(
      `${method} was answered ${status} (${codeIn(content.toString('latin1', 0, 4096))})`,
      status,
    )
  }

  async #headers(method: Method, path: string, body?: Uint8Array): Promise<Record<string, string>> {
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.#settings
    const checksum = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const { headers } = await new AwsV4Signer({
      ...{ method, url: this.#origin + path, service: 's3', region, accessKeyId, secretAccessKey },
      ...(sessionToken === undefined ? {} : { sessionToken }),
      headers: { 'X-Amz-Content-Sha256': checksum },
      cache: this.#signingKeys,
    }).sign()
    return { ...Object.fromEntries(headers), ...(body ? { 'content-type': 'application/octet-stream' } : {}) }
  }
}

const readWhole = async ({ statusCode, body }: Dispatcher.ResponseData) => ({
  status: statusCode,
  content: Buffer.from(await body.arrayBuffer()),
})
