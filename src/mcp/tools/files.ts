import { extname } from 'node:path'
import { z } from 'zod'
import type { Context } from '../../context.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import {
  fileName,
  fitsOneMessage,
  MAX_ATTACHMENTS,
  TOO_LARGE_TOGETHER,
  text,
  uuid,
} from '../../core/rules.ts'
import { ensureScope } from '../../core/scopes.ts'
import { readAttachment, type SendInput } from '../../message/index.ts'
import type { ToolCall } from '../call/tool.ts'

/** Less than a request may have. */
const MAX_TEXT = 300_000

/** Files to send, without base64, which models get wrong: new texts, and attachments of the agent's messages. */
export const filesArgument = z
  .array(
    z
      .strictObject({
        name: fileName.optional(),
        text: text(0, MAX_TEXT).optional(),
        messageId: uuid.optional(),
        attachmentId: z.int().min(0).max(9999).optional(),
      })
      .refine(
        ({ name, text, messageId, attachmentId }) =>
          messageId === undefined
            ? name !== undefined && text !== undefined && attachmentId === undefined
            : attachmentId !== undefined && text === undefined,
        'must have name and text, or messageId and attachmentId',
      ),
  )
  .max(MAX_ATTACHMENTS, `must be at most ${MAX_ATTACHMENTS} files`)
  .optional()
  .describe('Each {name, text} or {messageId, attachmentId}.')

type File = NonNullable<SendInput['attachments']>[number]
type GivenFile = NonNullable<z.output<typeof filesArgument>>[number]

/** Media types of texts by the end of their names. */
const TEXT_TYPES: Record<string, string> = {
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.xml': 'application/xml',
}

const readFile = async (
  { viewer, agentId }: ToolCall,
  deps: Context,
  { name, text, messageId, attachmentId }: GivenFile,
): Promise<File> => {
  if (messageId === undefined) {
    const type = TEXT_TYPES[extname(name!).toLowerCase()] ?? 'text/plain'
    return { name: name!, type, content: Buffer.from(text!) }
  }
  ensureScope(viewer, 'messages:read')
  const file = await readAttachment(deps, viewer, agentId, { messageId, index: attachmentId! })
  return { name: name ?? file.name, type: file.type.split(';', 1)[0]!, content: file.content }
}

/** Reads the files one by one. Throws `invalid_input` for one that does not exist, and when they are too large together. */
export const readFiles = async (
  call: ToolCall,
  deps: Context,
  given: readonly GivenFile[] | undefined,
): Promise<File[] | undefined> => {
  if (given === undefined) return undefined
  const files: File[] = []
  for (const [index, one] of given.entries()) {
    files.push(
      await readFile(call, deps, one).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found')
          throw invalidInput(`files[${index}]`, 'is not an attachment of a message of this agent')
        throw error
      }),
    )
    if (!fitsOneMessage(files)) throw invalidInput('files', TOO_LARGE_TOGETHER)
  }
  return files
}
