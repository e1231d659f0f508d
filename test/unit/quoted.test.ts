import { expect, test } from 'vitest'
import { agentName, memberName, tokenName, webhookName, workspaceName } from '../../src/core/rules.ts'
import { quoted } from '../../src/core/text/quoted.ts'

test.each([
  ['Acme', '“Acme”'],
  ['Acme\r\n\r\nYour account is closed.\u2028\u0085Pay', '“Acme Your account is closed. Pay”'],
  ['\u202eemcA\u2066\u200b', '“emcA”'],
  ['Acme” says: “pay', "“Acme' says: 'pay”"],
  ["Acme'' says: \u275epay\u2033", "“Acme' says: 'pay'”"],
  ['https://evil.example/login', '“https: evil.example/login”'],
  ['x'.repeat(200), `“${'x'.repeat(99)}…”`],
])('%j is quoted as %j', (words, expected) => expect(quoted(words)).toBe(expected))

test.each(['a\nb', 'a\rb', 'a\tb', 'a\u0085b', 'a\u2028b', 'a\u202eb', 'a\u2066b', 'a\u001b[2Jb'])(
  '%j is no name',
  (name) => {
    for (const rule of [agentName, memberName, tokenName, webhookName, workspaceName])
      expect(rule.safeParse(name).error?.issues[0]?.message).toMatch(/must not contain line breaks/)
    expect(agentName.safeParse('👩\u200d🚀 Zoë').success).toBe(true)
  },
)
