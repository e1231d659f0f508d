import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Html, html } from '../core/text/html.ts'
import { TOOL_NAMES } from './tools.ts'

/** The page that the endpoint shows in a browser: what it is and how to add it to a host. */

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1.25rem; font: 1rem/1.55 system-ui, sans-serif }
p { margin: .4rem 0; overflow-wrap: anywhere }
pre { margin: .4rem 0; padding: .8rem; overflow-x: auto; border: 1px solid #8886; border-radius: .5rem; background: #8881 }
pre, code { font: .875rem/1.45 ui-monospace, monospace }
h1 { margin: 0 0 .8rem; font-size: 1.6rem }
h2 { margin: 1.6rem 0 .2rem; font-size: 1.1rem }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
}

/** A way to add the server: the host, where the lines go, and the lines. */
interface Setup {
  host: string
  where: string
  lines: string
}

const json = (value: object): string => JSON.stringify(value, null, 2)

// biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder of VS Code and Cursor
const EDITOR_HEADERS = { Authorization: 'Bearer ${env:AMS_TOKEN}' }

const isLoopback = ({ hostname }: URL): boolean => hostname === 'localhost' || hostname === '127.0.0.1'

/** mcp-remote accepts plain http for other hosts than this machine only with a flag. */
const bridgeArguments = (url: string): string[] => {
  const plain = url.startsWith('http:') && !isLoopback(new URL(url))
  return [
    '-y',
    'mcp-remote',
    url,
    ...(plain ? ['--allow-http'] : []),
    '--header',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder of mcp-remote
    'Authorization:${AMS_HEADER}',
  ]
}

/** The set-up of each host. All but the last read the token from the environment variable AMS_TOKEN. */
const setupsFor = (url: string): readonly Setup[] => [
  {
    host: 'Claude Code',
    where: 'Run in a terminal:',
    lines: `claude mcp add --transport http inbox ${url} \\\n  --header "Authorization: Bearer $AMS_TOKEN"`,
  },
  {
    host: 'Codex',
    where: 'Add to ~/.codex/config.toml:',
    lines: `[mcp_servers.inbox]\nurl = "${url}"\nbearer_token_env_var = "AMS_TOKEN"`,
  },
  {
    host: 'Gemini CLI',
    where: 'Add to ~/.gemini/settings.json:',
    lines: json({
      mcpServers: { inbox: { httpUrl: url, headers: { Authorization: 'Bearer $AMS_TOKEN' } } },
    }),
  },
  {
    host: 'VS Code',
    where: 'Add to .vscode/mcp.json:',
    lines: json({ servers: { inbox: { type: 'http', url, headers: EDITOR_HEADERS } } }),
  },
  {
    host: 'Cursor',
    where: 'Add to ~/.cursor/mcp.json:',
    lines: json({ mcpServers: { inbox: { url, headers: EDITOR_HEADERS } } }),
  },
  {
    host: 'Hosts that support only stdio',
    where: 'Add to the file of MCP servers, with the token in place of TOKEN:',
    lines: json({
      mcpServers: {
        inbox: { command: 'npx', args: bridgeArguments(url), env: { AMS_HEADER: 'Bearer TOKEN' } },
      },
    }),
  },
]

export const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')

const section = ({ host, where, lines }: Setup): Html =>
  html`<h2>${host}</h2><p>${where}</p><pre>${lines}</pre>`

const toolNames = (): Html[] =>
  TOOL_NAMES.map((name, index) => html`${index > 0 ? ', ' : ''}<code>${name}</code>`)

const page = (base: string): Html => html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Messaging Service: MCP</title><style>${new Html(STYLE)}</style></head>
<body>
<h1>Give your agent an inbox</h1>
<p>This is the MCP endpoint of an Agent Messaging Service. Add it to a host such as Claude Code, and the agent there can read and
answer its own email, SMS and Telegram messages.</p>
<p>You need a token of the agent. Create one with your own token and the agent's id:</p>
<pre>curl -X POST ${base}/agents/AGENT_ID/tokens \\
  -H "Authorization: Bearer YOUR_TOKEN" \\
  -H "Content-Type: application/json" -d '{"name": "mcp"}'</pre>
<p>The response contains it as <code>token</code>. Set the environment variable <code>AMS_TOKEN</code> to it, and add the server to your
host:</p>
${setupsFor(`${base}/mcp`).map(section)}
<h2>Tools</h2>
<p>${toolNames()}</p>
</body>
</html>
`

export const showPage = (response: ServerResponse, publicUrl: string): void => {
  const bytes = Buffer.from(page(publicUrl).text)
  response.writeHead(200, { ...HEADERS, 'Content-Length': bytes.length }).end(bytes)
}
