import { isMainThread } from 'node:worker_threads'
import PostalMime, { type PostalMimeOptions } from 'postal-mime'
import type { InboundAttachment } from '../channel.ts'
import { tidy } from '../storable.ts'
import { toAttachment } from './attachment.ts'
import { decodeText, readableHeaders } from './charset.ts'
import { unflow } from './flowed.ts'
import { headerLength } from './headers.ts'
import { htmlToReadable, type Patience } from './html/readable.ts'

/** What postal-mime 4.0.0 keeps of a part. Not in its types; the version is pinned and the tests fail if it moves. */
interface Part {
  content: ArrayBuffer | null
  contentType: { parsed: { value: string; params: Record<string, string> }; multipart: string | false }
  contentDisposition: { parsed: { value: string; params: Record<string, string> } }
  getTextContent(): string
}
interface Internals {
  textMap: Map<Part, { plain?: { value: string }[]; html?: { value: string }[] }>
  collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void>
  collectAttachment(part: Part, content: ArrayBuffer, related: boolean, tooDeep: boolean): void
}

const OpenPostalMime = PostalMime as unknown as new (options: PostalMimeOptions) => PostalMime & Internals

// Text that is neither plain nor HTML but the letter itself when it has no name: shown rather than hidden in an attachment.
const SHOWN_AS_PLAIN =
  /^text\/(?:markdown|x-markdown|enriched|richtext|x-amp-html-fallback|troff|x-web-markdown|x-plain|english|us-ascii|x-unknown)$/
const MAX_ATTACHMENTS = 1_000

/** postal-mime with the charsets that it lacks, its labels checked against the bytes, and odd text types read as text. */
class TolerantParser extends OpenPostalMime {
  /** Parts that hold something, multiparts left out. */
  leaves = 0
  /** The charset that each attachment's part names. */
  readonly charsets: (string | undefined)[] = []

  override async collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void> {
    if (part.contentType.multipart === false) {
      if (part.content !== null && part.content.byteLength > 0) this.leaves++
      readAsText(part)
    }
    return super.collectNode(part, alternative, related)
  }

  override collectAttachment(part: Part, content: ArrayBuffer, related: boolean, tooDeep: boolean): void {
    this.charsets.push(part.contentType.parsed.params.charset)
    super.collectAttachment(part, content, related, tooDeep)
  }
}

function readAsText(part: Part): void {
  const type = part.contentType.parsed
  const named = type.params.name ?? part.contentDisposition.parsed.params.filename
  const odd = !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type.value) || SHOWN_AS_PLAIN.test(type.value)
  if (odd && named === undefined) type.value = 'text/plain'
  part.getTextContent = () => {
    const text = decodeText(new Uint8Array(part.content ?? new ArrayBuffer(0)), type.params.charset)
    return /^flowed$/i.test(type.params.format ?? '') ? unflow(text, /^yes$/i.test(type.params.delsp ?? '')) : text
  }
}

export interface Content {
  text: string
  attachments: InboundAttachment[]
}

/** The text and the attachments of a message. Throws on MIME nested deeper than 1,500 levels or with more than 2 MiB of headers. */
export async function readContent(raw: Uint8Array): Promise<Content> {
  const content = await readParts(raw)
  return (
    content ??
    (await readParts(withFoundBoundary(raw))) ?? { text: tidy(decodeText(raw.subarray(headerLength(raw)), undefined)), attachments: [] }
  )
}

/** Null when it is a multipart message in which no part is to be found, although it has a body. */
async function readParts(raw: Uint8Array): Promise<Content | null> {
  const parser = new TolerantParser({ forceRfc822Attachments: true, maxNestingDepth: 1_500 })
  const email = await parser.parse(readableHeaders(raw))
  if (parser.leaves === 0 && headerLength(raw) < raw.length) return null
  const patience: Patience = { ms: isMainThread ? 500 : 5_000 }
  const texts = [...parser.textMap.values()].map(({ plain = [], html = [] }) => {
    const text = plain.map((entry) => entry.value).join('\n')
    return text.trim() !== '' || html.length === 0 ? text : html.map((entry) => htmlToReadable(entry.value, patience)).join('\n')
  })
  const attachments = email.attachments.slice(0, MAX_ATTACHMENTS).map((part, index) => toAttachment(part, parser.charsets[index], index))
  // Some servers send bounces that say nothing but their machine-readable part.
  const report = attachments.filter(({ type }) => type === 'message/delivery-status').map(({ content }) => decodeText(content, undefined))
  const shown = texts.some((text) => text.trim() !== '') ? texts : report
  return { text: tidy(shown.filter((text) => text.trim() !== '').join('\n')), attachments }
}

/** The message with the boundary in its header that its body really uses: the header names none, or another. */
function withFoundBoundary(raw: Uint8Array): Uint8Array {
  const body = raw.subarray(headerLength(raw))
  const start = decodeText(body.subarray(0, 64 * 1024), 'us-ascii')
  const boundary = /^--(?!\s*$)([^\r\n"]{1,70}?)[ \t]*\r?$/m.exec(start)?.[1]
  if (boundary === undefined) return raw
  return Buffer.concat([Buffer.from(`Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`), body])
}
