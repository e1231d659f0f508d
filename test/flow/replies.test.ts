import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newest, post, receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  relay = await startRelay()
  service = await startService({ environment: { SMTP_RELAY_URL: relay.url } })
  owner = await service.workspace()
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

type Mail = Relay['mails'][0]
const send = async (body: object) => (await agent.api('POST', path, { text: 'hi', ...body })).body
const out = async (count = 1): Promise<Mail> => (await relay.got(count)).at(-1)!
/** Delivers a mail with only these header lines and returns the agent's message. */
const incoming = async (...headers: string[]) => {
  const raw = [...headers, `To: ${agent.address}`, '', 'text'].join('\r\n')
  await deliver(`${service.smtp.host}:${service.smtp.port}`, {
    envelope: { from: 'x@example.com', to: agent.address },
    raw,
  })
  return (await newest(agent))[0]
}
const threadOf = async (id: string): Promise<string[]> =>
  (await agent.api('GET', `${path}?thread=${id}`)).body.items
    .map((item: { id: string }) => item.id)
    .toReversed()

describe('a reply goes', () => {
  test.each([
    ['to Reply-To', ['From: Bo <bo@example.com>', 'Reply-To: desk@example.org'], 'desk@example.org'],
    [
      'to the first of several Reply-To addresses',
      ['From: bo@example.com', 'Reply-To: Desk <desk@example.org>, other@example.org'],
      'desk@example.org',
    ],
    [
      'to the first valid address in Reply-To',
      ['From: bo@example.com', 'Reply-To: <>, nobody, "x y"@z, desk@example.org'],
      'desk@example.org',
    ],
    [
      'to a member of a group in Reply-To',
      ['From: bo@example.com', 'Reply-To: Team: desk@example.org;'],
      'desk@example.org',
    ],
    [
      'to From if Reply-To has no address',
      ['From: bo@example.com', 'Reply-To: undisclosed:;'],
      'bo@example.com',
    ],
    [
      'to From with the case of its local part preserved',
      ['From: Bo <Reply+AbC12@Example.COM>'],
      'Reply+AbC12@example.com',
    ],
  ])('%s', async (_, headers, expected) => {
    const original = await incoming(...headers, 'Message-ID: <q@example.com>')
    const answer = await send({ replyTo: original.id })
    expect(answer).toMatchObject({ to: [expected], counterpart: expected })
    const { to, mail } = await out()
    expect([to, mail.to?.map(({ address }) => address), mail.inReplyTo]).toEqual([
      [expected],
      [expected],
      '<q@example.com>',
    ])
  })

  test('with a recipient name only if it goes to the sender', async () => {
    const same = await send({ replyTo: (await incoming('From: Bo <Bo@example.com>')).id })
    const other = await send({
      replyTo: (await incoming('From: Bo <bo@example.com>', 'Reply-To: desk@example.com')).id,
    })
    expect([same.counterpartName, other.counterpartName]).toEqual(['Bo', null])
    await out(2)
  })

  test('to the recipients that the caller names, such as all of them', async () => {
    const original = await incoming(
      'From: bo@example.com',
      'Cc: cy@example.com',
      'Message-ID: <all@example.com>',
    )
    await send({ replyTo: original.id, to: ['bo@example.com'], cc: ['Cy@example.com', 'BO@example.com'] })
    const { mail } = await out(2)
    expect(relay.mails.map(({ to }) => to)).toEqual([['bo@example.com'], ['Cy@example.com']])
    expect([mail.cc?.map(({ address }) => address), mail.references]).toEqual([
      ['Cy@example.com'],
      '<all@example.com>',
    ])
  })
})

test('a recipient given twice in different cases is one, and its case is preserved, even after a refusal', async () => {
  relay.refuse('Full@example.com', '550 5.2.2 Mailbox full')
  const { id, to } = await send({
    channel: 'email',
    to: ['Ann@Example.com', 'ANN@example.com', 'Full@example.com'],
  })
  expect(to).toEqual(['Ann@example.com', 'Full@example.com'])
  expect((await out()).to).toEqual(['Ann@example.com'])
  const recipients = await agent.api('GET', `${path}/${id}/recipients`)
  await expect
    .poll(async () => (await agent.api('GET', `${path}/${id}`)).body)
    .toMatchObject({ status: 'failed', error: 'Full@example.com: 550 5.2.2 Mailbox full' })
  expect(recipients.body.map(({ address }: { address: string }) => address)).toEqual([
    'Ann@example.com',
    'Full@example.com',
  ])
})

test('an agent of the service is reached regardless of case, and with a plus tag', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  await owner.api('PUT', `/agents/${other.id}/access/email`, { admit: 'team', senders: [] })
  const [local, domain] = other.address.split('@')
  await send({ channel: 'email', to: [`${local!.toUpperCase()}+Tag@${domain}`] })
  await expect
    .poll(async () => (await newest(other))[0])
    .toMatchObject({ status: 'received', counterpart: agent.address })
})

describe('the thread', () => {
  test.each([
    ['neither Message-ID nor References', [], null],
    ['a Message-ID', ['Message-ID: <a@x>'], { messageId: '<a@x>', references: [] }],
    ['References alone', ['References: <r@x> <s@x>'], { messageId: '', references: ['<r@x>', '<s@x>'] }],
  ])('of a mail with %s has the right IDs', async (_, headers, thread) => {
    expect((await incoming('From: bo@example.com', ...headers)).thread).toEqual(thread)
  })

  /** Headers with which each client marks its reply to `id`, which is itself a reply to `first`. */
  const CLIENTS: [string, (id: string, first: string) => string[]][] = [
    [
      'Gmail',
      (id, first) => [
        `References: ${first} ${id}`,
        `In-Reply-To: ${id}`,
        'Message-ID: <CAF=g1@mail.gmail.com>',
      ],
    ],
    [
      'Outlook (folded, with its own index)',
      (id, first) => [
        'Thread-Topic: Hello',
        'Thread-Index: AQHa',
        'Message-ID:\r\n <AM0PR01@eurprd01.prod.outlook.com>',
        `References: ${first}\r\n ${id}`,
        `In-Reply-To:\r\n ${id}`,
      ],
    ],
    [
      'Outlook for the desktop (without References)',
      (id) => [`In-Reply-To: ${id}`, 'Message-ID: <000001d9$1@example.com>', 'Thread-Index: AdA='],
    ],
    [
      'Thunderbird',
      (id, first) => [
        'Message-ID: <7c2a@example.com>',
        `References: ${first}\r\n\t${id}`,
        `In-Reply-To: ${id}`,
      ],
    ],
    [
      'Apple Mail',
      (id, first) => [
        `References: ${first} ${id}`,
        'Message-Id: <0F1@example.com>',
        `In-Reply-To: ${id}`,
        'X-Mailer: iPhone Mail',
      ],
    ],
    [
      'a client that sends only References',
      (id, first) => [`References: ${first} ${id}`, 'Message-ID: <ref@example.com>'],
    ],
    [
      'a client that refers only to the first message',
      (_, first) => [
        `References: ${first}`,
        'In-Reply-To: <lost@example.com>',
        'Message-ID: <old@example.com>',
      ],
    ],
    [
      'a client that comments In-Reply-To',
      (id) => [`In-Reply-To: Message of "Fri, 20 Nov" ${id}`, 'Message-ID: <mua@example.com>'],
    ],
  ]
  test.each(CLIENTS)('of a conversation with %s has the reply to a reply', async (_, headersOf) => {
    const first = await incoming('From: bo@example.com', 'Subject: Hello', 'Message-ID: <first@example.com>')
    const answer = await send({ replyTo: first.id })
    const { mail } = await out()
    const second = await incoming(
      'From: bo@example.com',
      'Subject: Re: Hello',
      ...headersOf(mail.messageId!, '<first@example.com>'),
    )
    expect(await threadOf(second.id)).toEqual([first.id, answer.id, second.id])
    await send({ replyTo: second.id })
    const last = (await out(2)).mail
    expect(last.references?.split(' ').slice(-1)).toEqual([second.thread.messageId])
  })

  test('of one sender does not include a stranger’s mail with the same subject', async () => {
    const one = await incoming(
      'From: bo@example.com',
      'Subject: Re: Invoice',
      'Message-ID: <one@example.com>',
    )
    const two = await incoming(
      'From: cy@example.org',
      'Subject: Re: Invoice',
      'Message-ID: <two@example.org>',
    )
    expect([await threadOf(one.id), await threadOf(two.id)]).toEqual([[one.id], [two.id]])
  })

  test('of a forwarded mail has the forward and the reply to it', async () => {
    const original = await receive(service, agent, {
      from: 'bo@example.com',
      to: agent.address,
      messageId: '<f@example.com>',
      text: 'Well?',
    })
    const forward = await send({ forward: original.id, to: ['cy@example.com'] })
    const { mail } = await out()
    expect([mail.inReplyTo, forward.thread]).toEqual([undefined, null])
    await post(service, {
      from: 'cy@example.com',
      to: agent.address,
      inReplyTo: mail.messageId!,
      messageId: '<g@example.com>',
      text: 'Yes.',
    })
    expect(await threadOf(original.id)).toEqual([original.id, forward.id, (await newest(agent))[0].id])
  })
})
