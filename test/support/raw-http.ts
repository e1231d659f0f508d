import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

const open = (base: string): Socket => {
  const { hostname, port } = new URL(base)
  return connect(Number(port), hostname)
    .pause()
    .on('error', () => undefined)
}

/** Reads until the server closes the connection, and parses the first response. */
const read = async (socket: Socket): Promise<RawAnswer> => {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const [head = '', ...body] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(
      lines.map((line) => [line.split(': ', 1)[0]!.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
    ),
    body: body.join('\r\n\r\n'),
  }
}

/** Sends bytes to `http://host:port` as they are, and returns the first response. */
export const rawHttp = (base: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> => {
  const socket = open(base)
  for (const part of parts) socket.write(part)
  return read(socket)
}

/** The same, but reads nothing before everything was sent. */
export const rawHttpInTurn = async (base: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> => {
  const socket = open(base)
  const failed = new Promise((resolve) => socket.once('close', resolve))
  for (const part of parts)
    await Promise.race([failed, new Promise((resolve) => socket.write(part, resolve))])
  return read(socket)
}
