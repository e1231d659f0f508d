import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Many readers of event streams that check what they receive, in their own process. `{port, requests}` → the number
 * of open streams, once each has received its first bytes; `'count'` → the number of events received since then. It
 * ends when the events of a stream are not 1, 2, 3 and so on.
 */

/** Streams that are opened at a time. */
const AT_ONCE = 25
const ID = /^id: (\d+)\nevent: message\.received$/gm

let opened = 0
let received = 0

const openOne = async (port: number, request: string): Promise<void> => {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('latin1').on('error', () => undefined)
  socket.write(request)
  const [head] = (await once(socket, 'data')) as [string]
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(head)
  let last = 0
  let rest = ''
  socket.on('data', (chunk: string) => {
    const text = rest + chunk
    const end = text.lastIndexOf('\n\n') + 1
    rest = text.slice(end)
    for (const [, id] of text.slice(0, end).matchAll(ID)) {
      if (Number(id) !== last + 1) throw new Error(`event ${id} after ${last}: ${request.split('\r\n')[0]}`)
      last = Number(id)
      received++
    }
  })
  socket.on('close', () => {
    throw new Error(`a stream was closed: ${request.split('\r\n')[0]}`)
  })
  opened++
}

const open = async ({ port, requests }: { port: number; requests: string[] }): Promise<void> => {
  const left = requests.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const request of left) await openOne(port, request)
    }),
  )
  process.send?.(opened)
}

process.on('message', (order: { port: number; requests: string[] } | 'count') => {
  if (order === 'count') process.send?.(received)
  else void open(order)
})
process.on('disconnect', () => process.exit())
process.send?.('up')
