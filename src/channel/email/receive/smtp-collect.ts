import type { SMTPServerDataStream } from 'smtp-server'
import type { Arrival } from '../../../core/arrivals.ts'
import type { MemoryShare } from '../../../core/memory-share.ts'
import type { Slot, TransferSlots } from '../../../core/transfer-slots.ts'
import { MessageBuffer } from './message-buffer.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import { Reply } from './smtp-reply.ts'

const TOO_MANY_LONG = new Reply(451, 'Too many long messages at once, try again later')
const TOO_MUCH = new Reply(451, 'Too much mail at once, try again later')

/** A message and the slot that it occupies in memory. */
export interface Collected {
  raw: Buffer
  slot: Slot
}

/** Yields the message's bytes. Throws a `Reply` if the client disconnects; it is never sent. */
async function* untilBroken(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch {
    throw new Reply(421, 'The connection was lost')
  }
}

/** The memory limits for messages, and the message's source. */
export interface Intake {
  slots: TransferSlots
  /** Memory used by short messages. */
  share: MemoryShare
  arrival: Arrival
  source: string
  limits: SmtpLimits
}

/**
 * Collects the whole message and its slot, which the caller must leave. A refused message is read to its end
 * too, so that the client receives the reply.
 */
export async function collect(
  stream: SMTPServerDataStream,
  { slots, share, arrival, source, limits }: Intake,
): Promise<Collected> {
  const { size, smallBytes, waitMs } = limits
  const buffer = new MessageBuffer()
  let bytes = 0
  let slot: Slot | null = null
  let refusal: Reply | null = null
  try {
    for await (const chunk of untilBroken(stream)) {
      bytes += chunk.length
      if (refusal === null && bytes > size) refusal = new Reply(552, `Message is longer than ${size} bytes`)
      if (refusal === null && bytes > smallBytes && slot === null) {
        slot = await slots.enter(arrival, source, waitMs)
        if (slot) buffer.reserve(size)
        else refusal = TOO_MANY_LONG
        share.leave(arrival)
      }
      if (refusal === null && slot === null && !share.add(arrival, source, chunk.length)) refusal = TOO_MUCH
      if (refusal === null) buffer.add(chunk)
      else buffer.drop()
    }
    if (refusal !== null) throw refusal
    return { raw: buffer.take(), slot: slot ?? { leave: () => share.leave(arrival) } }
  } catch (error) {
    slot?.leave()
    share.leave(arrival)
    throw error
  } finally {
    arrival.end()
  }
}
