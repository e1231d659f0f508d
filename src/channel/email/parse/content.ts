import PostalMime, { type Attachment, type PostalMimeOptions } from 'postal-mime'
import type { InboundAttachment } from '../../inbound.ts'
import { sanitizeText } from '../../sanitize-text.ts'
import { toAttachment } from './attachment.ts'
import { describeCalendar } from './calendar.ts'
import { decodeText } from './charset.ts'
import { Delimiters } from './delimiters.ts'
import { enrichedToPlain } from './enriched.ts'
import { unflow } from './flowed.ts'
import { asForwarded, MAX_FORWARDED, MAX_FORWARDED_DEPTH } from './forwarded.ts'
import { contentFields, headerLength } from './headers.ts'
import { withoutMarks } from './html/history.ts'
import { htmlToMarked } from './html/readable.ts'
import { assembleInMemory, type DecodingNode } from './part-decoder.ts'
import { readableHeaders } from './readable-headers.ts'
import { ENCRYPTED_PGP, isSmime, unwrapSmime } from './smime.ts'
import { type Budget, budgetOfMessage } from './time-budget.ts'
import { isTnef, unpackTnef } from './tnef/unpack.ts'

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
  getTextContent(): string
}
interface Internals {
  currentNode: DecodingNode
  textMap: Map<Part, { plain?: { value: string }[]; html?: { value: string }[] }>
  boundaries: { value: Uint8Array }[]
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>
  collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void>
  collectAttachment(part: Part, content: ArrayBuffer, related: boolean, tooDeep: boolean): void
}

const OpenPostalMime = PostalMime as unknown as new (options: PostalMimeOptions) => PostalMime & Internals

// Types that are neither plain text nor HTML, but are the message's own text if the part has no name. They
// are shown instead of being attached.
const SHOWN_AS_PLAIN =
  /^text\/(?:markdown|x-markdown|enriched|richtext|x-amp-html-fallback|troff|x-web-markdown|x-plain|english|us-ascii|x-unknown)$/
const MAX_ATTACHMENTS = 1_000
/** Maximum length of a text that is reflowed; each line and each command takes an object. */
const MAX_REFLOWED = 2 * 1024 * 1024
// Digests have hundreds of parts. 100,000 empty ones take half a second.
const MAX_PARTS = 200_000
const DONE = Promise.resolve()

/**
 * postal-mime with additional charsets, labels checked against the bytes, and unusual text types read as
 * text.
 */
class TolerantParser extends OpenPostalMime {
  /** Number of non-empty parts other than multiparts. */
  leaves = 0
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
    if (node.contentDecoder === null) assembleInMemory(node)
    this.parts = (this.parts ?? 0) + 1
    if (this.parts > MAX_PARTS) throw new Error(`more than ${MAX_PARTS} MIME parts`)
    this.node = node
  }

  /**
   * The base method compares each line that begins with two hyphens to every open boundary, and awaits each
   * line.
   */
  override processLine(line: Uint8Array, isFinal: boolean): Promise<void> {
    if (isFinal || this.#delimiters.mayBe(line, this.boundaries)) return super.processLine(line, isFinal)
    this.node.feed(line)
    return DONE
  }

  override async collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void> {
    if (part.contentType.multipart === false) {
      if (part.content !== null && part.content.byteLength > 0) this.leaves++
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
    const text = decodeText(new Uint8Array(part.content ?? new ArrayBuffer(0)), type.params.charset)
    if (text.length > MAX_REFLOWED) return text
    if (enriched) return enrichedToPlain(text)
    return /^flowed$/i.test(type.params.format ?? '')
      ? unflow(text, /^yes$/i.test(type.params.delsp ?? ''))
      : text
  }
}

export interface Content {
  /** Text written by the sender. */
  body: string
  /** The same with marks where HTML says that an earlier message is quoted. */
  marked: string
  /** Descriptions of calendar parts, and the forwarded messages. */
  invitations: string
  forwarded: string
  attachments: InboundAttachment[]
}

/**
 * Reads the texts and attachments of a message. Throws if MIME is nested deeper than 1,500 levels or the
 * headers exceed 2 MiB.
 */
export const readContent = (raw: Uint8Array, budget: Budget = budgetOfMessage()): Promise<Content> =>
  readMessage(raw, budget, 0)

async function readMessage(raw: Uint8Array, budget: Budget, depth: number): Promise<Content> {
  const structure = await readStructure(raw)
  if (structure === null)
    return { ...NOTHING, ...bodyOf(decodeText(raw.subarray(headerLength(raw)), undefined)) }
  const own = unpacked(readParts(structure, budget), budget)
  const { body, marked, attachments } = own.body === '' ? await unwrapped(own, budget, depth) : own
  const isReport = attachments.some(({ type }) => REPORTS.test(type))
  return {
    body,
    marked,
    invitations: invitationsOf(attachments, body, budget),
    // The message attached to a report is the agent's own.
    forwarded: isReport ? '' : await forwardedOf(attachments, budget, depth),
    attachments,
  }
}

const NOTHING: Content = { body: '', marked: '', invitations: '', forwarded: '', attachments: [] }

/** The texts of a body made from the sender's text. */
export function bodyOf(text: string): Pick<Content, 'body' | 'marked'> {
  const marked = sanitizeText(text)
  const body = withoutMarks(marked)
  return { body: body === marked ? marked : sanitizeText(body), marked }
}

const REPORTS =
  /^message\/(?:delivery-status|feedback-report|disposition-notification|global-delivery-status)$/

type Parts = Pick<Content, 'body' | 'marked' | 'attachments'>

/** One text of a message, in the forms in which it was sent. */
export interface TextParts {
  plain: string[]
  html: string[]
}

interface Structure {
  texts: TextParts[]
  attachments: Attachment[]
  /** Charset of each attachment's part. */
  charsets: (string | undefined)[]
}

/**
 * Reads the MIME structure of a message. Returns null for a multipart message without parts. Throws like
 * `readContent`.
 */
export const readStructure = async (raw: Uint8Array): Promise<Structure | null> =>
  (await parseParts(raw)) ?? (await parseParts(withFoundBoundary(raw)))

/** Returns null for a multipart message that has a body in which no part is found. */
async function parseParts(raw: Uint8Array): Promise<Structure | null> {
  const parser = new TolerantParser({ forceRfc822Attachments: true, maxNestingDepth: 1_500 })
  // The parser only gets the header fields that describe the body, because it would also parse the addresses.
  // It does not copy a buffer that is not a slice of another.
  const part = Buffer.concat([contentFields(readableHeaders(raw)), raw.subarray(headerLength(raw))])
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

function readParts({ texts: sent, attachments: parts, charsets }: Structure, budget: Budget): Parts {
  const texts = sent.map(({ plain, html }) => {
    const text = plain.join('\n')
    return text.trim() !== '' || html.length === 0
      ? text
      : html.map((each) => htmlToMarked(each, budget)).join('\n')
  })
  const attachments = parts.map((part, index) => toAttachment(part, charsets[index], index))
  // Some servers send bounces with nothing but the machine-readable part.
  const report = attachments
    .filter(({ type }) => type === 'message/delivery-status')
    .map(({ content }) => decodeText(content, undefined))
  const visible = texts.some((text) => text.trim() !== '') ? texts : report
  return { ...bodyOf(visible.filter((text) => text.trim() !== '').join('\n')), attachments }
}

/**
 * Adds what an opaque S/MIME signature encloses to a message without text of its own, or says that the message
 * is encrypted. The signature stays attached; it is not verified.
 */
async function unwrapped(own: Parts, budget: Budget, depth: number): Promise<Parts> {
  const { attachments } = own
  if (attachments.some(({ type }) => type === ENCRYPTED_PGP)) return { ...bodyOf(ENCRYPTED), attachments }
  const envelope = attachments.find(isSmime)
  if (envelope === undefined || depth >= MAX_FORWARDED_DEPTH) return own
  const inner = unwrapSmime(envelope.content, budget)
  if (inner === 'encrypted') return { ...bodyOf(ENCRYPTED), attachments }
  if (inner === null) return own
  const enclosed = await readMessage(inner, budget, depth + 1).catch(() => NOTHING)
  return {
    body: enclosed.body,
    marked: enclosed.marked,
    attachments: [...enclosed.attachments, ...attachments].slice(0, MAX_ATTACHMENTS),
  }
}

const ENCRYPTED =
  '[This message is encrypted. It can only be read with the recipient’s key, which is not known here.]'

/** Replaces each `winmail.dat` with its contents. One without readable contents stays. */
function unpacked({ attachments, ...own }: Parts, budget: Budget): Parts {
  const opened = attachments.map((attachment) => ({
    attachment,
    inner: isTnef(attachment) ? unpackTnef(attachment.content, budget) : null,
  }))
  const texts = opened.flatMap(({ inner }) => inner?.text ?? [])
  return {
    ...(own.body === '' ? bodyOf(texts.join('\n')) : own),
    attachments: opened
      .flatMap(({ attachment, inner }) => inner?.attachments ?? [attachment])
      .slice(0, MAX_ATTACHMENTS),
  }
}

function invitationsOf(attachments: readonly InboundAttachment[], body: string, budget: Budget): string {
  const calendars = attachments.filter(({ type }) => type === 'text/calendar' || type === 'application/ics')
  const sources = calendars.map(({ content }) => decodeText(content, 'utf-8'))
  const descriptions = new Set(
    sources.flatMap((source) => describeCalendar(source, body === '', budget) ?? []),
  )
  // If no calendar can be read and there is no other text, the source is shown.
  return sanitizeText(
    descriptions.size > 0 || body !== '' ? [...descriptions].join('\n\n') : sources.join('\n\n'),
  )
}

async function forwardedOf(
  attachments: readonly InboundAttachment[],
  budget: Budget,
  depth: number,
): Promise<string> {
  if (depth >= MAX_FORWARDED_DEPTH) return ''
  const messages = attachments.filter(({ type }) => type === 'message/rfc822' || type === 'message/global')
  const texts: string[] = []
  for (const { content } of messages.slice(0, MAX_FORWARDED)) {
    // An unreadable message is still in the attachments.
    const inner = await readMessage(content, budget, depth + 1).catch(() => NOTHING)
    texts.push(asForwarded(content, joinTexts(inner)))
  }
  if (messages.length > MAX_FORWARDED)
    texts.push(`[${messages.length - MAX_FORWARDED} more forwarded messages are in the attachments.]`)
  return texts.join('\n\n')
}

/** Joins the texts of a message. */
export const joinTexts = ({ body, invitations, forwarded }: Omit<Content, 'marked'>): string =>
  [body, invitations, forwarded].filter((text) => text !== '').join('\n\n')

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
