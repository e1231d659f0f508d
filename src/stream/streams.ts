import type { IncomingMessage, ServerResponse } from 'node:http'
import { findConnection, type Subscription, type Subscriptions } from '../agent/index.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { clientOf, noteRequester } from '../core/http/http.ts'
import type { Logger } from '../core/logger.ts'
import { uuid } from '../core/rules.ts'
import { ensureScope } from '../core/scopes.ts'
import {
  type EventType,
  type Feed,
  HEARD_BY_DEFAULT,
  heardTypesInQuery,
  hearsMessages,
} from '../event/index.ts'
import {
  authenticate,
  countRequest,
  overQuota,
  type QuotaDeps,
  type Viewer,
  type ViewerDeps,
} from '../workspace/index.ts'
import { Stream } from './stream.ts'

type StreamDeps = ViewerDeps & QuotaDeps & { feed: Feed; subscriptions: Subscriptions; log: Logger }

type Connection = Awaited<ReturnType<typeof findConnection>>

const HEARTBEAT_MS = 15_000
const idOf = (field: string, value: string): string => {
  const { data } = uuid.safeParse(value)
  if (data === undefined) throw invalidInput(field, 'must be a UUID')
  return data
}

const queryOf = ({ url }: IncomingMessage) => new URL(url ?? '/', 'http://localhost').searchParams

const typesOf = (request: IncomingMessage): readonly EventType[] => {
  const asked = queryOf(request).get('types')
  if (asked === null) return HEARD_BY_DEFAULT
  const { data, error } = heardTypesInQuery.safeParse(asked)
  if (!data) throw invalidInput('types', error.issues[0]!.message)
  return data
}

/**
 * Returns the position at which a stream resumes. `Last-Event-ID` takes precedence over `after`, because a
 * browser repeats the URL of its first request.
 */
const resumeAt = (request: IncomingMessage): number | null => {
  const header = request.headers['last-event-id']
  const after = queryOf(request).get('after')
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
  readonly #beat: NodeJS.Timeout

  constructor(deps: StreamDeps) {
    this.#deps = deps
    this.#beat = setInterval(() => {
      for (const stream of this.#open) stream.heartbeat()
    }, HEARTBEAT_MS)
  }

  /** Stops the heartbeat. The streams end with their subscriptions. */
  stop(): void {
    clearInterval(this.#beat)
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Serves `GET /agents/{id}/connections/{connectionId}/events`. Resolves when the stream is open. Throws only
   * before the response has started; also `rate_limited` when too many streams are open, or over the token's quota.
   */
  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    agentId: string,
    connectionId: string,
  ): Promise<void> {
    const viewer = await authenticate(this.#deps, bearerOf(request.headers.authorization), clientOf(request))
    noteRequester(response, viewer)
    const quota = countRequest(this.#deps, viewer, response)
    if (!quota.allowed) throw overQuota(quota)
    ensureScope(viewer, 'events')
    const connection = await findConnection(
      this.#deps,
      viewer,
      idOf('id', agentId),
      idOf('connectionId', connectionId),
    )
    const after = resumeAt(request) ?? connection.startAfter
    const types = typesOf(request)
    const opening = { ...connection, listens: hearsMessages(types) }
    const session = connection.replacedAt === null ? await this.#openSession(viewer, opening) : null
    if (!session) return void response.writeHead(204).end()
    const stream = new Stream(this.#deps, session, response, { after, types })
    this.#open.add(stream)
    stream.onClose(() => {
      this.#open.delete(stream)
      void this.#deps.subscriptions.close(session)
    })
  }

  /** Returns null when another client has taken over. */
  #openSession(
    { tokenId, workspaceId, expiresAt }: Viewer,
    { agentId, id, listens }: Connection & { listens: boolean },
  ): Promise<Subscription | null> {
    const options = { agentId, workspaceId, tokenId, tokenExpiresAt: expiresAt, connectionId: id, listens }
    return this.#deps.subscriptions.open({ ...options, via: 'stream' }).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'conflict') return null
      throw error
    })
  }
}
