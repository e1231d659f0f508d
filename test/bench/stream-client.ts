import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * Many readers of event streams, in their own process. `{port, requests}` → `'open'` once each has received
 * its first bytes; `{frames}` → `'waiting'`, then `'all'` once each has received that many more events;
 * `'close'` → `'closed'`.
 */
const START = Buffer.from('\ndata: ')

interface Reader {
  socket: Socket
  /** Number of frames still expected, and the end of the last chunk. */
  left: number
  tail: Buffer
}

let readers: Reader[] = []
let waiting = 0

const take = (reader: Reader, chunk: Buffer): void => {
  const text = reader.tail.length > 0 ? Buffer.concat([reader.tail, chunk]) : chunk
  let at = 0
  for (let found = text.indexOf(START); found >= 0; found = text.indexOf(START, at)) {
    at = found + START.length
    if (--reader.left === 0 && --waiting === 0) process.send?.('all')
  }
  reader.tail = text.subarray(Math.max(at, text.length - START.length + 1))
}

const openOne = async (port: number, request: string): Promise<void> => {
  const socket = connect(port, '127.0.0.1')
  const reader = { socket, left: 0, tail: Buffer.alloc(0) }
  readers.push(reader)
  socket.on('error', () => undefined)
  socket.write(request)
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(head.toString())
  socket.on('data', (chunk: Buffer) => take(reader, chunk))
}

const open = async ({ port, requests }: { port: number; requests: string[] }): Promise<void> => {
  for (let n = 0; n < requests.length; n += 50)
    await Promise.all(requests.slice(n, n + 50).map((request) => openOne(port, request)))
  process.send?.('open')
}

process.on('message', (order: { port: number; requests: string[] } | { frames: number } | 'close') => {
  if (order === 'close') {
    for (const { socket } of readers) socket.destroy()
    readers = []
    process.send?.('closed')
  } else if ('requests' in order) void open(order)
  else {
    waiting = readers.length
    for (const reader of readers) reader.left = order.frames
    process.send?.('waiting')
  }
})
process.on('disconnect', () => process.exit())
process.send?.('up')
