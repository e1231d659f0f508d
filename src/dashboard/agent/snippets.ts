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
