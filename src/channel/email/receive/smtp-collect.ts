import type { SMTPServerDataStream } from 'smtp-server'
import type { Arrival } from '../../../core/arrivals.ts'
import type { MemoryShare } from '../../../core/memory-share.ts'
import type { Slot, TransferSlots } from '../../../core/transfer-slots.ts'
import { MessageBuffer } from './message-buffer.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import { Reply } from './smtp-reply.ts'

const TOO_MANY_LONG = new Reply(451, 'Too many long messages at once, try again later')
const TOO_MUCH = new Reply(451, 'Too much mail at once, try again later')

/** A message's bytes, and the place that it takes in memory. */
export interface Collected {
  raw: Buffer
  slot: Slot
}

/**
 * The message's bytes. Rejects with a `Reply` when the sender goes away in the middle: their affair, and
 * nobody hears it.
 */
async function* untilBroken(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch {
    throw new Reply(421, 'The connection was lost')
  }
}

/** Where messages get their places, and who sends this one. */
export interface Intake {
  slots: TransferSlots
  /** Where short messages are counted. */
  share: MemoryShare
  arrival: Arrival
  source: string
  limits: SmtpLimits
}

/**
 * The whole message, with its place, which whoever calls leaves again. Reads to its end even when it can't be
 * taken, so that the client gets its answer.
 */
export async function collect(
  stream: SMTPServerDataStream,
  { slots, share, arrival, source, limits }: Intake,
): Promise<Collected> {
  const { size, smallBytes, waitMs } = limits
  const gathering = new MessageBuffer()
  let bytes = 0
  let slot: Slot | null = null
  let refusal: Reply | null = null
  try {
    for await (const chunk of untilBroken(stream)) {
      bytes += chunk.length
      if (refusal === null && bytes > size) refusal = new Reply(552, `Message is longer than ${size} bytes`)
      if (refusal === null && bytes > smallBytes && slot === null) {
        slot = await slots.enter(arrival, source, waitMs)
        if (slot) gathering.reserve(size)
        else refusal = TOO_MANY_LONG
        share.leave(arrival)
      }
      if (refusal === null && slot === null && !share.add(arrival, source, chunk.length)) refusal = TOO_MUCH
      if (refusal === null) gathering.add(chunk)
      else gathering.drop()
    }
    if (refusal !== null) throw refusal
    return { raw: gathering.take(), slot: slot ?? { leave: () => share.leave(arrival) } }
  } catch (error) {
    slot?.leave()
    share.leave(arrival)
    throw error
  } finally {
    arrival.end()
  }
}
