/**
 * A message's bytes as they come in. Kept in pieces, until room for the longest is reserved: then there is no
 * second copy in the end. What is taken lies over shared memory, where the threads that read mail see it
 * without another copy.
 */
export class MessageBuffer {
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
    this.#whole = this.#together(size)
    this.#pieces = []
  }

  /** Forgets all of it. */
  drop(): void {
    this.#pieces = []
    this.#whole = null
    this.#bytes = 0
  }

  take(): Buffer {
    return this.#whole ? this.#whole.subarray(0, this.#bytes) : this.#together(this.#bytes)
  }

  #together(size: number): Buffer {
    const whole = Buffer.from(new SharedArrayBuffer(size))
    let at = 0
    for (const piece of this.#pieces) at += piece.copy(whole, at)
    return whole
  }
}
