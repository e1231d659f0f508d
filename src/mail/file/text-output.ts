import { tooLarge } from './problem.ts'

/**
 * Characters that are read of a file: more than a book of 1,000 pages has. The rest is left out, which the text says.
 * @limit Messages
 */
export const MAX_CHARACTERS = 5_000_000

/**
 * CPU time that a file may take, in milliseconds, looked at between two pages of a PDF and two pieces of XML. Not the
 * time by the clock: on a busy machine a small file takes long too.
 */
const MAX_CPU_MS = 15_000

/** Bytes that all parts of an archive may have when they are unpacked. */
const MAX_UNPACKED = 256 * 1024 * 1024

const NUMBER = new Intl.NumberFormat('en')

/** Thrown when as much text was read as is kept. What reads the file stops there. */
export class Full extends Error {
  override readonly name = 'Full'
}

/** The text of a file while it is read, and what that may cost. */
export class TextOutput {
  readonly #parts: string[] = []
  readonly #began = process.cpuUsage()
  #length = 0
  #unpacked = 0
  #counted = 0

  /** Adds to the text. Throws `Full` when the limit is reached. */
  add(text: string): void {
    const room = MAX_CHARACTERS - this.#length
    this.#parts.push(text.length > room ? text.slice(0, room) : text)
    this.#length += Math.min(text.length, room)
    if (text.length > room) throw new Full()
  }

  line(text: string): void {
    this.add(`${text}\n`)
  }

  /** Counts bytes that were unpacked. */
  unpacked(bytes: number): void {
    this.#unpacked += bytes
    if (this.#unpacked > MAX_UNPACKED)
      throw tooLarge(`it unpacks to more than ${MAX_UNPACKED / 1024 / 1024} MiB`)
    this.inTime()
  }

  /** Counts one of something of which there may be so many. */
  count(most: number, what: string): void {
    if (++this.#counted > most) throw tooLarge(`it has more than ${NUMBER.format(most)} ${what}`)
  }

  inTime(): void {
    const { user, system } = process.cpuUsage(this.#began)
    if ((user + system) / 1_000 > MAX_CPU_MS) throw tooLarge('reading it takes more time than is allowed')
  }

  toString(): string {
    return this.#parts.join('')
  }
}
