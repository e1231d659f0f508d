import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Delivered {
  eventId: string
  at: number
}

/** A customer's server: takes webhooks and believes only those whose signature it has verified. */
export interface Receiver {
  readonly url: string
  /** What it verifies with: the secret that the service gave for its URL. */
  trust(secret: string): void
  /** The first verified delivery. Rejects when one with a bad signature comes in. */
  readonly delivered: Promise<Delivered>
  stop(): Promise<void>
}

/** Opens a receiver on a free port of this machine. */
export const openReceiver = async (): Promise<Receiver> => {
  let webhook: Webhook | undefined
  const { promise, resolve, reject } = promiseWithResolvers<Delivered>()
  promise.catch(() => undefined)
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    try {
      const event = webhook?.verify(body, request.headers as Record<string, string>) as { eventId: string }
      resolve({ eventId: event.eventId, at: performance.now() })
      response.writeHead(204).end()
    } catch (error) {
      reject(error)
      response.writeHead(401).end()
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    trust: (secret) => {
      webhook = new Webhook(secret)
    },
    delivered: promise,
    stop: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** Promise.withResolvers, which Node 20 hasn't. */
const promiseWithResolvers = <Value>() => {
  let resolve: (value: Value) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<Value>((res, rej) => {
    resolve = res
    reject = rej
  })
  return { promise, resolve, reject }
}
