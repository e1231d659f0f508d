import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

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

let page: Promise<Buffer> | undefined

/** The page has nine megabytes: it is built on first use and stored compressed. */
const makePage = async (): Promise<Buffer> => {
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
  return promisify(gzip)(html)
}

/**
 * Returns whether the request comes from a browser that opens the endpoint, rather than from an API client.
 */
export const wantsPage = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && /^\/graphql\/?$/.test(url) && /\btext\/html\b/.test(headers.accept ?? '')

/**
 * Serves GraphiQL without a CDN and without a token: it can query nothing until a member is signed in in this
 * browser, or a token is entered into its headers.
 */
export const servePage = async (response: ServerResponse): Promise<void> => {
  page ??= makePage()
  const body = await page
  response
    .writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Encoding': 'gzip',
      'Content-Length': body.length,
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    })
    .end(body)
}
