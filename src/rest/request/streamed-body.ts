import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../../core/errors.ts'
import { arrivalOf } from '../../core/http/http.ts'

/** A body that is longer than allowed. */
export class BodyTooLong extends AppError {
  constructor(max: number) {
    super('invalid_input', `body: must be at most ${max} bytes`)
  }
}

interface Limits {
  maxBytes: number
  /** Maximum time in milliseconds for the whole body. */
  maxMs: number
}

/**
 * Reads a body as it arrives, as fast as it is consumed. The request stays open when the consumer stops early,
 * so that it can be answered. Throws `BodyTooLong`, and `invalid_input` when the sender gives up.
 */
export async function* streamedBody(
  request: IncomingMessage,
  { maxBytes, maxMs }: Limits,
): AsyncGenerator<Buffer, void, undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLong(maxBytes)
  arrivalOf(request).allow(maxMs)
  let size = 0
  try {
    for await (const chunk of (request as Readable).iterator({ destroyOnReturn: false })) {
      size += chunk.length
      if (size > maxBytes) throw new BodyTooLong(maxBytes)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid_input', 'body: ended before it was complete', { cause })
  }
}
