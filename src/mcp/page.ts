import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Html, html } from '../core/html.ts'
import { TOOL_NAMES } from './tools.ts'

/** What a person reads who opens the endpoint in a browser. */

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1.25rem; font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
pre { padding: .8rem; overflow-x: auto; border: 1px solid #8886; border-radius: .5rem; font: .9rem/1.4 ui-monospace, monospace }
h2 { margin: 1.5rem 0 .4rem; font-size: 1.1rem }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
}

/** How each host is told of a server with a token in the environment variable AMS_TOKEN. */
const setUps = (url: string): readonly (readonly [string, string])[] => [
  ['Claude Code', `claude mcp add --transport http inbox ${url} --header "Authorization: Bearer $AMS_TOKEN"`],
  ['Codex (~/.codex/config.toml)', `[mcp_servers.inbox]\nurl = "${url}"\nbearer_token_env_var = "AMS_TOKEN"`],
  [
    'Gemini CLI (~/.gemini/settings.json)',
    JSON.stringify(
      { mcpServers: { inbox: { httpUrl: url, headers: { Authorization: 'Bearer $AMS_TOKEN' } } } },
      null,
      2,
    ),
  ],
  [
    'VS Code (.vscode/mcp.json)',
    JSON.stringify(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code's own placeholder
      { servers: { inbox: { type: 'http', url, headers: { Authorization: 'Bearer ${env:AMS_TOKEN}' } } } },
      null,
      2,
    ),
  ],
  [
    'Cursor (~/.cursor/mcp.json)',
    JSON.stringify(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor's own placeholder
      { mcpServers: { inbox: { url, headers: { Authorization: 'Bearer ${env:AMS_TOKEN}' } } } },
      null,
      2,
    ),
  ],
  [
    'A host that only starts programs',
    `npx -y mcp-remote ${url} --header "Authorization: Bearer $AMS_TOKEN"`,
  ],
]

export const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')

const step = ([host, text]: readonly [string, string]): Html => html`<h2>${host}</h2><pre>${text}</pre>`

const page = (url: string): Html => html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Messaging Service: MCP</title><style>${new Html(STYLE)}</style></head>
<body>
<h1>An inbox for your agent</h1>
<p>This is the MCP endpoint of an Agent Messaging Service. Add its URL and an agent's token to a host, and the agent in it reads and answers
its email, SMS and Telegram: ${TOOL_NAMES.join(', ')}.</p>
<p>A token comes from <code>POST /agents/{id}/tokens</code>. Put it into the environment variable AMS_TOKEN.</p>
${setUps(url).map(step)}
</body>
</html>
`

export const showPage = (response: ServerResponse, publicUrl: string): void => {
  const bytes = Buffer.from(page(`${publicUrl}/mcp`).text)
  response.writeHead(200, { ...HEADERS, 'Content-Length': bytes.length }).end(bytes)
}
