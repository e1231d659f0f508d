import { z } from 'zod'
import { AppError, notFound } from '../../core/errors.ts'
import { uuid } from '../../core/rules.ts'
import { readAttachment, readMessage, readWholeText } from '../../message/index.ts'
import { compact, READS_OUTSIDE, ResultWithImage, type ToolCall, tool } from '../call/tool.ts'
import { cleanPage } from '../outside-text/pages.ts'
import { isTeams, mediaTypeOf } from '../view/message.ts'

/**
 * Images that a tool returns: 1 MiB is 1.4 million characters in base64, about as much as hosts accept.
 * @limit MCP
 */
const MAX_IMAGE_BYTES = 1024 * 1024
const MAX_NAME = 160

/** What mail programs declare for files of a type that they do not know. */
const UNKNOWN = 'application/octet-stream'

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

/** Returns a page of a file's text between markers, or why it has none. */
const textOf = async (
  { deps, viewer, agentId, fence }: ToolCall,
  place: { messageId: string; index: number },
  offset: number,
) => {
  try {
    const { text, format, pages } = await readWholeText(deps, viewer, { agentId, ...place })
    const page = cleanPage(text, offset)
    return { format, pages, text: fence.around(page.text), nextOffset: page.nextOffset }
  } catch (error) {
    if (!(error instanceof AppError) || error.field !== 'attachment') throw error
    return { next: `${error.message}. ${NOT_SHOWN}` }
  }
}

export const getAttachment = tool({
  name: 'get_attachment',
  title: 'Get an attachment',
  description: 'Get the text of an attachment (PDF, Office, HTML, CSV, ZIP as a list …) or an image.',
  hints: READS_OUTSIDE,
  scope: 'messages:read',
  input: {
    messageId: uuid,
    attachmentId: z.int().min(0).max(9999).describe('From read_message.'),
    offset: z.int().min(0).optional().describe('The last nextOffset.'),
  },
  run: async (call, { messageId, attachmentId: index, offset = 0 }) => {
    const { deps, viewer, agentId, fence } = call
    const message = await readMessage(deps, viewer, agentId, messageId)
    const file = message.attachments[index]
    if (!file) throw notFound('attachment', 'number')
    fence.note(isTeams(message, ''))
    const declared = mediaTypeOf(file.type)
    const about = {
      fence: fence.id,
      name: fence.wrap(file.name, MAX_NAME),
      type: fence.mediaType(declared),
      size: file.size,
    }
    const isImage = declared.startsWith('image/')
    const mayBeImage = file.size <= MAX_IMAGE_BYTES && (isImage || declared === UNKNOWN)
    const { content } = mayBeImage
      ? await readAttachment(deps, viewer, agentId, { messageId, index })
      : { content: new Uint8Array() }
    const mimeType = imageType(content)
    if (mimeType)
      return new ResultWithImage(
        { ...about, type: mimeType },
        { data: Buffer.from(content).toString('base64'), mimeType },
      )
    if (isImage) return { ...about, next: mayBeImage ? NO_IMAGE : NOT_SHOWN }
    return compact({ ...about, ...(await textOf(call, { messageId, index }, offset)) })
  },
})

const NO_IMAGE = 'This file is not an image, although its type says so.'
const NOT_SHOWN =
  'Files of this type or size cannot be shown here. If you need the content, ask a member of the workspace.'
