import type { Attachment } from 'postal-mime'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { replaceUnstorable } from '../../core/text/sanitize-text.ts'

/** Media type; each of the two names has at most 127 characters (RFC 6838 4.2). */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

/** Converts a MIME part to an attachment with a safe name. The type of a text includes its charset. */
export function toAttachment(
  part: Attachment,
  charset: string | undefined,
  index: number,
): InboundAttachment {
  const type = MEDIA_TYPE.test(part.mimeType) ? part.mimeType.toLowerCase() : 'application/octet-stream'
  const named = type.startsWith('text/') && type !== 'text/calendar' && /^[\w.:+-]{1,40}$/.test(charset ?? '')
  return {
    name: safeName(part.filename ?? '', type, index),
    type: named ? `${type}; charset=${charset!.toLowerCase()}` : type,
    content: toBytes(part.content),
  }
}

/** Creates an attachment from an untrusted name and type. */
export function namedAttachment(
  name: string,
  type: string | null,
  content: Uint8Array,
  index: number,
): InboundAttachment {
  const known =
    type !== null && /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:; charset=[\w.:+-]{1,40})?$/.test(type)
      ? type.toLowerCase()
      : 'application/octet-stream'
  return { name: safeName(name, known, index), type: known, content }
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

/**
 * The attachment's name without folders, control characters and direction overrides, or a generated name
 * based on its type.
 */
function safeName(name: string, type: string, index: number): string {
  const base = replaceUnstorable(name)
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .split(/[/\\]/)
    .at(-1)!
    .trim()
  if (/^\.*$/.test(base)) return `attachment-${index + 1}.${EXTENSIONS[type] ?? 'bin'}`
  if (base.length <= 200) return base
  const extension = /\.[\w-]{1,20}$/.exec(base)?.[0] ?? ''
  return replaceUnstorable(base.slice(0, 200 - extension.length)) + extension
}
