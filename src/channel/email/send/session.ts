import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Envelope } from './outgoing-mail.ts'

export interface SessionOptions extends SMTPConnection.Options {
  /** A password goes out only where the server asks for one. */
  auth?: { user: string; pass: string }
  /** The most octets that the server may send, those of TLS included. Left out: as many as it likes. */
  maxOctets?: number
}

export interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
  /** Nothing of the message was on its way yet. */
  unsent?: boolean
}

/**
 * A connection to a server that has greeted us and, where that is wanted, knows us: it takes one message
 * after the other.
 */
export interface Session {
  /** Whether it takes addresses beyond ASCII (SMTPUTF8, RFC 6531). */
  readonly takesUtf8: boolean
  /** Whether it can take another message. */
  readonly usable: boolean
  /** Messages that it was given. */
  readonly messages: number
  /**
   * One transaction. Rejects with what the server said or did not say (`SmtpError`), or the reason of
   * `signal`.
   */
  send(envelope: Envelope, raw: Buffer, signal: AbortSignal): Promise<void>
  quit(): void
}

/** Longest reply, all of its lines together. RFC 5321 4.5.3.1.5 has 512 octets for a line; an EHLO has 20. */
const MAX_REPLY = 64 * 1024
/** How often what came is counted under TLS, where the socket beneath tells of nothing. */
const COUNT_MS = 20

/** Rejects with `SmtpError`, or the reason of `signal`. */
export async function openSession(
  { auth, maxOctets, ...options }: SessionOptions,
  signal: AbortSignal,
): Promise<Session> {
  const socket = maxOctets === undefined ? {} : { socket: countedSocket(maxOctets) }
  const connection = new SMTPConnection({
    ...options,
    ...socket,
    maxResponseSize: MAX_REPLY,
  } as SMTPConnection.Options)
  let usable = true
  let takesUtf8 = false
  connection.on('error', () => {
    usable = false
  })
  connection.on('end', () => {
    usable = false
  })
  const begin = async () => {
    await settled(connection, signal, (done) => connection.connect(done))
    takesUtf8 = /^250[ -]SMTPUTF8\b/im.test(String(connection.lastServerResponse))
    if (auth && connection.allowsAuth)
      await settled(connection, signal, (done) => connection.login({ credentials: auth }, done))
  }
  await begin().catch((error: unknown) => {
    connection.close()
    throw error
  })
  let messages = 0
  return {
    takesUtf8,
    get usable() {
      return usable
    },
    get messages() {
      return messages
    },
    async send(envelope, raw, signal) {
      messages++
      const failure = await transfer(connection, envelope, raw, signal)
      if (failure === null) return
      if (mayGoOn(failure))
        await settled(connection, signal, (done) => connection.reset(done)).catch(() => connection.close())
      else connection.close()
      usable &&= mayGoOn(failure)
      throw failure
    },
    quit() {
      usable = false
      connection.quit()
    },
  }
}

/** What was refused was the message, not us. */
const mayGoOn = ({ code, responseCode }: SmtpError) =>
  (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== 421

/** Gives a message over; resolves with why it was not taken, or null when it was. */
async function transfer(
  connection: SMTPConnection,
  envelope: Envelope,
  raw: Buffer,
  signal: AbortSignal,
): Promise<SmtpError | null> {
  const stream = Readable.from(slicesOf(raw))
  const addressed = { from: envelope.reversePath, to: [envelope.recipient], size: raw.length }
  try {
    await settled(connection, signal, (done) => connection.send(addressed, stream, done))
    return null
  } catch (thrown) {
    const error = thrown as SmtpError
    const tooLarge = error.code === 'EMESSAGE' && error.responseCode === undefined
    const said = tooLarge
      ? { responseCode: 552, response: '552 5.3.4 the message is larger than the server accepts' }
      : {}
    return Object.assign(error, said, { unsent: !stream.readableDidRead })
  } finally {
    stream.destroy()
  }
}

/** Waits for what `start` begins. A connection that breaks, or that is to be left, ends it. */
function settled(
  connection: SMTPConnection,
  signal: AbortSignal,
  start: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null) => {
      connection.off('error', settle)
      connection.off('end', ended)
      signal.removeEventListener('abort', leave)
      if (error) reject(error)
      else resolve()
    }
    const ended = () =>
      settle(Object.assign(new Error('Connection closed unexpectedly'), { code: 'ECONNECTION' }))
    const leave = () => {
      settle(signal.reason as Error)
      connection.close()
    }
    connection.on('error', settle)
    connection.on('end', ended)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    else start(settle)
  })
}

const SLICE = 64 * 1024

function* slicesOf(raw: Buffer): Generator<Buffer> {
  for (let start = 0; start < raw.length; start += SLICE) yield raw.subarray(start, start + SLICE)
}

/**
 * A socket, to be connected, that breaks when the other side has sent more than `most` octets. nodemailer
 * reads as fast as they come, and works on for seconds at megabytes of empty lines.
 */
function countedSocket(most: number): Socket {
  const socket = new Socket()
  const count = () => {
    if (socket.bytesRead > most) socket.destroy(new Error(`the server sent more than ${most} octets`))
  }
  const timer = setInterval(count, COUNT_MS)
  socket.on('data', count)
  socket.once('close', () => clearInterval(timer))
  return socket
}
