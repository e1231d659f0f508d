import { agentCallOf, type CallOptions } from './call.ts'
import { AmsError } from './errors.ts'
import { type Message, messageOf, messageOfUrl } from './message.ts'
import { memoryStore, type PositionStore, Progress } from './position.ts'
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

/** The same agent for a loop, which must survive that the service is away for a while. */
const patient = (source: Source, signal: AbortSignal | undefined): Source => {
  const http = source.http.patient(signal)
  const id = () => source.id(http)
  return { ...source, http, id, call: agentCallOf(http, id) }
}

export const readPosition = async ({ call }: Source, { signal }: CallOptions): Promise<number> =>
  (await call('get', '/agents/{id}/events', { query: { limit: 1 }, signal })).lastId

/** Stored before the first event, so that a crash before the first `done` skips nothing. */
const startAt = async (
  source: Source,
  store: PositionStore,
  { from = 'now', signal }: InboxOptions,
): Promise<number> => {
  const position = from === 'now' ? await readPosition(source, { signal }) : from === 'beginning' ? 0 : from
  await store.save(position)
  return position
}

/** The message of an event; null if it was deleted since. */
const readMessage = async (source: Source, event: Event, signal?: AbortSignal): Promise<Message | null> => {
  if (event.channel === 'url') return messageOfUrl(event)
  try {
    const path = { messageId: event.messageId }
    return messageOf(source, await source.call('get', '/agents/{id}/messages/{messageId}', { path, signal }))
  } catch (error) {
    if (error instanceof AmsError && error.code === 'not_found') return null
    throw error
  }
}

export interface NextOptions extends CallOptions {
  /** Only from this sender: an email address, `*@example.com`, a phone number or a Telegram id. */
  from?: string | undefined
  /** Only after the event with this id, as `position()` returned it; by default after now. */
  after?: number | undefined
  /** How long to wait at most; 30 seconds by default. */
  seconds?: number | undefined
}

/** The service lets one request wait for at most 50 seconds. */
const MAX_WAIT_SECONDS = 30

const isFrom = (from: string, sender: string): boolean =>
  from.startsWith('*@')
    ? sender.toLowerCase().endsWith(from.slice(1).toLowerCase())
    : sender.toLowerCase() === from.toLowerCase()

/** The agent's next message, from a sender if one is given; null if none came in time. */
export const nextMessage = async (
  source: Source,
  { from, after, seconds = 30, signal }: NextOptions,
): Promise<Message | null> => {
  const end = Date.now() + seconds * 1000
  for (let position = after ?? (await readPosition(source, { signal })); ; ) {
    const wait = Math.min(MAX_WAIT_SECONDS, Math.max(0, Math.ceil((end - Date.now()) / 1000)))
    const query = { after: position, wait, types: RECEIVED.join() }
    const { items, lastId } = await source.call('get', '/agents/{id}/events', { query, signal })
    for (const event of items) {
      const message = event.channel === 'url' ? null : await readMessage(source, event, signal)
      if (message && (from === undefined || isFrom(from, message.counterpart))) return message
    }
    if (items.length === 0 && wait === 0) return null
    position = items.at(-1)?.id ?? Math.max(position, lastId)
  }
}

/** The agent's messages, each at least once. */
export async function* readInbox(
  agent: Source,
  options: InboxOptions,
): AsyncGenerator<Received, void, undefined> {
  const { signal, types = RECEIVED, store = memoryStore(), onTruncated } = options
  const source = patient(agent, signal)
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
