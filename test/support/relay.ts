import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { until } from './until.ts'

/** A mail that the relay accepted. */
export interface Relayed {
  from: string
  to: string[]
  raw: Buffer
  mail: Email
}

/** An SMTP refusal, such as `550 5.1.1 no such user`. */
export type Refusal = `${4 | 5}${string}`

export interface Relay {
  readonly url: string
  readonly mails: Relayed[]
  /** Number of RCPT commands for this recipient so far. */
  attempts(recipient: string): number
  /** Sets the response to RCPT for an address from now on; null accepts it. */
  refuse(recipient: string, refusal: Refusal | null): void
  /** Sets the responses to the next messages after DATA, in order. */
  refuseData(...refusals: Refusal[]): void
  /** Delays the response to the next message until `go`; `begun` resolves with its envelope. */
  holdData(): { begun: Promise<{ from: string; to: string[] }>; go(): void }
  got(count: number): Promise<Relayed[]>
  stop(): Promise<void>
  /** Accepts connections again on the same port. */
  start(): Promise<void>
}

const refusalOf = (refusal: Refusal) =>
  Object.assign(new Error(refusal.slice(4)), { responseCode: Number(refusal.slice(0, 3)) })

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Starts a relay for outgoing mail: real SMTP, with responses that a test sets. */
export async function startRelay(): Promise<Relay> {
  const mails: Relayed[] = []
  const tried: string[] = []
  const refusals = new Map<string, Refusal>()
  const dataRefusals: Refusal[] = []
  const holds: { begin(envelope: { from: string; to: string[] }): void; gone: Promise<void> }[] = []
  const create = () => {
    const created = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onRcptTo({ address }, _session, done) {
        tried.push(address)
        const refusal = refusals.get(address)
        done(refusal ? refusalOf(refusal) : null)
      },
      async onData(stream, { envelope }, done) {
        const raw = await readAll(stream).catch(() => null)
        if (!raw) return // The connection broke off.
        const held = holds.shift()
        held?.begin({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
        })
        await held?.gone
        const refusal = dataRefusals.shift()
        if (refusal) return done(refusalOf(refusal))
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        mails.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          raw,
          mail: await PostalMime.parse(raw),
        })
        done()
      },
    })
    created.on('error', () => undefined) // A client that was killed.
    return created
  }
  let server = create()
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    attempts: (recipient) => tried.filter((one) => one === recipient).length,
    refuse: (recipient, refusal) => (refusal ? refusals.set(recipient, refusal) : refusals.delete(recipient)),
    refuseData: (...next) => dataRefusals.push(...next),
    holdData: () => {
      let go: () => void = () => undefined
      const gone = new Promise<void>((resolve) => {
        go = resolve
      })
      const begun = new Promise<{ from: string; to: string[] }>((begin) => holds.push({ begin, gone }))
      return { begun, go: () => go() }
    },
    got: async (count) => {
      await until(() => mails.length >= count)
      return mails
    },
    stop: () =>
      new Promise((resolve) => {
        for (const connection of server.connections) connection._socket.destroy()
        server.close(() => resolve())
      }),
    start: () => {
      server = create()
      return listen(port)
    },
  }
}
