import type { SMTPServerDataStream } from 'smtp-server'
import type { Wait } from '../reading/mail-reader.ts'
import type { ArrivingMail } from './intake.ts'
import { Reply } from './smtp-reply.ts'

/** Yields the message's bytes. Throws a `Reply` if the client disconnects; it is never sent. */
async function* untilBroken(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch {
    throw new Reply(421, 'The connection was lost')
  }
}

/**
 * Collects the whole message. A refused one is read to its end too, so that the client receives the reply. The
 * caller must end `mail`.
 */
export async function collect(
  stream: SMTPServerDataStream,
  mail: ArrivingMail,
  size: number,
  wait: Wait,
): Promise<Buffer> {
  let bytes = 0
  let refusal: unknown = null
  for await (const chunk of untilBroken(stream)) {
    bytes += chunk.length
    if (refusal !== null) continue
    try {
      if (bytes > size) throw new Reply(552, `Message is longer than ${size} bytes`)
      await mail.add(chunk)
    } catch (error) {
      refusal = error
      await mail.end()
    }
  }
  if (refusal !== null) throw refusal
  return mail.finish(wait)
}
