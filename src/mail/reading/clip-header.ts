const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** RFC 5322 2.1.1 allows 998 characters per line. Exchange and list servers write a few thousand. */
const MAX_LINE = 8 * 1024
/** Maximum size of a field including its continuation lines. 1,000 recipients take about 40 KB. */
const MAX_FIELD = 64 * 1024
/** Maximum header size, the same as postal-mime's. Exchange and mailing lists stay under 100 KB. */
const MAX_HEADER = 2 * 1024 * 1024

export interface Clipped {
  /** The message to parse: the same buffer if nothing was removed. */
  raw: Uint8Array
  /** Describes what was removed from the header; null if nothing was. */
  reason: string | null
}

/**
 * Limits the header of a message before anything scans it, because header parsers may take time quadratic in
 * the length of a line or a field. Lines are cut after 8 KiB, fields after 64 KiB, and the header after 2
 * MiB. The body is unchanged. Takes one pass over the header. The message is always stored as it was
 * received.
 */
export function clipHeader(raw: Uint8Array): Clipped {
  const kept: Uint8Array[] = []
  const left = new Set<string>()
  let fieldBytes = 0
  let at = 0
  while (at < raw.length && !isEmptyLine(raw, at)) {
    if (at >= MAX_HEADER) {
      left.add(`it is longer than ${MAX_HEADER / 1024 / 1024} MiB`)
      break
    }
    const end = lineEnd(raw, at)
    const isContinuation = raw[at] === SPACE || raw[at] === TAB
    fieldBytes = (isContinuation ? fieldBytes : 0) + Math.min(end - at, MAX_LINE)
    if (end - at > MAX_LINE) left.add(`a line is longer than ${MAX_LINE / 1024} KiB`)
    if (fieldBytes > MAX_FIELD) left.add(`a field is longer than ${MAX_FIELD / 1024} KiB`)
    else kept.push(...cut(raw, at, end))
    at = end
  }
  if (left.size === 0) return { raw, reason: null }
  // If the header was cut short, the empty line before the body is missing.
  const rest = at < raw.length && !isEmptyLine(raw, at) ? [LINE_END, raw.subarray(at)] : [raw.subarray(at)]
  return {
    raw: Buffer.concat([...kept, ...rest]),
    reason: `the header was truncated: ${[...left].join(', ')}`,
  }
}

const LINE_END = Buffer.from('\r\n')

/** The line, cut to `MAX_LINE` bytes including its line end. */
const cut = (raw: Uint8Array, start: number, end: number): Uint8Array[] =>
  end - start <= MAX_LINE
    ? [raw.subarray(start, end)]
    : [raw.subarray(start, start + MAX_LINE - LINE_END.length), LINE_END]

const lineEnd = (raw: Uint8Array, start: number): number => {
  const feed = raw.indexOf(LF, start)
  return feed < 0 ? raw.length : feed + 1
}

const isEmptyLine = (raw: Uint8Array, start: number): boolean =>
  raw[start] === LF || (raw[start] === CR && raw[start + 1] === LF)
