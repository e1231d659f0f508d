import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** How the stand-in answers one request. A number in `stream` is the event with that id. */
export interface Answer {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  /** The code and the message of an error body. */
  error?: [code: string, message?: string]
  text?: string
  stream?: (number | string)[]
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

const frameOf = (frame: number | string): string =>
  typeof frame === 'number' ? `id: ${frame}\ndata: ${JSON.stringify(eventOf(frame))}\n\n` : frame

async function stream(response: ServerResponse, { stream: frames = [], cut, hold }: Answer): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': open\n\n')
  for (const frame of frames) {
    const bytes = Buffer.from(frameOf(frame))
    response.write(bytes.subarray(0, bytes.length / 2)) // pieces that end anywhere
    await sleep(5)
    response.write(bytes.subarray(bytes.length / 2))
  }
  await sleep(5)
  if (cut === 'after') response.destroy()
  else if (!hold) response.end()
}

async function write(response: ServerResponse, answer: Answer): Promise<unknown> {
  const { status = 200, headers = {}, error: [code, message = 'Why.'] = [], cut, hold } = answer
  const { json = { error: { code, message } }, text = JSON.stringify(json) } = answer
  if (cut === 'before') return response.destroy()
  if (answer.stream) return stream(response, answer)
  if (hold) return undefined
  if (status === 204) return response.writeHead(204, headers).end()
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers })
  if (cut !== 'inside') return response.end(text)
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
