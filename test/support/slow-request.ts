import { connect } from 'node:net'

/**
 * A request whose head and first body byte have been sent; `finish` sends the rest and resolves with the
 * response's status and body.
 */
export interface SlowRequest {
  finish(): Promise<{ status: number; body: string }>
}

/** Starts a request with a JSON body to `http://host:port` and sends only the body's first byte. */
export const beginRequest = async (
  base: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
  more: Record<string, string> = {},
): Promise<SlowRequest> => {
  const { hostname, port } = new URL(base)
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {
    Host: 'localhost',
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    Connection: 'close',
    ...more,
  }
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  const answer = new Promise<string>((resolve) => {
    socket.on('error', () => undefined).on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  socket.write(bytes.subarray(0, 1))
  return {
    finish: async () => {
      socket.write(bytes.subarray(1))
      const text = await answer
      return { status: Number(text.split(' ')[1]), body: text.slice(text.indexOf('\r\n\r\n') + 4) }
    },
  }
}
