import type { components } from './api.ts'
import { AmsError } from './errors.ts'

export type WebhookPayload = components['schemas']['WebhookPayload']

type Bytes = Uint8Array<ArrayBuffer>
type Headers = { get(name: string): string | null } | Record<string, string | string[] | undefined>

/**
 * A request as servers have it: a `Request` of fetch, Node's `IncomingMessage`, or an object with the headers
 * and the body as it came. A body that was parsed already cannot be verified.
 */
export type WebhookRequest =
  | { headers: Headers; arrayBuffer(): Promise<ArrayBuffer> }
  | { headers: Headers; body: string | Uint8Array }
  | ({ headers: Headers } & AsyncIterable<Uint8Array | string>)

export interface VerifyOptions {
  /** How far the sender's clock may differ from this one; 300 by default. */
  toleranceSeconds?: number
}

const MAX_BODY_BYTES = 1024 * 1024

const bad = (why: string, cause?: unknown) =>
  new AmsError('bad_signature', `The webhook request ${why}.`, { cause })

const encode = (text: string): Bytes => new TextEncoder().encode(text) as Bytes
const decode = (base64: string): Bytes => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))

const headerOf = (headers: Headers, name: string): string => {
  const value =
    typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, string>)[name]
  if (typeof value === 'string' && value !== '') return value
  throw bad(`has no ${name} header`)
}

const collect = async (chunks: AsyncIterable<Uint8Array | string>): Promise<Bytes> => {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    const part = typeof chunk === 'string' ? encode(chunk) : chunk
    size += part.length
    if (size > MAX_BODY_BYTES) throw bad(`is larger than ${MAX_BODY_BYTES} bytes`)
    parts.push(part)
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer())
}

const bodyOf = async (request: WebhookRequest): Promise<Bytes> => {
  if ('arrayBuffer' in request && typeof request.arrayBuffer === 'function')
    return new Uint8Array(await request.arrayBuffer())
  const { body } = request as { body?: unknown }
  if (typeof body === 'string') return encode(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  if (Symbol.asyncIterator in request && body === undefined) return collect(request)
  throw bad('was parsed before it was verified: pass its body as text or bytes')
}

const keyOf = (secret: string): Promise<CryptoKey> => {
  let bytes: Bytes
  try {
    bytes = decode(secret.replace(/^whsec_/, ''))
  } catch (cause) {
    throw new AmsError('invalid_input', 'secret: must be whsec_ and base64', { cause })
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

const signaturesOf = (header: string): Bytes[] =>
  header.split(' ').flatMap((part) => {
    const [version, value = ''] = part.split(',')
    try {
      return version === 'v1' ? [decode(value)] : []
    } catch {
      return []
    }
  })

/**
 * The payload of a webhook request, once it is certain that the service sent it: signed (Standard Webhooks) with
 * one of the secrets, and recently. With a template, `Payload` is what that makes. Throws `bad_signature` otherwise.
 */
export const verifyWebhook = async <Payload = WebhookPayload>(
  request: WebhookRequest,
  secrets: string | string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<Payload> => {
  const id = headerOf(request.headers, 'webhook-id')
  const timestamp = headerOf(request.headers, 'webhook-timestamp')
  const signatures = signaturesOf(headerOf(request.headers, 'webhook-signature'))
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!/^\d{1,12}$/.test(timestamp) || age > toleranceSeconds) throw bad('is too old, or the clocks differ')
  const body = await bodyOf(request)
  const head = encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  for (const secret of [secrets].flat()) {
    const key = await keyOf(secret)
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return parse(body)
  }
  throw bad('is not signed with this secret')
}

const parse = <Payload>(body: Bytes): Payload => {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch (cause) {
    throw bad('is not JSON', cause)
  }
}
