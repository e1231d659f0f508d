import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { until } from './until.ts'

/** One POST as it arrived. */
export interface Received {
  path: string
  headers: Record<string, string>
  body: string
  /** Body verified by `standardwebhooks`; null without a secret, or when the signature is not valid. */
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  verified: any
  /** `performance.now()` when the whole request had arrived. */
  at: number
}

/** A status, a response, or a function that handles the response. */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | ((res: ServerResponse, got: Received) => void)

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** Maximum number of POSTs to one path that were ever in flight concurrently. */
  readonly mostAtOnce: number
  /** Total number of TCP connections to the receiver. */
  readonly connections: number
  /** Sets the secret with which POSTs to a path are verified. */
  expect(path: string, secret: string): void
  /** Sets the answers to the next POSTs to a path, in order; after them, 204 again. */
  answer(path: string, ...answers: Answer[]): void
  /** Sets the answer to every POST to a path once those of `answer` are used up. */
  always(path: string, answer: Answer): void
  /** Resolves with the POSTs to a path once there are at least `count`. */
  got(path: string, count: number): Promise<Received[]>
  close(): Promise<void>
}

const readBody = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const reply = (res: ServerResponse, got: Received, answer: Answer) => {
  if (typeof answer === 'function') answer(res, got)
  else if (typeof answer === 'number') res.writeHead(answer).end()
  else res.writeHead(answer.status, answer.headers).end(answer.body)
}

const verify = (secret: string | undefined, headers: Record<string, string>, body: string): unknown => {
  if (secret === undefined) return null
  try {
    return new Webhook(secret).verify(body, headers)
  } catch {
    return null
  }
}

/** Starts a customer's server: real HTTP, or HTTPS with a certificate. */
export const createReceiver = async (
  options: { tls?: { key: string; cert: string } } = {},
): Promise<Receiver> => {
  const received: Received[] = []
  const secrets = new Map<string, string>()
  const scripts = new Map<string, Answer[]>()
  const constant = new Map<string, Answer>()
  const inFlight = new Map<string, number>()
  const sockets = new Set<Socket>()
  let mostAtOnce = 0
  let connections = 0

  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const path = req.url ?? '/'
    const now = (inFlight.get(path) ?? 0) + 1
    inFlight.set(path, now)
    mostAtOnce = Math.max(mostAtOnce, now)
    res.on('close', () => inFlight.set(path, inFlight.get(path)! - 1))
    const body = await readBody(req)
    const headers = req.headers as Record<string, string>
    const got = {
      path,
      headers,
      body,
      verified: verify(secrets.get(path), headers, body),
      at: performance.now(),
    }
    const answer = scripts.get(path)?.shift() ?? constant.get(path) ?? 204
    received.push(got)
    reply(res, got, answer)
  }

  const listener = (req: IncomingMessage, res: ServerResponse) =>
    void handle(req, res).catch(() => res.destroy())
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener)
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const to = (path: string) => received.filter((one) => one.path === path)
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    received,
    get mostAtOnce() {
      return mostAtOnce
    },
    get connections() {
      return connections
    },
    expect: (path, secret) => secrets.set(path, secret),
    answer: (path, ...answers) => scripts.set(path, [...(scripts.get(path) ?? []), ...answers]),
    always: (path, answer) => constant.set(path, answer),
    got: (path, count) => until(() => to(path).length >= count && to(path)),
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
