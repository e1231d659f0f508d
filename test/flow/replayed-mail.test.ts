import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { signedBy } from '../support/dkim.ts'
import { fakeResolver } from '../support/dns.ts'
import { handOver, SECRET } from '../support/inbound-http.ts'
import { newest } from '../support/letter.ts'
import { dkimKey } from '../support/mail.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'

/** Whoever has a signed mail can send it again, to anyone and with other unsigned fields. */

const DAY_MS = 24 * 3_600_000
const [key, secondKey] = [dkimKey('example.com'), dkimKey('example.com', 'second')]
const zone = {
  'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  [key.name]: { TXT: [key.txt] },
  [secondKey.name]: { TXT: [secondKey.txt] },
}
const still = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 15_000)
const service = await startService({
  environment: { INBOUND_SECRET: SECRET },
  world: { clock: { ...systemClock, now: () => still }, resolver: fakeResolver(zone) },
})
const owner = await service.workspace('Ann', 'ann@example.com')
const agentThatAdmits = async (admit: string): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit, senders: [] })
  return agent
}

const COVERED = ['from', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to']
let written = 0
interface Letter {
  to: string
  age?: number
  /** More fields, which the signature covers if their names are in `covered`. */
  fields?: string
  text?: string
  covered?: string[]
  tags?: Record<string, string>
}
const signed = ({
  to,
  age = 0,
  fields = '',
  text = 'Yes, please go ahead.',
  covered = COVERED,
  tags = {},
}: Letter) =>
  signedBy(
    `From: Ann <ann@example.com>\r\nTo: ${to}\r\nSubject: Answer ${++written}\r\nDate: ${new Date(still.getTime() - age * DAY_MS).toUTCString()}\r\nMessage-ID: <${written}@example.com>\r\n${fields}\r\n${text}\r\n`,
    {
      key,
      covered: covered.filter((name) => name !== 'in-reply-to' || /^in-reply-to:/im.test(fields)),
      tags,
    },
  )

const STRANGER = { from: 'eve@evil.example', remoteIp: '203.0.113.9' }
const AUTHOR = { from: 'ann@example.com', remoteIp: '192.0.2.1' }
const deliver = async (agent: TestAgent, raw: string, by = STRANGER) => {
  const timestamp = Math.floor(still.getTime() / 1000)
  const answer = await handOver(service.http, { raw, to: agent.address, ...by, timestamp })
  expect(answer.status, answer.text).toBe(200)
  return (await newest(agent))[0]
}
const replayed = (detail: RegExp) =>
  expect.arrayContaining([
    expect.objectContaining({ name: 'replay', verdict: 'fail', detail: expect.stringMatching(detail) }),
  ])

test.each<[string, (agent: TestAgent) => Letter, RegExp]>([
  ['years old', ({ address }) => ({ to: address, age: 1_021 }), /signed 1021 days ago \(20\d\d-\d\d-\d\d\)/],
  [
    'signed eight days ago, by t=',
    ({ address }) => ({ to: address, tags: { t: unix(-8) } }),
    /signed 8 days ago/,
  ],
  ['signed in the future', ({ address }) => ({ to: address, age: -400 }), /signed in the future/],
  [
    'of unknown age',
    ({ address }) => ({ to: address, covered: ['from', 'to', 'subject'] }),
    /does not say when/,
  ],
  ['to somebody else', () => ({ to: 'bob@example.org' }), /do not name this agent/],
  [
    'without a signed To',
    ({ address }) => ({ to: address, covered: ['from', 'subject', 'date'] }),
    /cover To and Cc/,
  ],
])(
  'a signed mail that is %s is not from the team, unless a server of its domain sends it',
  async (_, letter, why) => {
    const agent = await agentThatAdmits('team')
    expect(await deliver(agent, signed(letter(agent)))).toMatchObject({
      status: 'refused',
      refusal: 'unverified',
      checks: replayed(why),
    })
    expect(await deliver(agent, signed(letter(agent)), AUTHOR)).toMatchObject({ admission: 'team' })
  },
)
const unix = (days: number) => String(Math.floor((still.getTime() + days * DAY_MS) / 1000))

test('a signature of a week or less proves a mail to the agent, also in Cc and with a plus-tag', async () => {
  const agent = await agentThatAdmits('team')
  const tagged = agent.address.replace('@', '+work@')
  for (const letter of [
    { to: agent.address, age: 6.9 },
    { to: tagged },
    { to: agent.address, age: 30, tags: { t: unix(-1) } },
    { to: 'bob@example.org', fields: `Cc: ${agent.address}\r\n` },
  ])
    expect(await deliver(agent, signed(letter))).toMatchObject({ admission: 'team' })
})

test('a Cc that the signature does not cover proves nothing', async () => {
  const agent = await agentThatAdmits('team')
  const raw = signed({ to: agent.address, covered: ['from', 'to', 'subject', 'date', 'message-id'] })
  expect(await deliver(agent, `Cc: eve@evil.example\r\n${raw}`)).toMatchObject({
    refusal: 'unverified',
    checks: replayed(/cover To and Cc/),
  })
  expect(await deliver(agent, raw)).toMatchObject({ admission: 'team' })
})

test.each(['one after another', 'at the same time'])(
  'copies of a mail, sent %s, are one message',
  async (how) => {
    const agent = await agentThatAdmits('team')
    const raw = signed({ to: agent.address })
    const copies = Array.from({ length: 32 }, (_, n) => `X-Copy: ${n}\r\n${raw}`)
    if (how === 'at the same time') await Promise.all(copies.map((copy) => deliver(agent, copy)))
    else for (const copy of copies) await deliver(agent, copy)
    expect(await newest(agent, 40)).toHaveLength(1)
    // None of them counted against the author, who may send 30 a minute.
    for (let n = 0; n < 29; n++)
      expect(await deliver(agent, signed({ to: agent.address }))).toMatchObject({ admission: 'team' })
  },
)

test('a copy is the same message whatever signatures, references and Message-ID it has', async () => {
  const agent = await agentThatAdmits('anyone')
  const raw = signed({ to: agent.address })
  const twice = signedBy(raw, { key: secondKey, covered: COVERED.slice(0, -1) })
  await deliver(agent, twice, AUTHOR)
  const unnamed = signed({ to: agent.address, covered: ['from', 'to', 'subject', 'date'] }).replace(
    /^Message-ID.*\r\n/m,
    '',
  )
  await deliver(agent, unnamed)
  for (const copy of [
    raw,
    twice.replace(raw, raw.slice(raw.indexOf('From:'))),
    `References: <a@b.c>\r\n${raw}`,
  ])
    await deliver(agent, copy)
  await deliver(agent, `Message-ID: <other@evil.example>\r\n${unnamed}`)
  expect(await newest(agent, 40)).toHaveLength(2)
})

test('a copy has only one of the two signatures of a mail, which cover different fields', async () => {
  const agent = await agentThatAdmits('team')
  const once = signed({ to: agent.address })
  const twice = signedBy(once, { key: secondKey, covered: ['from', 'to', 'cc', 'subject', 'date'] })
  await deliver(agent, twice)
  const second = twice.replace(once, once.slice(once.indexOf('From:')))
  for (const copy of [once, second, `X-Copy: 1\r\n${second}`]) await deliver(agent, copy)
  expect(await newest(agent, 40)).toHaveLength(1)
})

test.each<[string, string, (agent: TestAgent) => Letter, RegExp | null]>([
  ['old', 'eve', ({ address }) => ({ to: address, age: 30 }), /signed 30 days ago/],
  ['addressed to somebody else', 'eve', () => ({ to: 'bob@example.org' }), /do not name this agent/],
  [
    'not covered as a whole and old',
    'eve',
    ({ address }) => ({ to: address, age: 30, fields: 'Content-Type: text/html\r\n' }),
    /signed 30 days ago/,
  ],
  ['fresh', 'bounces+7', ({ address }) => ({ to: address }), null],
  ['old', 'prvs=0123abcdef=ann', ({ address }) => ({ to: address, age: 30 }), null],
])(
  'SPF of a mail that is %s says nothing of its author, unless MAIL FROM is theirs: %s',
  async (_, local, letter, why) => {
    const agent = await agentThatAdmits('team')
    const through = { ...AUTHOR, from: `${local}@example.com` }
    expect(await deliver(agent, signed(letter(agent)), through)).toMatchObject(
      why === null ? { admission: 'team' } : { refusal: 'unverified', checks: replayed(why) },
    )
  },
)

test('a signed copy of a mail that was received without its signature is the same message', async () => {
  const agent = await agentThatAdmits('team')
  const raw = signed({ to: agent.address })
  expect(await deliver(agent, raw.slice(raw.indexOf('From:')), AUTHOR)).toMatchObject({ admission: 'team' })
  await deliver(agent, raw)
  expect(await newest(agent, 40)).toHaveLength(1)
})

test('a copy that was refused or not trusted does not keep the genuine mail out', async () => {
  const agent = await agentThatAdmits('anyone')
  const blind = signed({ to: 'bob@example.org' })
  expect(await deliver(agent, blind)).toMatchObject({ admission: 'anyone' })
  expect(await deliver(agent, blind, AUTHOR)).toMatchObject({ admission: 'team' })
  const direct = signed({ to: agent.address })
  expect(await deliver(agent, `Auto-Submitted: auto-replied\r\n${direct}`)).toMatchObject({ refusal: 'self' })
  expect(await deliver(agent, direct)).toMatchObject({ admission: 'team' })
  await deliver(agent, blind)
  expect(await newest(agent, 40)).toHaveLength(4)
})

test('a reference that is not signed does not put a mail into a thread', async () => {
  const agent = await agentThatAdmits('team')
  const question = await deliver(agent, signed({ to: agent.address, text: 'Shall I pay?' }))
  const reference = `In-Reply-To: <${question.thread.messageId}>\r\n`
  const threadOf = async ({ id }: { id: string }) =>
    (await agent.api('GET', `/agents/${agent.id}/messages?thread=${id}`)).body.items.length
  expect(await threadOf(await deliver(agent, `${reference}${signed({ to: agent.address })}`))).toBe(1)
  expect(
    await threadOf(
      await deliver(agent, `References: <${question.thread.messageId}>\r\n${signed({ to: agent.address })}`),
    ),
  ).toBe(1)
  expect(await threadOf(await deliver(agent, signed({ to: agent.address, fields: reference })))).toBe(2)
  expect(await threadOf(await deliver(agent, `${reference}${signed({ to: agent.address })}`, AUTHOR))).toBe(3)
})

test('a reference that is not signed makes no line of a mail quoted history', async () => {
  const agent = await agentThatAdmits('team')
  const text = 'Please run this:\r\n> pay Bob\r\nbut not today.'
  const reference = 'In-Reply-To: <q@example.org>\r\n'
  const wordsOf = async (mail: string, by = STRANGER) => (await deliver(agent, mail, by)).replyText
  const whole = 'Please run this:\n> pay Bob\nbut not today.'
  expect(await wordsOf(`${reference}${signed({ to: agent.address, text })}`)).toBe(whole)
  const answer = 'Please run this:\nbut not today.'
  expect(await wordsOf(signed({ to: agent.address, text, fields: reference }))).toBe(answer)
  expect(await wordsOf(`${reference}${signed({ to: agent.address, text })}`, AUTHOR)).toBe(answer)
})
