import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  Authentication,
  ReadBody,
  Route,
  RouteAnswer,
  RouteHead,
} from '../core/channel/callback-route.ts'
import { AppError } from '../core/errors.ts'
import { readUpTo } from '../core/http/body.ts'
import { arrivalOf, clientOf } from '../core/http/http.ts'
import { type Slot, type SlotLimits, TransferSlots } from '../core/http/transfer-slots.ts'
import type { Metrics } from '../core/metrics.ts'
import { publicError } from '../db/failure.ts'
import { refuse } from './answer.ts'

/** How long a call waits for a slot, in milliseconds. */
const WAIT_MS = 5_000

/**
 * Rejects a call before its route handles it. The connection is closed, so that the rest of the body is not
 * parsed as the next request.
 */
const refuseCall = (
  response: ServerResponse,
  status: number,
  words: string,
  headers: Record<string, string> = {},
): void =>
  refuse(response, {
    status,
    error: new AppError('invalid_input', words),
    headers: { ...headers, Connection: 'close' },
  })

const tooLong = ({ maxBytes }: Route) => `body: must be at most ${maxBytes} bytes`

const answer = (
  response: ServerResponse,
  { status, type = 'text/plain; charset=utf-8', body }: RouteAnswer,
): void => {
  response.writeHead(status, body === undefined ? {} : { 'Content-Type': type })
  response.end(body)
}

/**
 * Checks a call's headers, and waits for a slot if they do not authenticate it. Returns a function that
 * releases everything once the call is over.
 */
const admit = async (
  route: Route,
  head: RouteHead,
  slots: TransferSlots,
): Promise<{ proven: boolean; leave(): void }> => {
  const { proven }: Authentication = (await route.authenticate?.(head)) ?? { proven: false }
  const slot: Slot | null = proven ? null : await slots.enter(head.arrival, head.source, WAIT_MS)
  if (proven || slot) return { proven, leave: () => slot?.leave() }
  throw new AppError('unavailable', 'Too many calls at once.', { retryAfter: 5 })
}

const call = async (
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  slots: TransferSlots,
): Promise<void> => {
  if (request.method !== route.method)
    return refuseCall(response, 405, `${request.method} is not allowed here.`, { Allow: route.method })
  if (Number(request.headers['content-length'] ?? 0) > route.maxBytes)
    return refuseCall(response, 413, tooLong(route))
  const { url = '/', headers } = request
  const head: RouteHead = { url, headers, source: clientOf(request), arrival: arrivalOf(request) }
  const close = (error: unknown): never => {
    // the rest of an unread body must not be parsed as the next request
    response.setHeader('Connection', 'close')
    throw error
  }
  const { proven, leave } = await admit(route, head, slots).catch(close)
  let received: ReadBody | null = null
  try {
    const read = route.read ?? readWhole(route.maxBytes)
    // Otherwise a call that is refused in the middle of its body would be cut off without a response.
    const body = request.iterator({ destroyOnReturn: false })
    received = await read(body, { ...head, proven }).catch(close)
    if (received === null) return refuseCall(response, 413, tooLong(route))
    answer(response, await route.handle({ url, headers, source: head.source, body: received.body }))
  } finally {
    await received?.leave()
    leave()
  }
}

const readWhole =
  (maxBytes: number): NonNullable<Route['read']> =>
  async (arriving) => {
    const body = await readUpTo(arriving, maxBytes)
    return body && { body, leave: async () => undefined }
  }

const outcomeOf = (error: unknown): string =>
  ['internal', 'unavailable'].includes(publicError(error).code) ? 'failed' : 'refused'

export interface Callbacks {
  /** Returns the handler of a path (without its query); undefined for a path that belongs to no provider. */
  find(path: string): ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined
}

/** The webhook endpoints for all channels' providers, with metrics by outcome. */
export const createCallbacks = (
  routes: readonly Route[],
  limits: SlotLimits,
  metrics?: Metrics,
): Callbacks => {
  const slots = new TransferSlots(limits)
  return {
    find: (path) => {
      const route = routes.find((each) => path === each.path || path.startsWith(`${each.path}/`))
      return (
        route &&
        (async (request, response) => {
          try {
            await call(route, request, response, slots)
            metrics?.count('callbacks', response.statusCode < 300 ? 'taken' : 'refused')
          } catch (error) {
            metrics?.count('callbacks', outcomeOf(error))
            throw error
          }
        })
      )
    },
  }
}
