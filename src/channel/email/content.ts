import PostalMime, { type Attachment, type PostalMimeOptions } from 'postal-mime'
import type { InboundAttachment } from '../channel.ts'
import { decodeText, readableHeaders } from './charset.ts'
import { htmlToReadable } from './html.ts'
import { storable } from './storable.ts'

/** What postal-mime 4.0.0 keeps of a part. Not in its types; the version is pinned and the tests fail if it moves. */
interface Part {
  content: ArrayBuffer | null
  contentType: { parsed: { value: string; params: Record<string, string> }; multipart: string | false }
  contentDisposition: { parsed: { value: string; params: Record<string, string> } }
  getTextContent(): string
  decodeFlowedText(text: string, delSp: boolean): string
}
interface Internals {
  textMap: Map<Part, { plain?: { value: string }[]; html?: { value: string }[] }>
  collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void>
}

const OpenPostalMime = PostalMime as unknown as new (options: PostalMimeOptions) => PostalMime & Internals

// Text that is neither plain nor HTML but the letter itself when it has no name: shown rather than hidden in an attachment.
const SHOWN_AS_PLAIN =
  /^text\/(?:markdown|x-markdown|enriched|richtext|x-amp-html-fallback|troff|x-web-markdown|x-plain|english|us-ascii|x-unknown)$/
const MAX_ATTACHMENTS = 1_000

/** postal-mime with the charsets that it lacks, its labels checked against the bytes, and odd text types read as text. */
class TolerantParser extends OpenPostalMime {
  override async collectNode(part: Part, alternative: Part | false, related: boolean): Promise<void> {
    if (part.contentType.multipart === false) readAsText(part)
    return super.collectNode(part, alternative, related)
  }
}

function readAsText(part: Part): void {
  const type = part.contentType.parsed
  const named = type.params.name ?? part.contentDisposition.parsed.params.filename
  const odd = !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type.value) || SHOWN_AS_PLAIN.test(type.value)
  if (odd && named === undefined) type.value = 'text/plain'
  part.getTextContent = () => {
    const text = decodeText(new Uint8Array(part.content ?? new ArrayBuffer(0)), type.params.charset)
    return /^flowed$/i.test(type.params.format ?? '') ? part.decodeFlowedText(text, /^yes$/i.test(type.params.delsp ?? '')) : text
  }
}

/** The text and the attachments of a message. Throws on MIME nested deeper than 1,500 levels or with more than 2 MiB of headers. */
export async function readContent(raw: Uint8Array): Promise<{ text: string; attachments: InboundAttachment[] }> {
  const parser = new TolerantParser({ forceRfc822Attachments: true, maxNestingDepth: 1_500 })
  const email = await parser.parse(readableHeaders(raw))
  const texts = [...parser.textMap.values()].map(({ plain = [], html = [] }) => {
    const text = plain.map((entry) => entry.value).join('\n')
    return text.trim() !== '' || html.length === 0 ? text : html.map((entry) => htmlToReadable(entry.value)).join('\n')
  })
  const attachments = email.attachments.slice(0, MAX_ATTACHMENTS).map(toAttachment)
  // Some servers send bounces that say nothing but their machine-readable part.
  const report = attachments.filter(({ type }) => type === 'message/delivery-status').map(({ content }) => decodeText(content, undefined))
  const shown = texts.some((text) => text.trim() !== '') ? texts : report
  return { text: tidy(shown.filter((text) => text.trim() !== '').join('\n')), attachments }
}

/** Text as it is stored: `\n` line ends, no NUL, no lone surrogates, no empty lines around it. */
export const tidy = (text: string): string =>
  storable(text)
    .replace(/\r\n?/g, '\n')
    .replace(/^\ufeff/, '')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()

function toAttachment(part: Attachment, index: number): InboundAttachment {
  const type = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(part.mimeType) ? part.mimeType.toLowerCase() : 'application/octet-stream'
  return { name: safeName(part.filename ?? '', type, index), type, content: toBytes(part.content) }
}

const toBytes = (content: Attachment['content']): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content as ArrayBuffer)

const EXTENSIONS: Record<string, string> = {
  'message/rfc822': 'eml',
  'message/delivery-status': 'txt',
  'text/calendar': 'ics',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/csv': 'csv',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'application/pdf': 'pdf',
  'application/pgp-signature': 'asc',
  'application/ms-tnef': 'dat',
}

/** The attachment's own name without folders, control characters and direction overrides, or one made from its type. */
function safeName(name: string, type: string, index: number): string {
  const base = storable(name)
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .split(/[/\\]/)
    .at(-1)!
    .trim()
  if (/^\.*$/.test(base)) return `attachment-${index + 1}.${EXTENSIONS[type] ?? 'bin'}`
  if (base.length <= 200) return base
  const extension = /\.[\w-]{1,20}$/.exec(base)?.[0] ?? ''
  return storable(base.slice(0, 200 - extension.length)) + extension
}
