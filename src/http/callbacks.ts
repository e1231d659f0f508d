import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Route, RouteAnswer } from '../channel/channel.ts'
import { AppError } from '../core/errors.ts'
import { httpFailure } from '../core/http.ts'
import type { Metrics } from '../core/metrics.ts'
import { publicError } from '../db/failure.ts'

/** The whole body, or null as soon as it is longer than `most` bytes. */
const readUpTo = async (request: IncomingMessage, most: number): Promise<Buffer | null> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What is refused before the route sees it. What is left of its body must not be taken for the next request. */
const refuse = (response: ServerResponse, status: number, words: string, headers: Record<string, string> = {}): void => {
  const { body } = httpFailure(new AppError('invalid_input', words), status)
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json', Connection: 'close' }).end(JSON.stringify(body))
}

/** What is left of a body that is not read must not be taken for the next request. */
const enter = async (route: Route, { headers }: IncomingMessage, response: ServerResponse): Promise<(() => void) | undefined> => {
  try {
    return await route.enter?.(headers)
  } catch (error) {
    response.setHeader('Connection', 'close')
    throw error
  }
}

const answer = (response: ServerResponse, { status, type = 'text/plain; charset=utf-8', body }: RouteAnswer): void => {
  response.writeHead(status, body === undefined ? {} : { 'Content-Type': type })
  response.end(body)
}

const call = async (route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.method !== route.method) return refuse(response, 405, `${request.method} is not allowed here.`, { Allow: route.method })
  const leave = await enter(route, request, response)
  try {
    const body = await readUpTo(request, route.mostBytes)
    if (body === null) return refuse(response, 413, `body: must be at most ${route.mostBytes} bytes`)
    answer(response, await route.handle({ url: request.url ?? '/', headers: request.headers, body }))
  } finally {
    leave?.()
  }
}

const outcomeOf = (error: unknown): string => (['internal', 'unavailable'].includes(publicError(error).code) ? 'failed' : 'refused')

export interface Callbacks {
  /** What serves this path (without its query); undefined for a path that is no provider's. */
  find(path: string): ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined
}

/** The webhooks of all channels' providers, counted by what became of them. */
export const createCallbacks = (routes: readonly Route[], metrics?: Metrics): Callbacks => ({
  find: (path) => {
    const route = routes.find((each) => path === each.path || path.startsWith(`${each.path}/`))
    return (
      route &&
      (async (request, response) => {
        try {
          await call(route, request, response)
          metrics?.count('callbacks', response.statusCode < 300 ? 'taken' : 'refused')
        } catch (error) {
          metrics?.count('callbacks', outcomeOf(error))
          throw error
        }
      })
    )
  },
})
