import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, createGzip, gzipSync } from 'node:zlib'

/** A number is the event with this id; one of a size has a text of so many characters, and comes in small pieces. */
export type Frame = number | string | { id: number; size: number }

/** How the stand-in answers one request. With the header `content-encoding: gzip` the body is compressed. */
export interface Answer {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  /** The code and the message of an error body. */
  error?: [code: string, message?: string]
  text?: string
  stream?: Frame[]
  /** Cuts the connection off: before the answer, in the middle of its body, or at the end of a stream. */
  cut?: 'before' | 'inside' | 'after'
  /** Leaves a stream open, or answers nothing at all. */
  hold?: boolean
}

export interface Seen {
  request: string
  key: string | null
  body: unknown
  authorization: string | null
}

const ID = 'A'
/** What one packet holds. */
const SEGMENT = 1_400
const isZipped = (headers: Record<string, string>): boolean => headers['content-encoding'] === 'gzip'

const eventOf = (id: number) => ({
  id,
  type: 'message.received',
  channel: 'email',
  messageId: `m${id}`,
  createdAt: '2026-11-20T09:30:00.000Z',
  sender: { id: null, kind: 'contact', name: null, email: 'ann@example.com', phone: null },
  mayInstruct: false,
})

const messageOf = (id: string) => ({
  id,
  channel: 'email',
  subject: `mail ${id.slice(1)}`,
  counterpart: 'ann@example.com',
  replyText: 'hi',
  attachments: [{ name: 'a.txt', type: 'text/plain', size: 3 }],
})

/** What needs no script: the client connects, and reads a message. */
const routine = (request: string): Answer | undefined => {
  if (request === `PUT /agents/${ID}/connection`) return { json: { id: 'c' } }
  const read = new RegExp(`^GET /agents/${ID}/messages/(m\\d+)$`).exec(request)
  return read?.[1] ? { json: messageOf(read[1]) } : undefined
}

const frameOf = (frame: Frame): string => {
  if (typeof frame === 'string') return frame
  const { id, size } = typeof frame === 'number' ? { id: frame, size: 0 } : frame
  return `id: ${id}\ndata: ${JSON.stringify({ ...eventOf(id), text: 'ü'.repeat(size) })}\n\n`
}

/** Pieces that end anywhere: two, or of what is large as many as a slow network makes. */
const piecesOf = (bytes: Buffer): Buffer[] => {
  const length = Math.min(Math.ceil(bytes.length / 2), SEGMENT)
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) =>
    bytes.subarray(n * length, (n + 1) * length),
  )
}

const bodyOf = (response: ServerResponse, headers: Record<string, string>): Writable => {
  if (!isZipped(headers)) return response
  const zipped = createGzip({ flush: constants.Z_SYNC_FLUSH })
  zipped.pipe(response)
  return zipped
}

async function stream(
  response: ServerResponse,
  { stream: frames = [], headers = {}, cut, hold }: Answer,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  const body = bodyOf(response, headers)
  body.write(': open\n\n')
  for (const frame of frames) {
    for (const piece of piecesOf(Buffer.from(frameOf(frame)))) {
      body.write(piece)
      if (typeof frame !== 'object') await sleep(5)
    }
  }
  await sleep(5)
  if (cut === 'after') response.destroy()
  else if (!hold) body.end()
}

async function write(response: ServerResponse, answer: Answer): Promise<unknown> {
  const { status = 200, headers = {}, error: [code, message = 'Why.'] = [], cut, hold } = answer
  const { json = { error: { code, message } }, text = JSON.stringify(json) } = answer
  if (cut === 'before') return response.destroy()
  if (answer.stream) return stream(response, answer)
  if (hold) return undefined
  if (status === 204) return response.writeHead(204, headers).end()
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers })
  if (cut !== 'inside') return response.end(isZipped(headers) ? gzipSync(text) : text)
  response.write(text.slice(0, text.length / 2))
  await sleep(5)
  return response.destroy()
}

/**
 * A service that misbehaves: each base path below its URL is one of its own, with a script of answers that it gives in turn.
 */
export class StandIn {
  readonly #server = createServer((request, response) =>
    this.#answer(request, response).catch(() => response.destroy()),
  )
  readonly #scripts = new Map<string, Answer[]>()
  readonly #seen = new Map<string, Seen[]>()

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  script(base: string, answers: Answer[]): void {
    this.#scripts.set(base, [...answers])
    this.#seen.set(base, [])
  }

  seen(base: string): Seen[] {
    return this.#seen.get(base)!
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, base = '', path = ''] = /^(\/\w+\/\d+)(\/.*)$/.exec(incoming.url ?? '') ?? []
    const { 'idempotency-key': key, authorization } = incoming.headers
    const content = await textOf(incoming)
    const isJson = incoming.headers['content-type'] === 'application/json'
    const request = `${incoming.method} ${path}`
    this.#seen.get(base)?.push({
      request,
      key: key === undefined ? null : String(key),
      body: isJson ? JSON.parse(content) : content || null,
      authorization: authorization ?? null,
    })
    const unexpected: Answer = { status: 400, error: ['invalid_input', 'Not expected.'] }
    await write(response, routine(request) ?? this.#scripts.get(base)?.shift() ?? unexpected)
  }
}
