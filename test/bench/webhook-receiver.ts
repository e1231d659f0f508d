import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The receiving end, in a process of its own: takes POSTs, answers 204, and says when as many have come as it was told to expect. */
let left = 0

const server = createServer((req, res) => {
  req.resume()
  req.on('end', () => {
    res.writeHead(204).end()
    if (--left === 0) process.send?.('done')
  })
})
server.keepAliveTimeout = 60_000
process.on('message', (count: number) => {
  left = count
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
