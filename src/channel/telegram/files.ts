import { AppError, messageOf } from '../../core/errors.ts'
import type { InboundAttachment } from '../channel.ts'
import { oneLine } from '../sanitize-text.ts'
import { Semaphore } from '../semaphore.ts'
import { type BotApi, BotApiError } from './bot-api.ts'
import type { FileToFetch } from './content.ts'

/** What the Bot API lets bots download. */
const MAX_FILE_BYTES = 20 * 1024 * 1024
/** Files of that size in memory at once. */
const MAX_AT_ONCE = 4
const TRIES = 3
/**
 * Until its turn, and then all tries together: Telegram waits about a minute for the answer to its update.
 */
const TURN_MS = 10_000
const PATIENCE_MS = 40_000
const MAX_NAME = 200

/** A file, or why it is not there, in words for the message's text. */
export type Fetched = { attachment: InboundAttachment } | { missing: string }

export interface Files {
  /**
   * A file that can't be had doesn't keep its message back. Throws `unavailable` only when there is no room
   * for it now: then the message is asked for again.
   */
  fetch(token: string, file: FileToFetch): Promise<Fetched>
}

const tooLarge = (size: number) =>
  `it has ${Math.ceil(size / (1024 * 1024))} MB; bots can download at most 20`

/** A name without a path, for whoever saves the file under it. */
const fileName = (name: string): string => oneLine(name.replaceAll(/[/\\]/g, '_'), MAX_NAME) || 'file'

export const createFiles = (api: BotApi): Files => {
  const room = new Semaphore(MAX_AT_ONCE)

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!(await room.enter(TURN_MS)))
      throw new AppError('unavailable', 'Too many files are being fetched.', { retryAfter: 10 })
    try {
      return await work()
    } finally {
      room.leave()
    }
  }

  const once = async (token: string, { id }: FileToFetch, signal: AbortSignal): Promise<Uint8Array> => {
    const { file_path } = await api.call(token, 'getFile', { file_id: id }, signal)
    if (!file_path) throw new BotApiError('Telegram does not provide it', 400)
    return api.download(token, file_path, MAX_FILE_BYTES, signal)
  }

  const patiently = async (token: string, file: FileToFetch): Promise<Uint8Array> => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(token, file, signal)
      } catch (error) {
        if (attempt === TRIES || signal.aborted || (error instanceof BotApiError && error.permanent))
          throw error
      }
    }
  }

  return {
    fetch: async (token, file) => {
      const name = fileName(file.name)
      if (file.size !== null && file.size > MAX_FILE_BYTES)
        return { missing: `[${name} is missing: ${tooLarge(file.size)}]` }
      try {
        const content = await inTurn(() => patiently(token, file))
        return { attachment: { name, type: oneLine(file.type, MAX_NAME), content } }
      } catch (error) {
        if (error instanceof AppError) throw error
        return { missing: `[${name} is missing: ${messageOf(error)}]` }
      }
    },
  }
}
