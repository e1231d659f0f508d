import { Client } from 'undici'

/**
 * The HTTP client, in its own process: `{origin, requests, connections, total}` → `{seconds}`. Every response
 * must be a 2xx.
 */

interface Order {
  origin: string
  /** Sent in rotation. */
  requests: { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string }[]
  connections: number
  total: number
}

const ask = async (order: Order, next: () => number | null): Promise<void> => {
  const client = new Client(order.origin, { pipelining: 1 })
  for (let n = next(); n !== null; n = next()) {
    const { method, path, headers, body } = order.requests[n % order.requests.length]!
    const response = await client.request({ method, path, headers, body: body ?? null })
    const text = await response.body.text()
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} responded with ${response.statusCode}: ${text}`)
  }
  await client.close()
}

process.on('message', async (order: Order) => {
  let sent = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: order.connections }, () => ask(order, () => (sent < order.total ? sent++ : null))),
  )
  process.send?.({ seconds: (performance.now() - started) / 1000 })
})
process.on('disconnect', () => process.exit())
process.send?.('up')
