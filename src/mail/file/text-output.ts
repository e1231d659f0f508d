import { tooLarge } from './problem.ts'

/**
 * Characters that are read of a file: more than a book of 1,000 pages has. The rest is left out, which the text says.
 * @limit Messages
 */
export const MAX_CHARACTERS = 5_000_000

/** Time that a file may take, in milliseconds, as far as it lets others have their turn: a PDF by pages, XML by pieces. */
const MAX_MS = 15_000

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
  readonly #until = performance.now() + MAX_MS
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
    if (performance.now() > this.#until) throw tooLarge('reading it takes more time than is allowed')
  }

  toString(): string {
    return this.#parts.join('')
  }
}
