import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DkimKey, type Letter, rawOf } from '../support/mail.ts'

/**
 * The SMTP client, in its own process: `smtp-client.ts KEY`, the DKIM key of example.com as JSON.
 * `{prepare: {kind, mails, to}}` → `'prepared'`: composes and signs mails of 10 KB (those of strangers are from a domain each that
 * does not exist), or with a file of 50 KB; `{port, sessions, rate}` →
 * `{seconds, answers, startedAt, ends}`: sends them, and returns for each the milliseconds from the end of DATA to
 * the 250, and when DATA ended (milliseconds since 1970).
 */

export interface Sent {
  seconds: number
  answers: number[]
  startedAt: number
  ends: number[]
}

export type MailKind = 'plain' | 'scripts' | 'strangers' | 'signed' | 'file'

interface Sending {
  port: number
  sessions: number
  /** Mails a second; without it, as many as are answered. */
  rate?: number
}
type Order = { prepare: { kind: MailKind; mails: number; to: string[] } } | Sending

interface Prepared {
  envelope: string
  data: Buffer
}

const BYTES = 10_000
const FILE_BYTES = 50_000
const key = JSON.parse(process.argv[2]!) as DkimKey
const LINE = 'The quick brown fox jumps over the lazy dog, and it does so many times.\n'
/** The same in Latin, Cyrillic, Greek, Chinese and Japanese script. */
const SCRIPTS = [
  LINE,
  'Быстрая коричневая лиса перепрыгивает через ленивую собаку, и делает это много раз.\n',
  'Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί, και το κάνει πολλές φορές.\n',
  '敏捷的棕色狐狸跳过了那只懒狗，而且它这样做了很多次。\n',
  '素早い茶色の狐がのろまな犬を飛び越え、それを何度も繰り返します。\n',
]
/** The base64 of the attachment and the two bodies are about 10 KB together. */
const FILE = Buffer.from(LINE.repeat(45))
let made = 0
let prepared: Prepared[] = []

const senderOf = (kind: MailKind, n: number): string =>
  `ann${n}@${kind === 'strangers' ? `n${process.pid}-${n}.example.net` : 'example.com'}`

const letterOf = (kind: MailKind, n: number, to: string): Letter => {
  const head = {
    from: `Ann Example <${senderOf(kind, n)}>`,
    to,
    subject: `Order ${n}`,
    messageId: `<${process.pid}.${n}@example.com>`,
  }
  if (kind === 'plain' || kind === 'strangers')
    return { ...head, text: LINE.repeat(Math.round(BYTES / LINE.length)) }
  if (kind === 'scripts') {
    const all = SCRIPTS.join('')
    return { ...head, text: all.repeat(Math.round(BYTES / Buffer.byteLength(all))) }
  }
  if (kind === 'file')
    return { ...head, text: LINE, attachments: [{ filename: 'order.bin', content: randomBytes(FILE_BYTES) }] }
  const html = `<p>Hello, this is about <b>order ${n}</b>.</p>${`<p style="color: #333">${LINE}</p>`.repeat(30)}`
  const attachments = [{ filename: 'order.pdf', contentType: 'application/pdf', content: FILE }]
  return { ...head, text: LINE.repeat(20), html, attachments, sign: key }
}

const prepare = async ({ kind, mails, to }: { kind: MailKind; mails: number; to: string[] }) => {
  prepared = []
  for (let i = 0; i < mails; i++) {
    const n = made++
    const recipient = to[n % to.length]!
    const raw = await rawOf(letterOf(kind, n, recipient))
    const envelope = `MAIL FROM:<${senderOf(kind, n)}>\r\nRCPT TO:<${recipient}>\r\nDATA\r\n`
    prepared.push({ envelope, data: Buffer.concat([raw, Buffer.from('\r\n.\r\n')]) })
  }
}

/** Returns a function that resolves with the last line of the next reply. */
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
  const next = async () => lines.shift() ?? new Promise<string>((resolve) => waiting.push(resolve))
  return async (code: string) => {
    const line = await next()
    if (!line.startsWith(code)) throw new Error(`expected ${code}, got ${line}`)
  }
}

/** Opens a session, so that greetings, which some servers delay, do not count. */
const openSession = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const expect = createReader(socket)
  await expect('220')
  socket.write('EHLO bench.example.com\r\n')
  await expect('250')
  return { socket, expect }
}

const sendAll = async ({ port, sessions, rate = Number.POSITIVE_INFINITY }: Sending): Promise<Sent> => {
  const open = await Promise.all(Array.from({ length: sessions }, () => openSession(port)))
  const answers: number[] = []
  const ends: number[] = []
  const mails = prepared.entries()
  const started = performance.now()
  await Promise.all(
    open.map(async ({ socket, expect }) => {
      for (const [n, { envelope, data }] of mails) {
        const early = started + (n * 1_000) / rate - performance.now()
        if (early > 0) await sleep(early)
        socket.write(envelope)
        for (const code of ['250', '250', '354']) await expect(code)
        const ended = performance.now()
        ends.push(performance.timeOrigin + ended)
        socket.write(data)
        await expect('250')
        answers.push(performance.now() - ended)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  for (const { socket } of open) {
    socket.end('QUIT\r\n')
    if (!socket.destroyed) await once(socket, 'close')
  }
  return { seconds, answers, startedAt: performance.timeOrigin + started, ends }
}

process.on('message', async (order: Order) => {
  if ('prepare' in order) {
    await prepare(order.prepare)
    process.send?.('prepared')
  } else process.send?.(await sendAll(order))
})
process.on('disconnect', () => process.exit())
process.send?.('up')
