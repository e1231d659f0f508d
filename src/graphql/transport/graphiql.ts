import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/**
 * The page brings all that it needs with it, in itself; nothing else may be loaded, and it talks to this
 * service alone.
 */
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

const FIRST_QUERY = `# Who asks. The token goes into the headers below: {"Authorization": "Bearer …"}
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

/** Nine megabytes of it: loaded when somebody first wants it, kept packed. */
const makePage = async (): Promise<Buffer> => {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const html = renderGraphiQL({
    title: 'Agent Messaging Service: GraphiQL',
    endpoint: '/graphql',
    subscriptionsProtocol: 'SSE',
    defaultQuery: FIRST_QUERY,
    headers: '{"Authorization": "Bearer "}',
    shouldPersistHeaders: false,
  })
  return promisify(gzip)(html)
}

/** Whether a person's browser opens the endpoint, rather than a program. */
export const wantsPage = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && /^\/graphql\/?$/.test(url) && /\btext\/html\b/.test(headers.accept ?? '')

/** Serves GraphiQL without a CDN and without a token: it shows nothing before one is put into its headers. */
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
