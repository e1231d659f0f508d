import { Transform } from 'node:stream'

const MASK = '***'
/** A shorter value would be found in ordinary text. */
export const MIN_MASKED_LENGTH = 4
/** A line of a long value, such as a private key, is masked on its own too. */
const MIN_MASKED_LINE = 8

/** Bytes as a string in which each byte is a character, so that borders of chunks cannot split a character. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1')

/** Replaces values in text that comes in pieces, also where a value is spread over several. */
export class Mask {
  readonly #values: string[]
  readonly #firsts: Set<string>
  #rest = ''

  constructor(values: string[]) {
    const lines = values.flatMap((value) =>
      value.split(/\r?\n/).filter((line) => line.length >= MIN_MASKED_LINE),
    )
    const long = values.filter((value) => value.length >= MIN_MASKED_LENGTH)
    const trimmed = long.map((value) => value.trimEnd()).filter((value) => value.length >= MIN_MASKED_LENGTH)
    this.#values = [...new Set([...long, ...trimmed, ...lines].map(bytesOf))].sort(
      (a, b) => b.length - a.length,
    )
    this.#firsts = new Set(this.#values.map((value) => value.charAt(0)))
  }

  /** What can be shown now: an end that may be the start of a value is held back. */
  push(chunk: Buffer): Buffer {
    return this.#scan(this.#rest + chunk.toString('latin1'), false)
  }

  /** What was held back, once nothing follows. */
  end(): Buffer {
    return this.#scan(this.#rest, true)
  }

  #scan(text: string, isLast: boolean): Buffer {
    let shown = ''
    let from = 0
    let at = 0
    while (at < text.length) {
      if (!isLast && this.#mayBegin(text, at)) break
      const found = this.#valueAt(text, at)
      if (found === undefined) {
        at++
        continue
      }
      shown += text.slice(from, at) + MASK
      at += found.length
      from = at
    }
    this.#rest = text.slice(at)
    return Buffer.from(shown + text.slice(from, at), 'latin1')
  }

  #valueAt(text: string, at: number): string | undefined {
    if (!this.#firsts.has(text.charAt(at))) return undefined
    return this.#values.find((value) => text.startsWith(value, at))
  }

  /** Whether the text ends, from here on, with the start of a value. */
  #mayBegin(text: string, at: number): boolean {
    if (!this.#firsts.has(text.charAt(at))) return false
    const length = text.length - at
    return this.#values.some((value) => value.length > length && text.endsWith(value.slice(0, length)))
  }

  stream(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, callback) => callback(null, this.push(chunk)),
      flush: (callback) => callback(null, this.end()),
    })
  }
}
