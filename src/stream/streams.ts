import type { IncomingMessage, ServerResponse } from 'node:http'
import { CLIENT_REPLACED, type ConnectionDeps, endLease, findConnection, readStanding, renewLeases } from '../agent/connection.ts'
import { invalidInput, messageOf } from '../core/errors.ts'
import { noteAsker } from '../core/http.ts'
import { uuid } from '../core/rules.ts'
import type { Feed } from '../event/feed.ts'
import { TOKENS_LOOK_MS } from '../workspace/held-tokens.ts'
import { TOKEN_REVOKED } from '../workspace/token.ts'
import { authenticate, bearerOf, type ViewerDeps } from '../workspace/viewer.ts'
import { Stream } from './stream.ts'

export interface StreamDeps extends ViewerDeps, ConnectionDeps {
  feed: Feed
}

const HEARTBEAT_MS = 15_000
const EXPIRY_CHECK_MS = 1_000
const idOf = (field: string, value: string): string => {
  const { data } = uuid.safeParse(value)
  if (data === undefined) throw invalidInput(field, 'must be a UUID')
  return data
}

/** Where a stream resumes: `Last-Event-ID` before `after`, because a browser repeats the URL of its first request. */
const resumeAt = (request: IncomingMessage): number | null => {
  const header = request.headers['last-event-id']
  const after = new URL(request.url ?? '/', 'http://localhost').searchParams.get('after')
  const value = typeof header === 'string' && header !== '' ? header : after
  if (value === null) return null
  const position = Number(value)
  if (!/^\d{1,16}$/.test(value) || !Number.isSafeInteger(position))
    throw invalidInput(value === header ? 'Last-Event-ID' : 'after', 'must be the id of an event, or 0')
  return position
}

/** The open event streams of this process. */
export class Streams {
  readonly #deps: StreamDeps
  readonly #open = new Set<Stream>()
  #looking = false
  #unsubscribe: (() => void)[] = []

  constructor(deps: StreamDeps) {
    this.#deps = deps
  }

  start(): void {
    const { notifier } = this.#deps
    const beat = setInterval(() => void this.#beat(), HEARTBEAT_MS)
    const expiry = setInterval(() => this.#endExpired(), EXPIRY_CHECK_MS)
    const look = setInterval(() => void this.#look(), TOKENS_LOOK_MS)
    this.#unsubscribe = [
      notifier.subscribe(
        CLIENT_REPLACED,
        (agentId) => void this.#check([...this.#open].filter(({ options }) => options.agentId === agentId)),
      ),
      notifier.subscribe(TOKEN_REVOKED, (tokenId) => this.#endWhere(({ options }) => options.tokenId === tokenId)),
      notifier.onReconnect(() => void this.#check([...this.#open])),
      () => clearInterval(beat),
      () => clearInterval(expiry),
      () => clearInterval(look),
    ]
  }

  /** Ends every stream: their clients reconnect, to another process or to the next start. */
  stop(): void {
    for (const end of this.#unsubscribe) end()
    this.#endWhere(() => true)
  }

  get size(): number {
    return this.#open.size
  }

  /** `GET /agents/{id}/connections/{connectionId}/events`. Throws before it has answered anything, never afterwards. */
  async serve(request: IncomingMessage, response: ServerResponse, agentId: string, connectionId: string): Promise<void> {
    const viewer = await authenticate(this.#deps, bearerOf(request.headers.authorization))
    noteAsker(response, viewer)
    const connection = await findConnection(this.#deps, viewer, idOf('id', agentId), idOf('connectionId', connectionId))
    const after = resumeAt(request) ?? Number(connection.startAfter)
    const current = connection.replacedAt === null && (await renewLeases(this.#deps, [connection.id])).has(connection.id)
    if (!current) {
      response.writeHead(204).end()
      return
    }
    const stream = new Stream(response, {
      agentId: connection.agentId,
      connectionId: connection.id,
      tokenId: viewer.tokenId,
      tokenExpiresAt: viewer.expiresAt,
      after,
    })
    this.#endWhere(({ options }) => options.connectionId === connection.id)
    this.#open.add(stream)
    await this.#run(stream)
  }

  async #run(stream: Stream): Promise<void> {
    try {
      await stream.run(this.#deps)
    } catch (error) {
      this.#deps.log.error({ err: error, agentId: stream.options.agentId }, 'a stream broke off')
      stream.end()
    } finally {
      this.#open.delete(stream)
      await this.#release(stream)
    }
  }

  async #release({ options }: Stream): Promise<void> {
    if ([...this.#open].some((other) => other.options.connectionId === options.connectionId)) return
    await endLease(this.#deps, options.agentId, options.connectionId).catch((error: unknown) =>
      this.#deps.log.warn({ error: messageOf(error) }, 'a lease could not be ended; it runs out by itself'),
    )
  }

  async #beat(): Promise<void> {
    for (const stream of this.#open) stream.heartbeat()
    await this.#check([...this.#open])
  }

  /** Renews the leases of these streams and ends those whose connection was replaced or is gone. */
  async #check(streams: readonly Stream[]): Promise<void> {
    if (streams.length === 0) return
    try {
      const current = await renewLeases(
        this.#deps,
        streams.map(({ options }) => options.connectionId),
      )
      for (const stream of streams) if (!current.has(stream.options.connectionId)) stream.replace()
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'leases could not be renewed')
    }
  }

  /** Ends what no notification told of. */
  async #look(): Promise<void> {
    if (this.#open.size === 0 || this.#looking) return
    this.#looking = true
    try {
      const ended = (
        await readStanding(
          this.#deps,
          [...this.#open].map(({ options }) => options),
        )
      ).filter(({ is }) => is !== 'current')
      for (const { connectionId, tokenId, is } of ended)
        for (const stream of [...this.#open])
          if (stream.options.connectionId === connectionId && stream.options.tokenId === tokenId)
            is === 'gone' ? stream.end() : stream.replace()
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'streams could not be checked')
    } finally {
      this.#looking = false
    }
  }

  #endExpired(): void {
    const now = this.#deps.clock.now()
    this.#endWhere(({ options }) => options.tokenExpiresAt !== null && options.tokenExpiresAt <= now)
  }

  #endWhere(applies: (stream: Stream) => boolean): void {
    for (const stream of [...this.#open]) if (applies(stream)) stream.end()
  }
}
