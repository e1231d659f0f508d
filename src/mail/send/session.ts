import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Envelope } from './outgoing-mail.ts'
import type { TlsState } from './tls/result.ts'

export interface SessionOptions extends SMTPConnection.Options {
  /** Credentials, which are sent only if the server offers authentication. */
  auth?: { user: string; pass: string }
  /** Maximum number of octets received from the server, including TLS. If omitted, there is no limit. */
  maxOctets?: number
}

export interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
  /** Whether no part of the message had been sent. */
  unsent?: boolean
}

/**
 * An SMTP connection after the greeting and, if required, authentication. It sends messages one after
 * another.
 */
export interface Session {
  /** Whether the server supports non-ASCII addresses (SMTPUTF8, RFC 6531). */
  readonly takesUtf8: boolean
  /** How its server was authenticated; null without TLS. */
  readonly tls: TlsState | null
  /** Whether another message can be sent. */
  readonly usable: boolean
  /** Number of messages that were sent or attempted. */
  readonly messages: number
  /**
   * Performs one transaction. Rejects with the server's response or the connection error (`SmtpError`), or
   * with the reason of `signal`.
   */
  send(envelope: Envelope, raw: Buffer, signal: AbortSignal): Promise<void>
  quit(): void
}

/**
 * Maximum size of a reply in total. RFC 5321 4.5.3.1.5 allows 512 octets per line; an EHLO reply has about 20
 * lines.
 */
const MAX_REPLY = 64 * 1024
/** Interval at which received octets are counted under TLS, where the underlying socket emits no events. */
const COUNT_MS = 20

/** Opens a session. Rejects with `SmtpError` or the reason of `signal`. */
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
    dropResponses(connection)
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
    tls: tlsStateOf(connection),
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
      if (isReusable(failure))
        await settled(connection, signal, (done) => connection.reset(done)).catch(() => connection.close())
      else connection.close()
      usable &&= isReusable(failure)
      throw failure
    },
    quit() {
      usable = false
      connection.quit()
    },
  }
}

/**
 * Drops what a closed connection has received: nodemailer would go on reading it line by line, which takes
 * seconds of CPU time after a flood of empty lines.
 */
const dropResponses = (connection: SMTPConnection): void => {
  Object.assign(connection, { _responseQueue: [] })
}

/** nodemailer has no public property for its socket. */
const tlsStateOf = (connection: SMTPConnection): TlsState | null => {
  const { _socket: socket } = connection as unknown as { _socket: unknown }
  if (!(socket instanceof TLSSocket)) return null
  return { error: socket.authorized ? null : String(socket.authorizationError) }
}

/** Whether the error is about the message only, so that the session can be used further. */
const isReusable = ({ code, responseCode }: SmtpError) =>
  (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== 421

/** Sends a message. Resolves to null, or to the error if it was not accepted. */
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
    const reply = tooLarge
      ? { responseCode: 552, response: '552 5.3.4 the message is larger than the server accepts' }
      : {}
    return Object.assign(error, reply, { unsent: !stream.readableDidRead })
  } finally {
    stream.destroy()
  }
}

/**
 * Waits for the operation that `start` begins. Rejects if the connection breaks, or if `signal` aborts, which
 * closes it.
 */
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
 * Creates an unconnected socket that is destroyed when it has received more than `max` octets. nodemailer
 * does not limit its input and takes seconds to process megabytes of empty lines.
 */
function countedSocket(max: number): Socket {
  const socket = new Socket()
  const count = () => {
    if (socket.bytesRead > max) socket.destroy(new Error(`the server sent more than ${max} octets`))
  }
  const timer = setInterval(count, COUNT_MS)
  socket.on('data', count)
  socket.once('close', () => clearInterval(timer))
  return socket
}
