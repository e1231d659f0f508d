import { MAX_MAIL_BYTES, type MailEntry, tooLarge } from './mail.ts'

/** How long a line is looked at: for `From `, its date, and the `>` of quoted ones. */
const MAX_LOOK = 1_000
const LF = 0x0a
const CR = 0x0d
const GREATER = 0x3e
const CAPITAL_F = 0x46

/** A separator ends with a date: `Tue Jan  2 15:04:05 2024`, with or without a time zone. */
const CTIME =
  /\b([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d(?::\d\d)?)(?: ([+-]\d{4}|[A-Z]{3,4}))? (\d{4})(?: ([+-]\d{4}))?/
const isDated = (line: string): boolean => /\b\d{1,2}:\d\d\b/.test(line) && /\b\d{4}\b/.test(line)

/** When the mail was added to the mailbox. Without a time zone, it is read as UTC, as most programs write it. */
const dateOf = (line: string): Date | null => {
  const found = CTIME.exec(line)
  if (!found) return null
  const [, month, day, time, zone, year, zoneAfter] = found
  const date = new Date(`${day} ${month} ${year} ${time} ${zoneAfter ?? zone ?? '+0000'}`)
  return Number.isNaN(date.getTime()) ? null : date
}

const isSeparator = (line: string): boolean => line.startsWith('From ')

/** The bytes of one mail as they arrive. Those of a mail that is too large are dropped. */
class Collected {
  #bytes = Buffer.allocUnsafe(16 * 1024)
  #size = 0

  /** Copies, because a mail of millions of short lines would need more memory for its slices than for itself. */
  add(bytes: Buffer): void {
    const size = this.#size + bytes.length
    if (size > this.#bytes.length && !isTooLong(size)) {
      const larger = Buffer.allocUnsafe(Math.max(size, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, this.#size)
      this.#bytes = larger
    }
    if (!isTooLong(size)) bytes.copy(this.#bytes, this.#size)
    this.#size = size
  }

  /** The mail, without the empty line that ends it in an mbox. Null if it is too large. */
  take(): Buffer | null {
    if (isTooLong(this.#size)) return null
    const whole = this.#bytes.subarray(0, this.#size)
    const end = whole.length
    const before = whole[end - 2] === CR ? end - 2 : end - 1
    const hasEmptyLine = whole[end - 1] === LF && (before === 0 || whole[before - 1] === LF)
    const raw = hasEmptyLine ? whole.subarray(0, before) : whole
    return raw.length > MAX_MAIL_BYTES ? null : raw
  }
}

/** Whether a mail with its last empty line is too large. */
const isTooLong = (size: number): boolean => size > MAX_MAIL_BYTES + 2

/** Splits the lines of an mbox into mails. */
class Splitter {
  readonly #prefix: string
  #mail: Collected | null = null
  #date: Date | null = null
  #count = 0
  #afterEmpty = true
  /** Whether separators end with a date: then a line of text that begins with `From ` is none. */
  #dated = true

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Takes the beginning of a line, or all of it. Returns the mail that it ends. */
  line(bytes: Buffer): MailEntry | null {
    const isFirst = this.#mail === null
    const mayBegin = bytes[0] === CAPITAL_F && this.#afterEmpty && bytes.length < MAX_LOOK
    const text = mayBegin ? bytes.toString('latin1') : ''
    const isEmpty = bytes.length <= 2 && /^\r?\n$/.test(bytes.toString('latin1'))
    this.#afterEmpty = isEmpty
    if (isFirst && isEmpty) return null
    if (!isSeparator(text) || (!isFirst && this.#dated && !isDated(text))) {
      if (isFirst) throw new NotAnMbox()
      this.#mail!.add(unquoted(bytes))
      return null
    }
    if (isFirst) this.#dated = isDated(text)
    const ended = this.end()
    this.#mail = new Collected()
    this.#date = dateOf(text)
    this.#count++
    return ended
  }

  /** Takes more of a long line. */
  more(bytes: Buffer): void {
    this.#mail?.add(bytes)
  }

  /** Returns the last mail. */
  end(): MailEntry | null {
    if (!this.#mail) return null
    const name = `${this.#prefix}message ${this.#count}`
    const raw = this.#mail.take()
    return raw ? { name, raw, storedAt: this.#date } : tooLarge(name)
  }
}

/** The content does not begin with a line of the form `From …`. */
export class NotAnMbox extends Error {}

/** A line of text that began with `From ` was quoted with one more `>` (mboxrd; mboxo writes the usual ones alike). */
const unquoted = (line: Buffer): Buffer => {
  if (line[0] !== GREATER) return line
  let at = 1
  while (line[at] === GREATER && at < MAX_LOOK) at++
  return line.toString('latin1', at, at + 5) === 'From ' ? line.subarray(1) : line
}

/**
 * Splits an mbox into its mails, named `message 1` and so on. A mail begins with a line `From …` after an empty
 * one; lines end with LF or CRLF, and can have any length. Holds one mail at most, of at most 25 MiB. Throws
 * `NotAnMbox` if it does not begin with such a line.
 */
export async function* splitMbox(
  content: AsyncIterable<Uint8Array>,
  prefix = '',
): AsyncGenerator<MailEntry, void, undefined> {
  const splitter = new Splitter(prefix)
  let kept: Buffer = Buffer.alloc(0)
  let isMidLine = false
  for await (const chunk of content) {
    const bytes = kept.length > 0 ? Buffer.concat([kept, chunk]) : Buffer.from(chunk)
    let at = 0
    while (at < bytes.length) {
      const feed = bytes.indexOf(LF, at)
      const end = feed < 0 ? bytes.length : feed + 1
      // The beginning of a line is looked at only when there is enough of it.
      if (feed < 0 && !isMidLine && end - at < MAX_LOOK) break
      const piece = bytes.subarray(at, end)
      if (isMidLine) splitter.more(piece)
      else {
        const ended = splitter.line(piece)
        if (ended) yield ended
      }
      isMidLine = feed < 0
      at = end
    }
    kept = bytes.subarray(at)
  }
  const ended = kept.length > 0 ? splitter.line(kept) : null
  if (ended) yield ended
  const last = splitter.end()
  if (last) yield last
}
