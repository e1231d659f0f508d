const DOT = Buffer.from('.')
const LINE_END = Buffer.from('\r\n')

/** Encodes a message for DATA: lines that begin with a dot get another one, and a line with a dot ends it (RFC 5321, 4.5.2). */
export class DotStuffing {
  /** The last two bytes. A message begins at the start of a line. */
  #last: Buffer = LINE_END

  /** Returns what to send for the next part. */
  next(part: Buffer): Buffer[] {
    if (part.length === 0) return []
    const joined = Buffer.concat([this.#last, part])
    const pieces: Buffer[] = []
    let from = this.#last.length
    for (let at = joined.indexOf('\r\n.'); at >= 0; at = joined.indexOf('\r\n.', at + 2)) {
      if (at + 2 < this.#last.length) continue
      pieces.push(joined.subarray(from, at + 2), DOT)
      from = at + 2
    }
    pieces.push(joined.subarray(from))
    this.#last = joined.subarray(-2)
    return pieces.filter(({ length }) => length > 0)
  }

  end(): Buffer {
    return Buffer.from(this.#last.equals(LINE_END) ? '.\r\n' : '\r\n.\r\n')
  }
}
