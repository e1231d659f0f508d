import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * The SMTP client, in its own process: `{port, sessions, mails, to, bytes}` → `{seconds}`. Every mail must be
 * answered with 250.
 */

interface Order {
  port: number
  sessions: number
  mails: number
  to: string[]
  bytes: number
}

let made = 0

const mail = (to: string, bytes: number): string => {
  const n = made++
  const head = `From: Ann Example <ann${n}@example.com>\r\nTo: ${to}\r\nSubject: Order ${n}\r\nMessage-ID: <${process.pid}.${n}@example.com>\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`
  const line = `The quick brown fox jumps over the lazy dog, and it does so ${n} times.\r\n`
  return head + line.repeat(Math.max(1, Math.ceil((bytes - head.length) / line.length)))
}

/** Resolves with the last line of the next reply; replies of several lines count as one. */
const createReader = (socket: Socket) => {
  let pending = ''
  const lines: string[] = []
  const waiting: ((line: string) => void)[] = []
  socket.setEncoding('latin1').on('data', (chunk) => {
    pending += chunk
    const complete = pending.split('\r\n')
    pending = complete.pop() ?? ''
    for (const line of complete) {
      if (line[3] === '-') continue
      const reader = waiting.shift()
      if (reader) reader(line)
      else lines.push(line)
    }
  })
  return async () => lines.shift() ?? new Promise<string>((resolve) => waiting.push(resolve))
}

const session = async ({ port, to, bytes }: Order, next: () => number | null): Promise<void> => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const reply = createReader(socket)
  const expect = async (code: string) => {
    const line = await reply()
    if (!line.startsWith(code)) throw new Error(`expected ${code}, got ${line}`)
  }
  await expect('220')
  socket.write('EHLO bench.example.com\r\n')
  await expect('250')
  for (let n = next(); n !== null; n = next()) {
    const recipient = to[n % to.length]!
    socket.write(`MAIL FROM:<ann${n}@example.com>\r\nRCPT TO:<${recipient}>\r\nDATA\r\n`)
    for (const code of ['250', '250', '354']) await expect(code)
    socket.write(`${mail(recipient, bytes)}.\r\n`)
    await expect('250')
  }
  socket.end('QUIT\r\n')
  await once(socket, 'close')
}

process.on('message', async (order: Order) => {
  let sent = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: order.sessions }, () => session(order, () => (sent < order.mails ? sent++ : null))),
  )
  process.send?.({ seconds: (performance.now() - started) / 1000 })
})
process.on('disconnect', () => process.exit())
process.send?.('up')
