/** What an agent's program can run in. */
export const HOSTS = {
  claude: 'Claude Code',
  codex: 'Codex',
  cursor: 'Cursor',
  chatgpt: 'ChatGPT',
  curl: 'curl',
  javascript: 'JavaScript',
} as const
export type Host = keyof typeof HOSTS

interface Access {
  agentId: string
  publicUrl: string
  token: string
}

const server = (settings: object): string => JSON.stringify({ mcpServers: { inbox: settings } }, null, 2)

/** What connects a host to the agent, whole. Those of MCP hosts are the ones of docs/mcp.md. */
const CODES: Record<Host, (access: Access) => string> = {
  claude: ({ publicUrl, token }) =>
    `claude mcp add --transport http inbox ${publicUrl}/mcp --header "Authorization: Bearer ${token}"`,
  codex: ({ publicUrl, token }) =>
    [
      `export AMS_TOKEN=${token}`,
      "cat >> ~/.codex/config.toml <<'END'",
      '[mcp_servers.inbox]',
      `url = "${publicUrl}/mcp"`,
      'bearer_token_env_var = "AMS_TOKEN"',
      'END',
    ].join('\n'),
  cursor: ({ publicUrl, token }) =>
    server({ url: `${publicUrl}/mcp`, headers: { Authorization: `Bearer ${token}` } }),
  // It signs in automatically.
  chatgpt: ({ publicUrl }) => `${publicUrl}/mcp`,
  curl: ({ agentId, publicUrl, token }) =>
    `curl ${publicUrl}/agents/${agentId}/messages -H "Authorization: Bearer ${token}"`,
  javascript: ({ publicUrl, token }) =>
    [
      "import { Agent } from '@agent-messaging/client'",
      '',
      `const agent = new Agent({ url: '${publicUrl}', token: '${token}' })`,
      'for await (const { message, done } of agent.messages()) {',
      '  console.log(message.subject)',
      '  await done()',
      '}',
    ].join('\n'),
}

export const connectCode = (host: Host, access: Access): string => CODES[host](access)

/** The snippets of all hosts that use a token. */
export const tokenSnippets = (access: Access): { name: string; code: string }[] =>
  Object.entries(HOSTS)
    .filter(([host]) => host !== 'chatgpt')
    .map(([host, name]) => ({ name, code: connectCode(host as Host, access) }))
