import { connect, type Socket } from 'node:net'
import { type ProxiedClient, proxyHeader } from '../core/address/proxy-header.ts'
import { drained } from '../core/http/drained.ts'
import { oneLine } from '../core/text/sanitize-text.ts'
import { withResolvers } from '../core/with-resolvers.ts'
import type { CellAddress } from './cells.ts'
import { DotStuffing } from './dot-stuffing.ts'

/** An installation's reply: its code, and its text without the enhanced code, which the front's own server adds. */
export interface SmtpReply {
  code: number
  text: string
}

const CONNECT_MS = 3_000
const REPLY_MS = 60_000
/** For the reply to the end of a mail, which may be read and checked for long. */
const STORED_MS = 600_000
/** More than any reply has. */
const MAX_REPLY = 16 * 1024
const MAX_LINES = 100

const LINE = /^(\d{3})([ -])?(.*)\r\n/
const ENHANCED = /^\d\.\d{1,3}\.\d{1,3}\s+/

/**
 * An SMTP session with an installation on behalf of a client, whose address it passes on in a PROXY header. Commands are sent one at
 * a time. Methods that wait for a reply reject once the connection is lost.
 */
export class CellSession {
  /** The current transaction, and how many of its recipients were accepted. */
  envelope: object | null = null
  accepted = 0
  /** The name in the client's EHLO. */
  readonly helo: string
  readonly #socket: Socket
  #received = ''
  #lines: string[] = []
  #waiting: ReturnType<typeof withResolvers<SmtpReply>> | null = null
  #lost: Error | null = null
  /** While a mail is sent. */
  #data: DotStuffing | null = null

  private constructor(socket: Socket, helo: string) {
    this.#socket = socket
    this.helo = helo
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => this.#read(text))
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Error('the connection was lost')))
  }

  /** Connects and sends EHLO. Rejects if the installation refuses the session. */
  static async open({ smtp }: CellAddress, client: ProxiedClient, helo: string): Promise<CellSession> {
    const socket = connect({ host: smtp.host, port: smtp.port, noDelay: true })
    const session = new CellSession(socket, helo)
    const timer = setTimeout(() => socket.destroy(new Error('it cannot be reached')), CONNECT_MS)
    socket.once('connect', () => clearTimeout(timer))
    socket.once('close', () => clearTimeout(timer))
    socket.write(proxyHeader(client))
    try {
      const greeting = await session.#reply(REPLY_MS)
      for (const reply of [greeting, await session.command(`EHLO ${oneLine(helo, 255)}`)])
        if (reply.code >= 300) throw new Error(`${reply.code} ${reply.text}`)
      return session
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#lost === null
  }

  command(line: string): Promise<SmtpReply> {
    this.#socket.write(`${line}\r\n`)
    return this.#reply(REPLY_MS)
  }

  /** Begins a mail. `write` and `end` may be called only if the installation replies 354. */
  async begin(): Promise<SmtpReply> {
    const reply = await this.command('DATA')
    if (reply.code === 354) this.#data = new DotStuffing()
    return reply
  }

  /** Sends the next part of the mail. Resolves when the installation takes more. */
  async write(part: Buffer): Promise<void> {
    if (!this.#socket.writable) return
    this.#socket.cork()
    for (const piece of this.#data!.next(part)) this.#socket.write(piece)
    this.#socket.uncork()
    await drained(this.#socket)
  }

  /** Ends the mail. */
  async end(): Promise<SmtpReply> {
    this.#socket.write(this.#data!.end())
    const reply = await this.#reply(STORED_MS)
    this.#data = null
    return reply
  }

  /** Closes the connection. A mail that has not ended is dropped. */
  destroy(): void {
    this.#socket.destroy()
  }

  quit(): void {
    if (this.isOpen && this.#data === null) this.#socket.end('QUIT\r\n')
    else this.#socket.destroy()
    setTimeout(() => this.#socket.destroy(), 1_000).unref()
  }

  async #reply(withinMs: number): Promise<SmtpReply> {
    if (this.#lost) throw this.#lost
    const timer = setTimeout(() => this.#socket.destroy(new Error('it did not reply in time')), withinMs)
    this.#waiting = withResolvers()
    return this.#waiting.promise.finally(() => clearTimeout(timer))
  }

  #read(text: string): void {
    this.#received += text
    for (let line = LINE.exec(this.#received); line; line = LINE.exec(this.#received)) {
      const [whole, code, more, said = ''] = line
      this.#received = this.#received.slice(whole.length)
      this.#lines.push(said.replace(ENHANCED, ''))
      if (more !== '-') this.#take({ code: Number(code), text: this.#lines.splice(0).join(' ') })
    }
    if (this.#received.includes('\n') || this.#received.length > MAX_REPLY || this.#lines.length > MAX_LINES)
      this.#socket.destroy(new Error('it does not speak SMTP'))
  }

  /** A reply that nothing waits for is a 421: the installation is about to close the connection. */
  #take(reply: SmtpReply): void {
    if (this.#waiting) this.#waiting.resolve(reply)
    else this.#socket.destroy(new Error(`${reply.code} ${reply.text}`))
    this.#waiting = null
  }

  #end(error: Error): void {
    this.#lost ??= error
    this.#waiting?.reject(this.#lost)
    this.#waiting = null
  }
}
