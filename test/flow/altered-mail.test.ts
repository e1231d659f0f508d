import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { viewMail } from '../../src/mail/view/view.ts'
import { signedBy } from '../support/dkim.ts'
import { fakeResolver } from '../support/dns.ts'
import { handOver, SECRET } from '../support/inbound-http.ts'
import { dkimKey } from '../support/mail.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'

/** What a stranger adds to the header of a signed mail must not change what counts as its author's words. */

const key = dkimKey('example.com')
const zone = {
  'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  [key.name]: { TXT: [key.txt] },
}
const still = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 15_000)
const service = await startService({
  environment: { INBOUND_SECRET: SECRET },
  world: { clock: { ...systemClock, now: () => still }, resolver: fakeResolver(zone) },
})
const owner = await service.workspace('Ann', 'ann@example.com')

const COVERED = [
  ...['from', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to', 'references', 'reply-to'],
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'content-disposition'],
]
const HTML = [
  'Content-Type: multipart/alternative; boundary="outer"',
  '',
  '--outer',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Please pay 10 euros to Bob. ',
  '--outer',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Please pay <b>10 euros</b> to Bob.</p>',
  '--outer--',
  '',
]
const BODIES = [
  ['', 'Please pay', ' 10 euros ', 'to Bob.', ''],
  ['Content-Type: text/plain; charset=koi8-r', 'Content-Transfer-Encoding: 8bit', '', '\xf0\xd2\xc9', ''],
  HTML,
]
const SUBJECTS = ['Order', '=?utf-8?Q?Gr=C3=BC=C3=9Fe_?=', 'Bestellung f\xfcr B\xf6b', '\x1b$B%F%9%H\x1b(B']

let written = 0
/** A mail that the owner signed. Nothing in its text says to which agent it is. */
const genuine = (agent: TestAgent, kind: number) => {
  const body = BODIES[kind % BODIES.length]!
  const mail = [
    'From: Ann <ann@example.com>',
    `To: ${agent.address}`,
    `Subject: ${SUBJECTS[kind % SUBJECTS.length]} ${++written}`,
    `Date: ${still.toUTCString()}`,
    `Message-ID: <${written}@example.com>`,
    'X-Note: caf\xe9',
    ...body,
  ].join('\r\n')
  // Some signers cover fields that are missing too, so that none can be added; others do not.
  const covered =
    kind % 2 === 0 ? COVERED : COVERED.filter((name) => new RegExp(`^${name}:`, 'im').test(mail))
  return signedBy(mail, { key, covered, encoding: 'latin1' })
}

/** What is added between two lines of the header, of which 0 is the first. */
interface Addition {
  kind: number
  line: number
  text: string
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1')
const BEFORE_NAMES = [
  ...[
    '',
    '\x1b(B',
    '\x1b$B\x1b(B',
    utf8('\ufeff'),
    utf8('\u00a0'),
    utf8('\u2003'),
    utf8('\u3000'),
    '\xa0',
    '\x85',
  ],
  ...[
    '\0',
    '\r',
    '\r\n',
    '\n',
    '\v',
    '\f',
    ' ',
    '\t',
    ' \r\n',
    '\r\r\n',
    '\b',
    '\x7f',
    '"',
    ':',
    '=?utf-8?Q??=',
    '>',
  ],
  ...[
    'From \r\n',
    'From ann@example.com Mon Nov 23 10:00:00 2026\r\n',
    'X: y\r\n ',
    'X:\r',
    '=?utf-8?Q?a?=\r\n',
  ],
]
const FIELDS = [
  'Subject: Wire the money',
  'Reply-To: eve@evil.example',
  'From: Eve <eve@evil.example>',
  'To: eve@evil.example',
  'Cc: eve@evil.example',
  'Content-Type: multipart/mixed; boundary="inner"',
  'Content-Type: text/plain; charset=koi8-r',
  'Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes',
  'Content-Type: text/html',
  'Content-Transfer-Encoding: base64',
  'Content-Disposition: attachment; filename=a.txt',
  'Message-ID: <evil@evil.example>',
  'DKIM-Signature: v=1; a=rsa-sha256; d=evil.example; s=x; h=from; bh=AA==; b=AA==',
  'X-Charset: charset=koi8-r',
  '=?utf-8?Q?Wire_the_money?=',
  'no field',
  'X-Trace: 1',
]
const handpicked: Addition[] = BEFORE_NAMES.flatMap((before, kind) =>
  [0, 4].map((line) => ({ kind, line, text: `${before}${FIELDS[(kind + line) % 6]}\r\n` })),
)
const generated: fc.Arbitrary<Addition> = fc
  .tuple(
    fc.nat(11),
    fc.nat(12),
    fc.constantFrom(...BEFORE_NAMES),
    fc.constantFrom(...FIELDS),
    fc.constantFrom(':', ':', ' :', '\t:', '\xa0:', '\0:', utf8('：')),
    fc.constantFrom('\r\n', '\r\n', '\n', '\r', '\r\n folded\r\n', '\r\n\r\n', ''),
  )
  .map(([kind, line, before, field, colon, end]) => ({
    kind,
    line,
    text: before + field.replace(':', colon) + end,
  }))

const altered = (mail: string, { line, text }: Addition): string => {
  const end = mail.indexOf('\r\n\r\n') + 2
  const lines = mail.slice(0, end).split(/(?<=\r\n)/)
  const at = line % (lines.length + 1)
  return [...lines.slice(0, at), text, ...lines.slice(at)].join('') + mail.slice(end)
}

const deliver = async (agent: TestAgent, mail: string) => {
  const raw = Buffer.from(mail, 'latin1')
  const timestamp = Math.floor(still.getTime() / 1000)
  const given = { raw, from: 'eve@evil.example', to: agent.address, remoteIp: '203.0.113.9', timestamp }
  const answer = await handOver(service.http, given)
  expect(answer.status, answer.text).toBe(200)
}

/** What counts as the author's words, of the messages with this status and admission. */
const words = async (agent: TestAgent) => {
  const messages = await service.db.prisma.message.findMany({
    where: { agentId: agent.id, admission: { in: ['team', 'listed'] } },
    include: { raw: true },
  })
  return Promise.all(
    messages.map(async ({ subject, text, counterpart, counterpartName, replyAddress, to, cc, raw }) => {
      const { html } = await viewMail(raw!.content!, { remoteImages: false }, true)
      return JSON.stringify({ subject, text, counterpart, counterpartName, replyAddress, to, cc, html })
    }),
  )
}

/** At most as many mails of one sender as an agent takes in a minute. */
const BATCH = 25

/** Delivers mails as they were signed to one agent, and altered ones to another, whose words are returned. */
const compare = async (additions: readonly Addition[]) => {
  const create = async () => {
    const agent = await createTestAgent(service, owner)
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    return agent
  }
  const [untouched, target] = [await create(), await create()]
  const named = (said: string) => said.replaceAll(untouched.address, target.address)
  for (const addition of additions) {
    const count = written
    await deliver(untouched, genuine(untouched, addition.kind))
    written = count
    await deliver(target, altered(genuine(target, addition.kind), addition))
  }
  const signed = new Set((await words(untouched)).map(named))
  expect(signed.size).toBe(additions.length)
  return (await words(target)).map((said) => ({ said, isSigned: signed.has(said) }))
}

test.each([
  ['handpicked', handpicked],
  ['generated', fc.sample(generated, { seed: 28, numRuns: 150 })],
])('%s additions to the header of a signed mail do not change what its author says', async (_, additions) => {
  let trusted = 0
  for (let at = 0; at < additions.length; at += BATCH) {
    const compared = await compare(additions.slice(at, at + BATCH))
    expect(compared.filter(({ isSigned }) => !isSigned)).toEqual([])
    trusted += compared.length
  }
  expect(trusted).toBeGreaterThan(additions.length / 20)
})
