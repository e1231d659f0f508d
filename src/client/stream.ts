import type { components } from './api.ts'
import { backoff, Deadline, pause } from './backoff.ts'
import { type AgentCall, fill } from './call.ts'
import { AmsError } from './errors.ts'
import { type Http, isTemporary, unreachable } from './http.ts'
import { type Frame, FrameParser } from './sse.ts'

export type Event = components['schemas']['Event']
export type EventType = Event['type']

/** What an agent's stream yields. `truncated`: the events before `nextId` are no longer stored. */
export type StreamItem =
  | { type: 'event'; event: Event }
  | { type: 'truncated'; nextId: number }
  | { type: 'replaced' }

/** The agent as which a stream is opened. */
export interface Source {
  http: Http
  call: AgentCall
  /** `via` is what it is asked with if it is not known yet. */
  id(via?: Http): Promise<string>
  client: string
  machine: string
}

interface StreamOptions {
  after: number
  /** Types of the events to receive; `message.received` alone by default. */
  types?: readonly EventType[] | undefined
  signal?: AbortSignal | undefined
}

/** The service sends a heartbeat every 15 seconds: after three missing ones the connection is dead. */
const MAX_SILENCE_MS = 45_000
const BACKOFF = { baseMs: 1000, maxMs: 30_000 }

const replaced = () => new AmsError('replaced', 'Another client connected as this agent.')

/** One connection of the stream. `alive` is called when more than its opening has arrived. */
async function* framesOf(
  { http, id }: Source,
  connectionId: string,
  { after, types, signal }: StreamOptions,
  alive: () => void,
): AsyncGenerator<Frame, void, undefined> {
  const path = fill('/agents/{id}/connections/{connectionId}/events', { id: await id(), connectionId })
  const silence = new Deadline(signal)
  silence.restart(MAX_SILENCE_MS)
  try {
    const headers = { accept: 'text/event-stream' }
    const response = await http.once({
      method: 'GET',
      path,
      query: types ? { after, types: types.join() } : { after },
      headers,
      signal: silence.signal,
    })
    if (response.status === 204 || !response.body) throw replaced()
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw new AmsError('bad_response', 'The response is no stream of events.', { status: response.status })
    const [reader, decoder, parser] = [response.body.getReader(), new TextDecoder(), new FrameParser()]
    for (let chunks = 0; ; chunks++) {
      silence.restart(MAX_SILENCE_MS)
      const { done, value } = await reader.read()
      silence.stop() // while the caller works on an event, nobody listens
      if (done) return
      if (chunks > 0) alive()
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } catch (error) {
    if (error instanceof AmsError) throw error
    throw unreachable(http.url, silence.expired ? `nothing received for ${MAX_SILENCE_MS} ms` : error)
  } finally {
    silence.abort()
    silence.release()
  }
}

const itemOf = ({ event, data }: Frame): StreamItem => {
  if (event === 'replaced') return { type: 'replaced' }
  try {
    const content = JSON.parse(data)
    const id = event === 'truncated' ? content.nextId : content.id
    if (!Number.isSafeInteger(id)) throw new TypeError('it has no id')
    return event === 'truncated' ? { type: 'truncated', nextId: id } : { type: 'event', event: content }
  } catch (cause) {
    throw new AmsError('bad_response', 'An event of the stream is not what the service sends.', { cause })
  }
}

/** Whether to go on after an error: with the same connection, or (`reconnect`) with a new one. */
const afterError = (error: unknown, connected: boolean): 'retry' | 'reconnect' => {
  if (error instanceof AmsError && isTemporary(error)) return 'retry'
  if (error instanceof AmsError && error.code === 'not_found' && connected) return 'reconnect'
  throw error
}

/**
 * The agent's events after a position, over as many connections as it takes. Connects the agent's client once:
 * a lost stream is opened again under the same connection, so that it never takes over from another client.
 * Ends when `signal` is aborted or after `replaced`.
 */
export async function* readStream(
  source: Source,
  options: StreamOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const { signal, types } = options
  let after = options.after
  /** The last event that was passed on: not `after`, which is beyond the log of a database that was restored. */
  let passed = 0
  let connectionId: string | null = null
  for (let failures = 0; !signal?.aborted; failures++) {
    let atLeastMs = 0
    const alive = () => {
      failures = 0
    }
    try {
      const { client, machine } = source
      connectionId ??= (
        await source.call('put', '/agents/{id}/connection', { body: { client, machine }, signal })
      ).id
      for await (const frame of framesOf(source, connectionId, { after, types, signal }, alive)) {
        const item = itemOf(frame)
        if (item.type === 'event' && item.event.id <= passed) continue // it came before
        if (item.type === 'event') after = passed = item.event.id
        if (item.type === 'truncated') after = item.nextId - 1
        yield item
        if (item.type === 'replaced') return
      }
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof AmsError && error.code === 'replaced') return yield { type: 'replaced' }
      if (afterError(error, connectionId !== null) === 'reconnect') connectionId = null
      else source.http.outage.waiting(error as AmsError)
      atLeastMs = (error as AmsError).retryAfter ?? 0
    }
    await pause(backoff(failures, { ...BACKOFF, atLeastMs: atLeastMs * 1000 }), signal).catch(() => undefined)
  }
}
