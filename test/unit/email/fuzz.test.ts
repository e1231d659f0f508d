import fc from 'fast-check'
import { expect, test } from 'vitest'
import { headerLength } from '../../../src/mail/header/headers.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { fakeResolver } from '../../support/dns.ts'
import { mutatedMail } from '../../support/mutated-mail.ts'

const RUNS = Number(process.env.FUZZ_RUNS ?? 400)

const resolver = fakeResolver({
  'x.com': { TXT: ['v=spf1 +all'] },
  '_dmarc.x.com': { TXT: ['v=DMARC1; p=none'] },
})
const unstorable = /[\0\p{Surrogate}]/u

async function survives(raw: Buffer): Promise<void> {
  const started = cpuTime()
  const mail = await parseMail(raw)
  expect(cpuTime() - started).toBeLessThan(3_000)
  const { attachments, headers: _, ...rest } = mail
  const strings = [
    ...Object.values(rest).flat(),
    ...attachments.flatMap(({ name, type }) => [name, type]),
    mail.from.name,
    mail.from.address,
  ]
  for (const text of strings) if (typeof text === 'string') expect(text).not.toMatch(unstorable)
  for (const { name, content } of attachments) {
    expect(name).not.toMatch(/[/\\\p{Cc}]|^$/u)
    expect(content).toBeInstanceOf(Uint8Array)
  }
  if (mail.text !== '') expect(mail.replyText).not.toBe('')
  const { proven, checks } = await verify(
    raw,
    mail.from.address,
    { ip: '192.0.2.1', helo: 'x.com', reversePath: 'a@x.com' },
    { resolver, mta: 'here' },
  )
  expect(checks.length).toBeGreaterThan(0)
  // No name in a mail may become a property of Object.prototype.
  for (const property in {}) expect.fail(`Object.prototype.${property}`)
  // Whatever the mutation, a proven mail has exactly one From field.
  if (proven)
    expect(
      raw
        .subarray(0, headerLength(raw))
        .toString('latin1')
        .match(/^from[ \t]*:/gim),
    ).toHaveLength(1)
}

// Set FUZZ_RUNS=20000 for a longer run.
test(`${RUNS} mutated mails are parsed and verified without a crash, a hang or an unstorable character`, {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(fc.asyncProperty(mutatedMail, survives), { numRuns: RUNS })
})

test(`${RUNS} arbitrary byte sequences are parsed and verified without a crash, a hang or an unstorable character`, {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), (bytes) => survives(Buffer.from(bytes))),
    { numRuns: RUNS },
  )
})
