import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { Turns } from '../../core/turns.ts'
import { type BotApi, BotApiError } from './bot-api.ts'
import type { FileToFetch } from './content.ts'

/** Maximum size of a file that bots can download. @limit SMS and Telegram */
const MAX_FILE_BYTES = 20 * 1024 * 1024
/** Maximum number of such files in memory. */
const MAX_CONCURRENT = 4
const MAX_ATTEMPTS = 3
/**
 * Time limits in milliseconds for the wait in the queue, and then for all attempts together: Telegram waits
 * about a minute for the response to its update.
 */
const QUEUE_MS = 10_000
const TIMEOUT_MS = 40_000
const MAX_NAME = 200

/** A file, or the reason why it is missing, for the message's text. */
export type Fetched = { attachment: InboundAttachment } | { missing: string }

export interface Files {
  /**
   * Fetches a file. A failure does not hold back its message. Throws `unavailable` only when too many files
   * are being fetched; Telegram then sends the update again. `signal` ends the attempts early.
   */
  fetch(token: string, file: FileToFetch, signal?: AbortSignal): Promise<Fetched>
}

const tooLarge = (size: number) =>
  `it has ${Math.ceil(size / (1024 * 1024))} MB; bots can download at most 20`

/** Returns the name without a path, so that it is safe to save the file under it. */
const fileName = (name: string): string => oneLine(name.replaceAll(/[/\\]/g, '_'), MAX_NAME) || 'file'

export const createFiles = (api: BotApi): Files => {
  const turns = new Turns({
    total: MAX_CONCURRENT,
    waitMs: QUEUE_MS,
    tooMany: () => new AppError('unavailable', 'Too many files are being fetched.', { retryAfter: 10 }),
  })

  const once = async (token: string, { id }: FileToFetch, signal: AbortSignal): Promise<Uint8Array> => {
    const { file_path } = await api.call(token, 'getFile', { file_id: id }, signal)
    if (!file_path) throw new BotApiError('Telegram does not provide it', 400)
    return api.download(token, file_path, MAX_FILE_BYTES, signal)
  }

  const withRetries = async (
    token: string,
    file: FileToFetch,
    stopping?: AbortSignal,
  ): Promise<Uint8Array> => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const signal = stopping ? AbortSignal.any([timeout, stopping]) : timeout
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(token, file, signal)
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || signal.aborted || (error instanceof BotApiError && error.permanent))
          throw error
      }
    }
  }

  return {
    fetch: async (token, file, signal) => {
      const name = fileName(file.name)
      if (file.size !== null && file.size > MAX_FILE_BYTES)
        return { missing: `[${name} is missing: ${tooLarge(file.size)}]` }
      try {
        const content = await turns.run(token, () => withRetries(token, file, signal))
        return { attachment: { name, type: oneLine(file.type, MAX_NAME), content } }
      } catch (error) {
        if (error instanceof AppError) throw error
        return { missing: `[${name} is missing: ${messageOf(error)}]` }
      }
    },
  }
}
