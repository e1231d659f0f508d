import type { Variant } from '../parts/snippet.tsx'

/** Commands that send a mail to an address, to the mail server at `smtp` (host:port). */
export const mailSnippets = (address: string, smtp: string): Variant[] => [
  {
    name: 'curl',
    code: [
      `printf 'From: Ann <ann@example.com>\\r\\nTo: ${address}\\r\\nSubject: Hello\\r\\n\\r\\nDoes it work?\\r\\n' |`,
      `  curl -sS smtp://${smtp} --mail-from ann@example.com --mail-rcpt ${address} -T -`,
    ].join('\n'),
  },
  {
    name: 'swaks',
    code: `swaks --server ${smtp} --from ann@example.com --to ${address} --header 'Subject: Hello' --body 'Does it work?'`,
  },
]

/** Ways for a program to read the agent's messages. */
export const readSnippets = (agentId: string, publicUrl: string): Variant[] => [
  {
    name: 'curl',
    code: `curl ${publicUrl}/agents/${agentId}/messages -H "Authorization: Bearer $TOKEN"`,
  },
  { name: 'ams', code: `AMS_URL=${publicUrl} AMS_TOKEN=$TOKEN ams listen` },
  {
    name: 'MCP',
    code: `claude mcp add --transport http inbox ${publicUrl}/mcp --header "Authorization: Bearer $TOKEN"`,
  },
]
