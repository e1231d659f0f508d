import type { IncomingMessage } from 'node:http'
import { uuid } from '../rules.ts'

/** The path of event streams that are opened with a token of their own (the graphql-sse protocol). */
export const STREAM_PATH = '/graphql/stream'
export const STREAM_TOKEN_HEADER = 'x-graphql-event-stream-token'
export const STREAM_TOKEN_FIELD = 'token'

/** Returns the stream token that a client sent: in a header, or in the query, as a browser's EventSource must. */
export const streamTokenOf = ({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): string | null => {
  const header = headers[STREAM_TOKEN_HEADER]
  const given =
    typeof header === 'string'
      ? header
      : new URL(url ?? '/', 'http://localhost').searchParams.get(STREAM_TOKEN_FIELD)
  return uuid.safeParse(given).data ?? null
}
