import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'

export interface LatencyOptions {
  smtpPort: number
  to: string
  streamUrl: string
  token: string
  mails: number
  /** Keeps the Message-IDs of this run apart from those of others. */
  tag: string
}

interface Percentiles {
  p50: number
  p99: number
}

/**
 * Milliseconds from the end of DATA to the 250, from there to the event, and between the two (below 0 if the
 * event arrived first).
 */
export interface Latencies {
  answer: Percentiles
  event: Percentiles
  after: Percentiles
}

const percentiles = (values: number[]): Percentiles => {
  const sorted = values.toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(sorted.length * 0.5)]!, p99: sorted[Math.floor(sorted.length * 0.99)]! }
}

/** Reads a stream, and resolves with the time at which each `data:` line arrives. */
const arrivals = async (url: string, token: string) => {
  const abort = new AbortController()
  const response = await fetch(url, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    signal: abort.signal,
  })
  const waiting: ((at: number) => void)[] = []
  const read = async () => {
    for await (const line of createInterface({ input: Readable.fromWeb(response.body as never) })) {
      if (line.startsWith('data: ')) waiting.shift()?.(performance.now())
    }
  }
  read().catch(() => undefined)
  return { next: () => new Promise<number>((resolve) => waiting.push(resolve)), close: () => abort.abort() }
}

/** Sends mails one after the other, each timed from the last byte of DATA. */
export const latencies = async ({
  smtpPort,
  to,
  streamUrl,
  token,
  mails,
  tag,
}: LatencyOptions): Promise<Latencies> => {
  const stream = await arrivals(streamUrl, token)
  const socket = connect({ port: smtpPort, host: '127.0.0.1', noDelay: true })
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]()
  const reply = async () => {
    for (;;) {
      const { value } = await replies.next()
      if (value[3] !== '-') return value as string
    }
  }
  await reply()
  socket.write('EHLO bench.example.com\r\n')
  await reply()
  const times: { answer: number; event: number }[] = []
  for (let n = 0; n < mails; n++) {
    socket.write(`MAIL FROM:<ann@example.com>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
    for (let i = 0; i < 3; i++) await reply()
    const arrived = stream.next()
    const started = performance.now()
    socket.write(
      `From: ann${n}@example.com\r\nTo: ${to}\r\nMessage-ID: <${tag}.${n}@example.com>\r\nSubject: ${n}\r\n\r\nhello\r\n.\r\n`,
    )
    const [answered, at] = await Promise.all([reply().then(() => performance.now()), arrived])
    times.push({ answer: answered - started, event: at - started })
  }
  socket.destroy()
  stream.close()
  return {
    answer: percentiles(times.map(({ answer }) => answer)),
    event: percentiles(times.map(({ event }) => event)),
    after: percentiles(times.map(({ answer, event }) => event - answer)),
  }
}
