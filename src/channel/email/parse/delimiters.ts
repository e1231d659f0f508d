/** Detects lines that may be a MIME boundary with a single look-up, however many multiparts are open. */
export class Delimiters {
  /** How many of the open boundaries have each text. */
  readonly #known = new Map<string, number>()
  #open: { value: Uint8Array }[] = []

  /**
   * Whether the line may be a delimiter of one of these boundaries (RFC 2046 5.1.1): `--`, the boundary, an
   * optional `--`, and white space.
   */
  mayBe(line: Uint8Array, open: readonly { value: Uint8Array }[]): boolean {
    if (line[0] !== HYPHEN || line[1] !== HYPHEN || open.length === 0) return false
    this.#follow(open)
    const text = textOf(line.subarray(2))
    return (
      this.#known.has(text) ||
      (text.endsWith('--') && this.#known.has(textOf(Buffer.from(text.slice(0, -2), 'latin1'))))
    )
  }

  /** Boundaries open and close at the end of the list, so that only what differs there is counted again. */
  #follow(open: readonly { value: Uint8Array }[]): void {
    while (this.#open.length > 0 && this.#open.at(-1) !== open[this.#open.length - 1])
      this.#count(this.#open.pop()!, -1)
    for (const boundary of open.slice(this.#open.length)) {
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

/** The text without trailing white space, which is significant neither in a boundary nor after it. */
function textOf(bytes: Uint8Array): string {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x09)) end--
  return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('latin1')
}
