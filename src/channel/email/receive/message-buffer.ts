/**
 * Collects the bytes of a message. They are stored in chunks until capacity for the maximum size is reserved,
 * which avoids a second copy at the end. `take` returns shared memory, which the reader threads can use
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

  /** Allocates `size` bytes in total. Pages that are never written take no memory. */
  reserve(size: number): void {
    this.#whole = this.#together(size)
    this.#pieces = []
  }

  /** Discards all bytes. */
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
