import type { ServerResponse } from 'node:http'
import { endLate } from '../core/http/end-late.ts'
import { httpFailure } from '../core/http/http.ts'
import type { Refusal } from './unreadable.ts'

/** Answers with a body of JSON. */
export const answer = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  endLate(response, text)
}

/** A year. Without includeSubDomains: other names of the domain are not the service's. */
const HSTS = 'max-age=31536000'

/** Tells browsers to use nothing but https for this host (RFC 6797). */
export const requireHttps = (response: ServerResponse): void =>
  void response.setHeader('Strict-Transport-Security', HSTS)

/** Answers with the service's error body. */
export const refuse = (response: ServerResponse, { status, error, headers = {} }: Refusal): void => {
  const failure = httpFailure(error, status)
  answer(response, failure.status, failure.body, { ...failure.headers, ...headers })
}
