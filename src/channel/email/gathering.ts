/** A message's bytes as they come in. Kept in pieces, until room for the longest is reserved: then there is no second copy in the end. */
export class Gathering {
  #pieces: Buffer[] = []
  #whole: Buffer | null = null
  #bytes = 0

  add(chunk: Buffer): void {
    if (this.#whole) chunk.copy(this.#whole, this.#bytes)
    else this.#pieces.push(chunk)
    this.#bytes += chunk.length
  }

  /** Makes room for `size` bytes in all. Memory that nothing is written to costs nothing. */
  reserve(size: number): void {
    const whole = Buffer.allocUnsafeSlow(size)
    Buffer.concat(this.#pieces, this.#bytes).copy(whole)
    this.#pieces = []
    this.#whole = whole
  }

  /** Forgets all of it. */
  drop(): void {
    this.#pieces = []
    this.#whole = null
    this.#bytes = 0
  }

  take(): Buffer {
    return this.#whole ? this.#whole.subarray(0, this.#bytes) : Buffer.concat(this.#pieces, this.#bytes)
  }
}
