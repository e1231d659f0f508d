/** Detects lines that may be a MIME boundary with a single look-up, however many multiparts are open. */
export class Delimiters {
  #known = new Set<string>()
  #count = 0
  #last: { value: Uint8Array } | undefined

  /**
   * Whether the line may be a delimiter of one of these boundaries (RFC 2046 5.1.1): `--`, the boundary, an
   * optional `--`, and white space.
   */
  mayBe(line: Uint8Array, open: readonly { value: Uint8Array }[]): boolean {
    if (line[0] !== HYPHEN || line[1] !== HYPHEN || open.length === 0) return false
    if (open.length !== this.#count || open.at(-1) !== this.#last) this.#learn(open)
    const text = textOf(line.subarray(2))
    return (
      this.#known.has(text) ||
      (text.endsWith('--') && this.#known.has(textOf(Buffer.from(text.slice(0, -2), 'latin1'))))
    )
  }

  #learn(open: readonly { value: Uint8Array }[]): void {
    this.#known = new Set(open.map(({ value }) => textOf(value)))
    this.#count = open.length
    this.#last = open.at(-1)
  }
}

const HYPHEN = 0x2d

/** The text without trailing white space, which is significant neither in a boundary nor after it. */
function textOf(bytes: Uint8Array): string {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === 0x20 || bytes[end - 1] === 0x09)) end--
  return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('latin1')
}
