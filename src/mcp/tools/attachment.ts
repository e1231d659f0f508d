import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { uuid } from '../../core/rules.ts'
import { readAttachment, readMessage } from '../../message/index.ts'
import { compact, READS_OUTSIDE, ResultWithImage, tool } from '../call/tool.ts'
import { cleanPage } from '../outside-text/pages.ts'
import { isTeams, mediaTypeOf } from '../view/message.ts'

/**
 * Images that a tool returns: 1 MiB is 1.4 million characters in base64, about as much as hosts accept.
 * @limit MCP
 */
const MAX_IMAGE_BYTES = 1024 * 1024
/** Maximum size of an attachment whose text a tool returns. @limit MCP */
const MAX_TEXT_BYTES = 5 * 1024 * 1024

const MAX_NAME = 160

/** Types that are shown as text. HTML is not: it can hide text. */
const TEXT =
  /^(?:text\/(?!html)[a-z0-9.+-]+|application\/(?!xhtml)(?:[a-z0-9.-]+\+)?(?:json|xml|yaml|toml|sql)|application\/x-ndjson|message\/rfc822)$/
/** What mail programs declare for files of a type that they do not know. */
const UNKNOWN = 'application/octet-stream'
/** Control characters that no text contains. */
const BINARY = /(?!\s)\p{Cc}/u
const HTML = /^\ufeff?\s*<(?:!doctype\s+html|html|head|body)\b/i

/** Whether a file of an undeclared type is text, as far as its bytes say; HTML is not, as above. */
const isText = (content: Uint8Array): boolean => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    return !BINARY.test(text) && !HTML.test(text)
  } catch {
    return false
  }
}

/** How images begin: the type comes from the bytes, not from the sender. */
const SIGNATURES: readonly [RegExp, string][] = [
  [/^89504e470d0a1a0a/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  [/^47494638(?:37|39)61/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
]

const imageType = (content: Uint8Array): string | null => {
  const start = Buffer.from(content.subarray(0, 16)).toString('hex')
  return SIGNATURES.find(([pattern]) => pattern.test(start))?.[1] ?? null
}

/** A decoder for the charset that the type names, or for UTF-8 if it names none or an unknown one. */
const decoderOf = (type: string): TextDecoder => {
  try {
    return new TextDecoder(/charset="?([\w.:+-]{1,40})/i.exec(type)?.[1] ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}

export const getAttachment = tool({
  name: 'get_attachment',
  title: 'Get an attachment',
  description: 'Get an attachment as text or image, or only the size and type of other files.',
  hints: READS_OUTSIDE,
  input: {
    messageId: uuid,
    attachmentId: z.int().min(0).max(9999).describe('From read_message.'),
    offset: z.int().min(0).optional().describe('nextOffset of the previous page.'),
  },
  run: async ({ deps, viewer, agentId, fence }, { messageId, attachmentId, offset = 0 }) => {
    const message = await readMessage(deps, viewer, agentId, messageId)
    const file = message.attachments[attachmentId]
    if (!file) throw notFound('attachment', 'number')
    fence.note(isTeams(message, ''))
    const declared = mediaTypeOf(file.type)
    const about = {
      fence: fence.id,
      name: fence.wrap(file.name, MAX_NAME),
      type: fence.mediaType(declared),
      size: file.size,
    }
    const isImage = declared.startsWith('image/') && file.size <= MAX_IMAGE_BYTES
    const mayBeText = (TEXT.test(declared) || declared === UNKNOWN) && file.size <= MAX_TEXT_BYTES
    const { type, content } =
      isImage || mayBeText
        ? await readAttachment(deps, viewer, agentId, { messageId, index: attachmentId })
        : { type: '', content: new Uint8Array() }
    if (mayBeText && (declared !== UNKNOWN || isText(content))) {
      const { text, nextOffset } = cleanPage(decoderOf(type).decode(content), offset)
      return compact({ ...about, text: fence.around(text), nextOffset })
    }
    const mimeType = content.byteLength <= MAX_IMAGE_BYTES ? imageType(content) : null
    if (mimeType)
      return new ResultWithImage(
        { ...about, type: mimeType },
        { data: Buffer.from(content).toString('base64'), mimeType },
      )
    return { ...about, next: isImage ? NO_IMAGE : NOT_SHOWN }
  },
})

const NO_IMAGE = 'This file is not an image, although its type says so.'
const NOT_SHOWN =
  'Files of this type or size cannot be shown here. If you need the content, ask a member of the workspace.'
