import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The receiver, in its own process, sends its port and then responds to POSTs with 204. `{secrets}` (by path) is
 * answered with `'known'`; `{count}` with `'waiting'` and, once that many POSTs have arrived, with their
 * `webhook-id`s and times (milliseconds since 1970). It ends at a wrong signature, and when the events of a path
 * are not 1, 2, 3 and so on.
 */
interface Endpoint {
  key: KeyObject
  last: number
}

const endpoints = new Map<string, Endpoint>()
let left = 0
let arrivals: [string, number][] = []

const keyOf = (secret: string) => createSecretKey(Buffer.from(secret.slice('whsec_'.length), 'base64'))

/** Throws unless this is the next event of its path, with the signature of Standard Webhooks. */
const check = (path: string, headers: IncomingHttpHeaders, body: Buffer): void => {
  const endpoint = endpoints.get(path)
  if (!endpoint) throw new Error(`nobody expects a POST to ${path}`)
  const id = String(headers['webhook-id'])
  const signature = createHmac('sha256', endpoint.key)
    .update(`${id}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64')
  if (headers['webhook-signature'] !== `v1,${signature}`) throw new Error(`wrong signature of ${id}`)
  const event = Number(/(\d+)$/.exec(id)?.[1])
  if (event !== endpoint.last + 1) throw new Error(`event ${event} after ${endpoint.last} at ${path}`)
  endpoint.last = event
}

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now()
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    check(request.url!, request.headers, Buffer.concat(chunks))
    response.writeHead(204).end()
    arrivals.push([String(request.headers['webhook-id']), at])
    if (arrivals.length === left) process.send?.(arrivals)
  })
})
server.keepAliveTimeout = 60_000
process.on('message', (order: { secrets: Record<string, string> } | { count: number }) => {
  if ('secrets' in order) {
    for (const [path, secret] of Object.entries(order.secrets))
      endpoints.set(path, { key: keyOf(secret), last: 0 })
    process.send?.('known')
  } else {
    left = order.count
    arrivals = []
    process.send?.('waiting')
  }
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
