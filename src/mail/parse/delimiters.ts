/**
 * Detects lines that may be a MIME boundary with a single look-up, however many multiparts are open. Most signatures
 * leave open how many spaces stand where there are some (RFC 6376 3.4.4), so that one space stands for several.
 */
export class Delimiters {
  /** How many of the open boundaries have each text. */
  readonly #known = new Map<string, number>()
  #open: { value: Uint8Array }[] = []

  /**
   * Returns the line with single spaces if it may be a delimiter of one of these boundaries, which get single spaces too,
   * or null (RFC 2046 5.1.1): `--`, the boundary, an optional `--`, and white space.
   */
  read(line: Uint8Array, open: readonly { value: Uint8Array }[]): Uint8Array | null {
    if (line[0] !== HYPHEN || line[1] !== HYPHEN || open.length === 0) return null
    this.#follow(open)
    const text = textOf(line.subarray(2))
    const isKnown = this.#known.has(text) || (text.endsWith('--') && this.#known.has(text.slice(0, -2)))
    return isKnown ? Buffer.from(`--${text}`, 'latin1') : null
  }

  /** Boundaries open and close at the end of the list, so that only what differs there is counted again. */
  #follow(open: readonly { value: Uint8Array }[]): void {
    while (this.#open.length > 0 && this.#open.at(-1) !== open[this.#open.length - 1])
      this.#count(this.#open.pop()!, -1)
    for (const boundary of open.slice(this.#open.length)) {
      boundary.value = Buffer.from(textOf(boundary.value), 'latin1')
      this.#open.push(boundary)
      this.#count(boundary, 1)
    }
  }

  #count({ value }: { value: Uint8Array }, step: number): void {
    const text = textOf(value)
    const count = (this.#known.get(text) ?? 0) + step
    if (count > 0) this.#known.set(text, count)
    else this.#known.delete(text)
  }
}

const HYPHEN = 0x2d

/** The text with single spaces, without those at its end, which are significant neither in a boundary nor after it. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString('latin1')
    .replace(/[ \t]+/g, ' ')
    .replace(/ $/, '')
