import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The receiver, in its own process: responds to POSTs with 204. Once the expected number has arrived, it sends
 * their `webhook-id`s and times (milliseconds since 1970) to the parent.
 */
let left = 0
let arrivals: [string, number][] = []

const server = createServer((req, res) => {
  arrivals.push([String(req.headers['webhook-id']), performance.timeOrigin + performance.now()])
  req.resume()
  req.on('end', () => {
    res.writeHead(204).end()
    if (--left !== 0) return
    process.send?.(arrivals)
    arrivals = []
  })
})
server.keepAliveTimeout = 60_000
process.on('message', (count: number) => {
  left = count
  arrivals = []
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
