import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { withResolvers } from '../core/with-resolvers.ts'

export interface Delivered {
  eventId: string
  at: number
}

/** A customer's server, which accepts webhook deliveries only after verifying their signature. */
export interface Receiver {
  readonly url: string
  /** Sets the secret to verify with, as returned by the service for this URL. */
  trust(secret: string): void
  /** The first verified delivery. Rejects when a delivery with an invalid signature arrives. */
  readonly delivered: Promise<Delivered>
  stop(): Promise<void>
}

/** Opens a receiver on a free local port. */
export const openReceiver = async (): Promise<Receiver> => {
  let webhook: Webhook | undefined
  const { promise, resolve, reject } = withResolvers<Delivered>()
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
