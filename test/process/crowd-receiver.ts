import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The customers' servers, in their own process: one that works, one that never responds, one that fails. Sends
 * their URLs to the parent, then responds to every message with what the working one has received since, as
 * `[path, cursor]`.
 */
let got: [string, string][] = []

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const working: RequestListener = async (request, response) => {
  const { cursor } = JSON.parse(await bodyOf(request))
  got.push([request.url ?? '', cursor])
  response.writeHead(204).end()
}
const hanging: RequestListener = (request) => void request.resume()
const failing: RequestListener = (request, response) => {
  request.resume()
  response.writeHead(500).end()
}

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

process.on('message', () => {
  process.send?.(got)
  got = []
})
process.on('disconnect', () => process.exit())
process.send?.({
  working: await listen(working),
  hanging: await listen(hanging),
  failing: await listen(failing),
})
