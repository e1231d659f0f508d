import { backoff, pause } from './backoff.ts'
import { AmsError } from './errors.ts'
import { isTemporary } from './http.ts'
import { type Message, messageOf, messageOfUrl } from './message.ts'
import { findHead, memoryStore, type PositionStore, Progress } from './position.ts'
import { type Event, type EventType, readStream, type Source } from './stream.ts'

/** Where to start: after what is there already, with all that is stored, or after an event's id. */
export type From = 'now' | 'beginning' | number

export interface InboxOptions {
  /** Keeps the position; by default it is forgotten when the process ends. */
  store?: PositionStore | undefined
  /** Where to start when the store is empty; `now` by default. */
  from?: From | undefined
  /** Types of the events whose messages to yield; `message.received` alone by default. */
  types?: readonly EventType[] | undefined
  /** Ends the loop. */
  signal?: AbortSignal | undefined
  /** Called when events before `nextId` were removed (after 7 days) while nobody listened. */
  onTruncated?: ((nextId: number) => void) | undefined
}

export interface Received {
  message: Message
  event: Event
  /** Marks the message as handled: it will not be delivered again. */
  done(): Promise<void>
}

const RECEIVED: readonly EventType[] = ['message.received']
const BACKOFF = { baseMs: 1000, maxMs: 30_000 }

/** Stored before the first event, so that a crash before the first `done` skips nothing. */
const startAt = async (
  source: Source,
  store: PositionStore,
  { from = 'now', signal }: InboxOptions,
): Promise<number> => {
  const first = async (after: number) => {
    const page = await source.call('get', '/agents/{id}/events', { query: { after, limit: 1 }, signal })
    return page.items[0]?.id ?? null
  }
  const position = from === 'now' ? await findHead(first) : from === 'beginning' ? 0 : from
  await store.save(position)
  return position
}

/** The message of an event; null if it was deleted since. Waits for the service as long as that takes. */
const readMessage = async (source: Source, event: Event, signal?: AbortSignal): Promise<Message | null> => {
  if (event.channel === 'url') return messageOfUrl(event)
  for (let attempt = 0; ; attempt++) {
    try {
      const path = { messageId: event.messageId }
      return messageOf(
        source,
        await source.call('get', '/agents/{id}/messages/{messageId}', { path, signal }),
      )
    } catch (error) {
      if (!(error instanceof AmsError)) throw error
      if (error.code === 'not_found') return null
      if (!isTemporary(error)) throw error
      await pause(backoff(attempt, { ...BACKOFF, atLeastMs: (error.retryAfter ?? 0) * 1000 }), signal)
    }
  }
}

/** The agent's messages, each at least once. */
export async function* readInbox(
  source: Source,
  options: InboxOptions,
): AsyncGenerator<Received, void, undefined> {
  const { signal, types = RECEIVED, store = memoryStore(), onTruncated } = options
  try {
    const stored = await store.load()
    const position = stored ?? (await startAt(source, store, options))
    const progress = new Progress(store, position)
    // Who starts at "now" or at the beginning misses nothing of what was removed before.
    let isExpected = stored === null && typeof options.from !== 'number'
    for await (const item of readStream(source, { after: position, types: options.types, signal })) {
      if (item.type === 'replaced') throw new AmsError('replaced', 'Another client connected as this agent.')
      if (item.type === 'truncated') {
        if (!isExpected) onTruncated?.(item.nextId)
        await progress.skipTo(item.nextId - 1)
      } else {
        const { event } = item
        progress.deliver(event.id)
        const done = () => progress.done(event.id)
        const message = types.includes(event.type) ? await readMessage(source, event, signal) : null
        if (message) yield { message, event, done }
        else await done()
      }
      isExpected = false
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}
