import PostalMime, { type Attachment, type PostalMimeOptions } from 'postal-mime'
import { decodeText } from '../decode/charset.ts'
import { enrichedToPlain } from '../decode/enriched.ts'
import { unflow } from '../decode/flowed.ts'
import { type DecodingNode, decodeExactly } from '../decode/part-decoder.ts'
import { contentFields, headerLength, isBlankLine } from '../header/headers.ts'
import { Delimiters } from './delimiters.ts'

/**
 * A MIME part in postal-mime 4.0.0. Not part of its types; the version is pinned, and tests fail if this
 * changes.
 */
interface Part {
  content: ArrayBuffer | null
  parentNode?: Part
  childNodes: Part[]
  contentType: { parsed: { value: string; params: Record<string, string> }; multipart: string | false }
  contentDisposition: { parsed: { value: string; params: Record<string, string> } }
  contentTransferEncoding: { encoding: string }
  getTextContent(): string
}
interface Line {
  bytes: Uint8Array
  done: boolean
}
interface Internals {
  currentNode: DecodingNode
  textMap: Map<Part, { plain?: { value: string }[]; html?: { value: string }[] }>
  boundaries: { value: Uint8Array }[]
  /** The message, and where the next line begins. */
  buf: ArrayBuffer
  av: Uint8Array
  readPos: number
  readLine(): Line
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>
  finalize(): Promise<void>
  collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void>
  collectAttachment(part: Part, content: ArrayBuffer, related: boolean, tooDeep: boolean): void
}

const OpenPostalMime = PostalMime as unknown as new (options: PostalMimeOptions) => PostalMime & Internals

// Types that are neither plain text nor HTML, but are the message's own text if the part has no name. They
// are shown instead of being attached.
const SHOWN_AS_PLAIN =
  /^text\/(?:markdown|x-markdown|enriched|richtext|x-amp-html-fallback|troff|x-web-markdown|x-plain|english|us-ascii|x-unknown)$/
/** Attachments of an email that are kept; the text says how many more there were. @limit Receiving */
export const MAX_ATTACHMENTS = 1_000
/** Maximum length of a text that is reflowed; each line and each command takes an object. */
const MAX_REFLOWED = 2 * 1024 * 1024
// Digests have hundreds of parts. 100,000 empty ones take half a second.
const MAX_PARTS = 200_000
const CR = 0x0d
const LF = 0x0a
const EMPTY = new Uint8Array()

/**
 * postal-mime with additional charsets, labels checked against the bytes, and unusual text types read as
 * text.
 */
class TolerantParser extends OpenPostalMime {
  /** Number of parts other than multiparts, without an empty one that is the whole message. */
  leaves = 0
  hasEnded = false
  /** Only declared here, because the base constructor already sets them. */
  declare private node: DecodingNode
  declare private parts: number
  readonly #delimiters = new Delimiters()
  /** Charset of each attachment's part. */
  readonly charsets: (string | undefined)[] = []

  override get currentNode(): DecodingNode {
    return this.node
  }

  override set currentNode(node: DecodingNode) {
    if (node.contentDecoder === null) decodeExactly(node, () => this.hasEnded)
    this.parts = (this.parts ?? 0) + 1
    if (this.parts > MAX_PARTS) throw new Error(`more than ${MAX_PARTS} MIME parts`)
    this.node = node
  }

  /**
   * Returns the next line that may be a delimiter, or the last one, and feeds those before it to the current part. The base
   * class looks for line ends byte by byte, compares each line that begins with two hyphens to every open boundary, and
   * awaits each line.
   */
  override readLine(): Line {
    for (;;) {
      const line = this.#nextLine()
      const bytes = this.#inPart(line.bytes)
      if (line.done || this.#delimiters.read(bytes, this.boundaries) !== null) return line
      this.node.feed(bytes)
    }
  }

  override processLine(given: Uint8Array, isFinal: boolean): Promise<void> {
    const line = this.#inPart(given)
    return super.processLine(this.#delimiters.read(line, this.boundaries) ?? line, isFinal)
  }

  /** The line without the carriage returns and the line feed at its end. */
  #nextLine(): Line {
    const { av, readPos: start } = this
    const feed = av.indexOf(LF, start)
    this.readPos = feed < 0 ? av.length : feed + 1
    let end = feed < 0 ? av.length : feed
    while (end > start && av[end - 1] === CR) end--
    return { bytes: new Uint8Array(this.buf, start, end - start), done: this.readPos >= av.length }
  }

  #inPart(line: Uint8Array): Uint8Array {
    return this.node.state === 'header' && isBlankLine(line) ? EMPTY : line
  }

  /** Called at the end of the message. */
  override finalize(): Promise<void> {
    this.hasEnded = true
    return super.finalize()
  }

  override async collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void> {
    if (part.contentType.multipart === false) {
      if (part.parentNode || (part.content?.byteLength ?? 0) > 0) this.leaves++
      if (!isShown(part)) return
      readAsText(part)
    }
    return super.collectNode(part, alternative, related)
  }

  override collectAttachment(part: Part, content: ArrayBuffer, related: boolean, tooDeep: boolean): void {
    this.charsets.push(part.contentType.parsed.params.charset)
    super.collectAttachment(part, content, related, tooDeep)
  }
}

/**
 * Whether a part is shown or attached. Of several plain texts in a multipart/alternative, such as Markdown
 * beside plain text, all say the same, and only the first is: the first that is really plain.
 */
function isShown(part: Part): boolean {
  const parent = part.parentNode
  if (parent?.contentType.multipart !== 'alternative' || !isPlain(part)) return true
  const texts = parent.childNodes.slice(0, MAX_ALTERNATIVES).filter(isPlain)
  const first = texts.find(({ contentType }) => contentType.parsed.value === 'text/plain') ?? texts[0]
  return first === undefined || part === first
}

const MAX_ALTERNATIVES = 10

/** Whether a part is a plain text that is not empty, by the type that it had when it was received. */
const isPlain = ({ content, contentType, contentDisposition }: Part): boolean =>
  contentType.multipart === false &&
  (contentType.parsed.value === 'text/plain' || SHOWN_AS_PLAIN.test(contentType.parsed.value)) &&
  contentDisposition.parsed.value !== 'attachment' &&
  new Uint8Array(content ?? new ArrayBuffer(0)).subarray(0, 1_000).some((byte) => byte > 0x20)

function readAsText(part: Part): void {
  const type = part.contentType.parsed
  const named = type.params.name ?? part.contentDisposition.parsed.params.filename
  const odd = !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type.value) || SHOWN_AS_PLAIN.test(type.value)
  const enriched = /^text\/(?:enriched|richtext)$/.test(type.value)
  if (odd && named === undefined) type.value = 'text/plain'
  part.getTextContent = () => {
    const decoded = decodeText(new Uint8Array(part.content ?? new ArrayBuffer(0)), type.params.charset)
    // The line end of the boundary, which is not in the content, separates the texts of several parts.
    const text = part.contentTransferEncoding.encoding.includes('base64') ? decoded : `${decoded}\n`
    if (text.length > MAX_REFLOWED) return text
    if (enriched) return enrichedToPlain(text)
    return /^flowed$/i.test(type.params.format ?? '')
      ? unflow(text, /^yes$/i.test(type.params.delsp ?? ''))
      : text
  }
}

/** One text of a message, in the forms in which it was sent. */
export interface TextParts {
  plain: string[]
  html: string[]
}

export interface Structure {
  texts: TextParts[]
  attachments: Attachment[]
  /** Charset of each attachment's part. */
  charsets: (string | undefined)[]
}

/**
 * Reads the MIME structure of a message. Returns null for a multipart message without parts. Throws if MIME is
 * nested deeper than 1,500 levels or the headers exceed 2 MiB.
 */
export const readStructure = async (raw: Uint8Array): Promise<Structure | null> =>
  (await parseParts(raw)) ?? (await parseParts(withFoundBoundary(raw)))

/** Returns null for a multipart message that has a body in which no part is found. */
async function parseParts(raw: Uint8Array): Promise<Structure | null> {
  const parser = new TolerantParser({ forceRfc822Attachments: true, maxNestingDepth: 1_500 })
  // The parser only gets the header fields that describe the body, because it would also parse the addresses.
  // It does not copy a buffer that is not a slice of another.
  const part = Buffer.concat([contentFields(raw), raw.subarray(headerLength(raw))])
  const email = await parser.parse(part.byteLength === part.buffer.byteLength ? part.buffer : part)
  if (parser.leaves === 0 && headerLength(raw) < raw.length) return null
  const texts = [...parser.textMap.values()].map(({ plain = [], html = [] }) => ({
    plain: plain.map(({ value }) => value),
    html: html.map(({ value }) => value),
  }))
  return {
    texts,
    attachments: email.attachments.slice(0, MAX_ATTACHMENTS),
    charsets: parser.charsets,
  }
}

/**
 * Replaces the header with one that names the boundary found in the body, for a message whose header names
 * none or a wrong one.
 */
function withFoundBoundary(raw: Uint8Array): Uint8Array {
  const body = raw.subarray(headerLength(raw))
  const start = decodeText(body.subarray(0, 64 * 1024), 'us-ascii')
  const boundary = start
    .split('\n')
    .filter((line) => line.startsWith('--'))
    .map((line) => line.slice(2).trimEnd())
    // A closing delimiter alone begins no part.
    .find((name) => /^[^"]{1,70}$/.test(name) && !name.endsWith('--'))
  if (boundary === undefined) return raw
  return Buffer.concat([Buffer.from(`Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`), body])
}
