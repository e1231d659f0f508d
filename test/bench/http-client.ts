import { connect, type Socket } from 'node:net'
import { percentile } from './row.ts'

/**
 * The HTTP client, in its own process: `{origin, requests, connections, total}` → `{seconds, p99}`, the latter in
 * milliseconds. Every response must be a 2xx. It reads only the status and the length of a response, so that it leaves the CPU to the server.
 */

interface Order {
  origin: string
  /** Sent in rotation. */
  requests: { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string }[]
  connections: number
  total: number
}

const bytesOf = (host: string, { method, path, headers, body }: Order['requests'][number]): Buffer => {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host, ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

const END = '\r\n\r\n'

/** Returns whether `received` is one whole response. Throws when it is not a 2xx. */
const isWhole = (received: Buffer): boolean => {
  const end = received.indexOf(END)
  if (end < 0) return false
  const head = received.toString('latin1', 0, end)
  if (head[9] !== '2') throw new Error(received.toString('utf8', 0, 2_000))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length) return received.length >= end + END.length + Number(length[1])
  return received.subarray(-5).toString('latin1') === `0${END}`
}

/** Sends one request after the other, until `next` returns null. */
const converse = (socket: Socket, next: () => Buffer | null, took: (ms: number) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    let parts: Buffer[] = []
    let sentAt = 0
    const send = () => {
      const request = next()
      sentAt = performance.now()
      if (request === null) {
        socket.destroy()
        resolve()
      } else socket.write(request)
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (chunk) => {
      parts.push(chunk)
      try {
        if (!isWhole(parts.length === 1 ? chunk : Buffer.concat(parts))) return
      } catch (error) {
        return reject(error)
      }
      parts = []
      took(performance.now() - sentAt)
      send()
    })
    socket.once('connect', send)
  })

process.on('message', async ({ origin, requests, connections, total }: Order) => {
  const { hostname, port, host } = new URL(origin)
  const prepared = requests.map((request) => bytesOf(host, request))
  let sent = 0
  const next = () => (sent < total ? prepared[sent++ % prepared.length]! : null)
  const times: number[] = []
  const started = performance.now()
  await Promise.all(
    Array.from({ length: connections }, () =>
      converse(connect({ host: hostname, port: Number(port), noDelay: true }), next, (ms) => times.push(ms)),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  process.send?.({ seconds, p99: percentile(times, 0.99) })
})
process.on('disconnect', () => process.exit())
process.send?.('up')
