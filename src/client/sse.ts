/** One event of a `text/event-stream`. */
export interface Frame {
  id: string
  event: string
  data: string
}

/** Reads a `text/event-stream` as the HTML standard describes it, from text in pieces of any size. */
export class FrameParser {
  #rest = ['']
  #started = false
  #id = ''
  #event = ''
  #data: string[] = []

  /** The events that end in this piece. */
  push(text: string): Frame[] {
    this.#rest.push(this.#started ? text : text.replace(/^\uFEFF/, ''))
    this.#started ||= text !== ''
    // A long line comes in many pieces, which are put together once, at its end.
    if (!/[\r\n]/.test(this.#rest.slice(-2).join(''))) return []
    const frames: Frame[] = []
    const lines = this.#rest.join('').split(/\r\n|\n|\r(?!$)/) // the last \r may be the first half of \r\n
    this.#rest = [lines.pop() ?? '']
    for (const line of lines) {
      const frame = this.#line(line)
      if (frame) frames.push(frame)
    }
    return frames
  }

  #line(line: string): Frame | null {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    return null
  }

  #dispatch(): Frame | null {
    const [data, event] = [this.#data, this.#event || 'message']
    this.#data = []
    this.#event = ''
    return data.length === 0 ? null : { id: this.#id, event, data: data.join('\n') }
  }
}
