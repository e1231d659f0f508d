import { connect, type Socket } from 'node:net'
import { type ProxiedClient, proxyHeader } from '../core/address/proxy-header.ts'
import { oneLine } from '../core/text/sanitize-text.ts'
import type { CellPlace } from './cells.ts'
import { Dots } from './dots.ts'

/** An installation's reply: its code, and its words without the enhanced code, which the front's own server adds. */
export interface SmtpReply {
  code: number
  text: string
}

const CONNECT_MS = 3_000
/** For a reply to a command, and to the end of a mail, which may be read and checked for long. */
const REPLY_MS = 60_000
const STORED_MS = 600_000
/** More than any reply has. */
const MAX_REPLY = 16 * 1024

const LINE = /^(\d{3})([ -])?(.*)\r\n/
const ENHANCED = /^\d\.\d{1,3}\.\d{1,3}\s+/

/**
 * A session with an installation, for that of a client, whose address it says with a PROXY header. Commands go one after the other.
 * Every method rejects once the connection is lost.
 */
export class CellSession {
  /** The transaction that it is in, and how many recipients of it were accepted. */
  envelope: object | null = null
  accepted = 0
  /** The name that the client gave. */
  readonly helo: string
  readonly #socket: Socket
  #received = ''
  #words: string[] = []
  #waiting: { resolve(reply: SmtpReply): void; reject(error: Error): void } | null = null
  #lost: Error | null = null
  /** Whether what is sent is part of a mail. */
  #isInData = false

  private constructor(socket: Socket, helo: string) {
    this.#socket = socket
    this.helo = helo
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => this.#read(text))
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Error('the connection was lost')))
  }

  /** Connects and says EHLO. Rejects if the installation does not take the session. */
  static async open({ smtp }: CellPlace, client: ProxiedClient, helo: string): Promise<CellSession> {
    const socket = connect({ host: smtp.host, port: smtp.port, noDelay: true })
    const session = new CellSession(socket, helo)
    const timer = setTimeout(() => socket.destroy(new Error('it cannot be reached')), CONNECT_MS)
    socket.once('connect', () => clearTimeout(timer))
    socket.once('close', () => clearTimeout(timer))
    socket.write(proxyHeader(client))
    try {
      for (const reply of [
        await session.#reply(REPLY_MS),
        await session.command(`EHLO ${oneLine(helo, 255)}`),
      ])
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

  /** Begins the data of a mail, if the installation takes it. */
  async begin(): Promise<{ refusal: SmtpReply } | { data: CellData }> {
    const reply = await this.command('DATA')
    if (reply.code !== 354) return { refusal: reply }
    this.#isInData = true
    const stored = async () => {
      const reply = await this.#reply(STORED_MS)
      this.#isInData = false
      return reply
    }
    return { data: new CellData(this.#socket, stored) }
  }

  /** Without a word: a mail that is not complete is none. */
  destroy(): void {
    this.#socket.destroy()
  }

  quit(): void {
    if (this.isOpen && !this.#isInData) this.#socket.end('QUIT\r\n')
    else this.#socket.destroy()
    setTimeout(() => this.#socket.destroy(), 1_000).unref()
  }

  #reply(withinMs: number): Promise<SmtpReply> {
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(this.#lost)
      const timer = setTimeout(() => this.#socket.destroy(new Error('it did not reply in time')), withinMs)
      const settle = () => {
        clearTimeout(timer)
        this.#waiting = null
      }
      this.#waiting = {
        resolve: (reply) => {
          settle()
          resolve(reply)
        },
        reject: (error) => {
          settle()
          reject(error)
        },
      }
    })
  }

  #read(text: string): void {
    this.#received += text
    for (let line = LINE.exec(this.#received); line; line = LINE.exec(this.#received)) {
      const [whole, code, more, words = ''] = line
      this.#received = this.#received.slice(whole.length)
      this.#words.push(words.replace(ENHANCED, ''))
      if (more !== '-') this.#take({ code: Number(code), text: this.#words.splice(0).join(' ') })
    }
    if (this.#received.includes('\n') || this.#received.length > MAX_REPLY || this.#words.length > 100)
      this.#socket.destroy(new Error('it does not speak SMTP'))
  }

  /** What was not asked for is a farewell: it is about to close. */
  #take(reply: SmtpReply): void {
    if (this.#waiting) this.#waiting.resolve(reply)
    else this.#socket.destroy(new Error(`${reply.code} ${reply.text}`))
  }

  #end(error: Error): void {
    this.#lost ??= error
    this.#waiting?.reject(this.#lost)
  }
}

/** The data of a mail on its way to an installation. */
export class CellData {
  readonly #socket: Socket
  readonly #replied: () => Promise<SmtpReply>
  readonly #dots = new Dots()

  constructor(socket: Socket, replied: () => Promise<SmtpReply>) {
    this.#socket = socket
    this.#replied = replied
  }

  /** Resolves when the installation takes more. */
  async write(part: Buffer): Promise<void> {
    if (!this.#socket.writable) return
    this.#socket.cork()
    for (const piece of this.#dots.next(part)) this.#socket.write(piece)
    this.#socket.uncork()
    if (!this.#socket.writableNeedDrain) return
    await new Promise<void>((resolve) => {
      const go = () => {
        this.#socket.off('drain', go).off('close', go)
        resolve()
      }
      this.#socket.on('drain', go).on('close', go)
    })
  }

  /** Ends the mail. Resolves with the installation's reply; rejects if it is lost. */
  end(): Promise<SmtpReply> {
    this.#socket.write(this.#dots.end())
    return this.#replied()
  }
}
