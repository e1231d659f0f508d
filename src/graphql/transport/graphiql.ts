import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { AppError } from '../../core/errors.ts'
import { clientOf } from '../../core/http/http.ts'
import type { RateLimits } from '../../workspace/index.ts'

/** The page is self-contained: it may load nothing else, and may connect to this service only. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  'worker-src blob:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const FIRST_QUERY = `# You, if you are signed in at /app in this browser. To use a token, enter it into the headers below:
# {"Authorization": "Bearer …"}
{
  viewer {
    kind
    name
    workspace {
      name
    }
  }
}
`

/** The page has 2.4 megabytes, compressed. Browsers keep it, and ask only whether it is still the same. */
const PAGES_A_MINUTE = 10

let page: Promise<{ body: Buffer; etag: string }> | undefined

/** The page has nine megabytes: it is built on first use and stored compressed. */
const makePage = async (): Promise<{ body: Buffer; etag: string }> => {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const html = renderGraphiQL({
    title: 'Agent Messaging Service: GraphiQL',
    endpoint: '/graphql',
    subscriptionsProtocol: 'SSE',
    defaultQuery: FIRST_QUERY,
    // What a session needs to count (see `credentialOf`).
    headers: '{"X-Requested-By": "GraphiQL"}',
    shouldPersistHeaders: false,
  })
  const etag = `"${createHash('sha256').update(html).digest('base64url')}"`
  return { body: await promisify(gzip)(html), etag }
}

/**
 * Returns whether the request comes from a browser that opens the endpoint, rather than from an API client.
 */
export const wantsPage = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && /^\/graphql\/?$/.test(url) && /\btext\/html\b/.test(headers.accept ?? '')

/**
 * Serves GraphiQL without a CDN and without a token: it can query nothing until a member is signed in in this
 * browser, or a token is entered into its headers. Throws `rate_limited` when an address asks for it too often.
 */
export const servePage = async (
  rates: Pick<RateLimits, 'take'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  page ??= makePage()
  const { body, etag } = await page
  const cached = { ETag: etag, 'Cache-Control': 'private, no-cache' }
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304, cached).end()
  const { allowed, resetSeconds } = rates.take(`graphiql:${clientOf(request)}`, PAGES_A_MINUTE)
  if (!allowed)
    throw new AppError('rate_limited', `At most ${PAGES_A_MINUTE} times a minute.`, {
      retryAfter: resetSeconds,
    })
  response
    .writeHead(200, {
      ...cached,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Encoding': 'gzip',
      'Content-Length': body.length,
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    })
    .end(body)
}
