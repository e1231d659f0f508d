/** Reads little-endian numbers and byte ranges sequentially. Throws a `RangeError` at the end. */
export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  byte(): number {
    return this.take(1)[0]!
  }

  short(): number {
    return this.take(2).readUInt16LE()
  }

  long(): number {
    return this.take(4).readUInt32LE()
  }

  /** Returns the next bytes without copying them. */
  take(length: number): Buffer {
    if (length > this.left) throw new RangeError(`${length} bytes requested, ${this.left} left`)
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Reads bytes and skips the padding to a multiple of four. */
  takePadded(length: number): Buffer {
    const found = this.take(length)
    this.take(Math.min((4 - (length % 4)) % 4, this.left))
    return found
  }
}
