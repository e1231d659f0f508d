import type { IncomingMessage, ServerResponse } from 'node:http'
import { VERSION } from '../core/version.ts'

const ABOUT = `Agent Messaging Service ${VERSION}
Gives AI agents their own email inbox, SMS number, Telegram bot and secret storage.

/app           the web application; open it in a browser
/docs          the REST API for people, /openapi.json for programs
/graphql       the GraphQL API
/mcp           the MCP server; open it in a browser to see how to connect a host
/healthz       whether this process runs, /readyz whether it can serve requests

All but these pages need a token: Authorization: Bearer TOKEN
`

/** Answers a request for the service's URL: a browser goes to the web application, a program learns what this is. */
export const answerRoot = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  response.setHeader('Vary', 'Accept')
  if (/\btext\/html\b/.test(headers.accept ?? '')) response.writeHead(303, { Location: '/app' }).end()
  else response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' }).end(ABOUT)
}
