import type { ServerResponse } from 'node:http'
import { connectClient, type Subscription } from '../agent/index.ts'
import type { Context } from '../context.ts'
import { EventStreamWriter, reconnectFrame } from '../core/http/event-stream.ts'
import { Places } from '../core/places.ts'
import { publicError } from '../db/failure.ts'
import { hearsMessages, type LoggedEvent, positionOf } from '../event/index.ts'
import { eventError, exhausted, type RpcError, refusal, replacedByAnother } from './call/errors.ts'
import type { Call } from './call/tool.ts'
import {
  type ClientInfo,
  clientOf,
  type EventParams,
  occurrence,
  readWanted,
  type Start,
  startOf,
  type Wanted,
  wants,
} from './events.ts'

/** `events/stream`. A stream of new messages with an agent's token is the agent's connected client. */

/** Event streams of a token in a process. @limit MCP */
const MAX_STREAMS_PER_TOKEN = 100
const HEARTBEAT_MS = 15_000
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

type RequestId = string | number

/** Who sent the request, and its id. */
interface Asker {
  id: RequestId
  client: ClientInfo
  /** Writes an error in the codes that the client knows. */
  codes(error: RpcError): RpcError
}

interface Opened extends Pick<Asker, 'id' | 'codes'> {
  wanted: Wanted
  start: Start
  session: Subscription
}

const frame = (message: object): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

/** One open event stream. */
export class Push {
  readonly #opened: Opened
  readonly #deps: Context
  readonly #done: () => Promise<void>
  #position: number
  #writer: EventStreamWriter | null = null

  constructor(deps: Context, opened: Opened, done: () => Promise<void>) {
    this.#deps = deps
    this.#opened = opened
    this.#done = done
    this.#position = opened.start.after
  }

  /** Writes events until either side ends the stream, and then releases everything. Never rejects. */
  async serve(response: ServerResponse): Promise<void> {
    try {
      if (!response.closed) await this.#run(new EventStreamWriter(response))
    } finally {
      await this.#done()
    }
  }

  /** Sends the current position, which also moves past events that the client did not ask for. */
  heartbeat(): void {
    this.#writer?.offer(this.#notice('heartbeat', { cursor: String(this.#position) }))
  }

  async #run(writer: EventStreamWriter): Promise<void> {
    const { start, session } = this.#opened
    this.#writer = writer
    writer.open(this.#notice('active', { cursor: String(start.after), truncated: start.truncated }))
    writer.endWith(session.signal, () => this.#lastFrames())
    try {
      await this.#follow(writer)
    } catch (error) {
      this.#deps.log.error({ err: error, agentId: this.#opened.wanted.agent.id }, 'an event stream failed')
      writer.end(
        this.#notice('terminated', { error: this.#opened.codes(eventError(error)) }) + this.#result(),
      )
    }
  }

  async #follow(writer: EventStreamWriter): Promise<void> {
    const { wanted, start } = this.#opened
    const { signal } = writer
    for await (const items of this.#deps.feed.steady(wanted.agent.id, start.after, signal)) {
      for (const item of items) {
        if (signal.aborted) return
        this.#position = positionOf(item)
        const room =
          'truncated' in item
            ? writer.write(this.#gap())
            : !wants(wanted, item) || writer.write(this.#event(item))
        if (!room) await writer.drained()
      }
    }
  }

  /** The reason for the end, or when to connect again if the service is stopping; and the request's result. */
  #lastFrames(): string {
    const { reason } = this.#opened.session
    if (reason?.code === 'unavailable') return reconnectFrame() + this.#result()
    const ended = reason && this.#notice('terminated', { error: this.#opened.codes(whyEnded(reason)) })
    return (ended ?? '') + this.#result()
  }

  #event(item: LoggedEvent): string {
    return this.#notice('event', occurrence(item, this.#opened.wanted))
  }

  #gap(): string {
    return this.#notice('active', { cursor: String(this.#position), truncated: true })
  }

  get #meta() {
    return { _meta: { [SUBSCRIPTION_ID]: this.#opened.id } }
  }

  #notice(what: string, params: object): string {
    return frame({ method: `notifications/events/${what}`, params: { ...params, ...this.#meta } })
  }

  #result(): string {
    return frame({ id: this.#opened.id, result: { resultType: 'complete', ...this.#meta } })
  }
}

const whyEnded = (reason: unknown): RpcError =>
  publicError(reason).code === 'conflict' ? replacedByAnother() : eventError(reason)

/** The open event streams of this process. */
export class Pushes {
  readonly #deps: Context
  readonly #open = new Set<Push>()
  readonly #places = new Places(MAX_STREAMS_PER_TOKEN)
  readonly #beat: NodeJS.Timeout

  constructor(deps: Context) {
    this.#deps = deps
    this.#beat = setInterval(() => {
      for (const push of this.#open) push.heartbeat()
    }, HEARTBEAT_MS)
  }

  get size(): number {
    return this.#open.size
  }

  stop(): void {
    clearInterval(this.#beat)
  }

  /**
   * Opens a stream. One of new messages with an agent's own token replaces the agent's client. Throws the error with which
   * the request is refused.
   */
  async open(call: Call, params: EventParams, asker: Asker): Promise<Push> {
    const leave = this.#places.take(call.viewer.tokenId)
    const { max } = this.#places
    if (!leave)
      throw refusal(
        exhausted('streams', max, `A token can have ${max} streams open at a time. Close one first.`),
      )
    try {
      return await this.#begin(call, params, asker, leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  async #begin(
    call: Call,
    params: EventParams,
    { id, client, codes }: Asker,
    leave: () => void,
  ): Promise<Push> {
    const { viewer } = call
    const wanted = await readWanted(call, params)
    const agentId = wanted.agent.id
    // A request that is refused must not replace the client, so this comes first.
    const start = await startOf(call, agentId, params)
    // A client opens one stream per event type, and must not replace itself.
    const connection =
      viewer.kind === 'agent' && hearsMessages([wanted.type])
        ? await connectClient(this.#deps, viewer, agentId, { client: clientOf(client), machine: 'MCP' })
        : null
    const { tokenId, workspaceId, expiresAt: tokenExpiresAt } = viewer
    const options = { agentId, workspaceId, tokenId, tokenExpiresAt, connectionId: connection?.id ?? null }
    const session = await this.#deps.subscriptions
      .open({ ...options, via: 'mcp' })
      .catch((error: unknown) => {
        throw refusal(whyEnded(error))
      })
    const push = new Push(this.#deps, { id, codes, wanted, start, session }, async () => {
      this.#open.delete(push)
      leave()
      await this.#deps.subscriptions.close(session)
    })
    this.#open.add(push)
    return push
  }
}
