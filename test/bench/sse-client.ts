import { connect, type Socket } from 'node:net'

/**
 * Many readers of event streams, in their own process. `{open: {port, count, request}}` → `'open'` once each
 * has received its first bytes; `{wait: marker}` → `{last}`, the time in milliseconds since 1970 at which the
 * last one received the marker; `'close'` → `'closed'`.
 */

let sockets: Socket[] = []
let seen = 0
let marker: Buffer | null = null
const now = () => performance.timeOrigin + performance.now()

const open = async ({
  port,
  count,
  request,
}: {
  port: number
  count: number
  request: string
}): Promise<void> => {
  for (let n = 0; n < count; n += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, count - n) }, async () => {
        const socket = connect(port, '127.0.0.1')
        sockets.push(socket)
        socket.on('error', () => undefined)
        socket.write(request)
        await new Promise((resolve) => socket.once('data', resolve))
        socket.on('data', (chunk: Buffer) => {
          if (marker === null || !chunk.includes(marker)) return
          seen++
          if (seen === sockets.length) process.send?.({ last: now() })
        })
      }),
    )
  }
  process.send?.('open')
}

process.on('message', (order: { open?: Parameters<typeof open>[0]; wait?: string } | 'close') => {
  if (order === 'close') {
    for (const socket of sockets) socket.destroy()
    sockets = []
    process.send?.('closed')
  } else if (order.open) void open(order.open)
  else if (order.wait !== undefined) {
    seen = 0
    marker = Buffer.from(order.wait)
    process.send?.('waiting')
  }
})
process.on('disconnect', () => process.exit())
process.send?.('up')
