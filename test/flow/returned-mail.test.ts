import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readChangePosition, readChanges } from '../../src/workspace/change/change-log.ts'
import { deriveKey } from '../../src/workspace/encryption/keyring.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { arf, dsn, unknownUser } from '../support/report.ts'
import { sharedPath } from '../support/return-path.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let clock: FakeClock
let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  clock = createFakeClock()
  relay = await startRelay()
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url },
    world: { clock, random: () => 0 },
  })
  owner = await service.workspace()
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const read = async (id: string) => (await agent.api('GET', `${path}/messages/${id}`)).body
const becomes = (id: string, status: string) =>
  until(async () => {
    const message = await read(id)
    return message.status === status && message
  })
const send = async (...to: string[]) =>
  (await agent.api('POST', `${path}/messages`, { channel: 'email', to, subject: 'Hello', text: 'hi' })).body
/**
 * Sends a message through the relay and returns the return path of each recipient in order; `returnPath` is
 * the first one.
 */
const sent = async (...to: string[]) => {
  const { id } = await send(...to)
  await becomes(id, 'sent')
  const returnPaths = relay.mails.slice(-to.length).map(({ from }) => from)
  return { id, returnPath: returnPaths[0]!, returnPaths }
}
/** Returns the older form of return path, which all recipients of a message share. */
const shared = (id: string) => sharedPath(id, deriveKey(service.masterKey, 'return path'), 'agents.localhost')
const bounceTo = (returnPath: string | string[], raw: string, from = '') =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, { envelope: { from, to: returnPath }, raw })
const recipientsOf = async (id: string) => (await agent.api('GET', `${path}/messages/${id}/recipients`)).body
const statusesOf = async (id: string) =>
  Object.fromEntries(
    (await recipientsOf(id)).map(({ address, status }: { address: string; status: string }) => [
      address,
      status,
    ]),
  )
const suppressions = async () => (await agent.api('GET', `${path}/suppressions`)).body.items
/** Runs `act`, and returns what it tells the members who watch of suppression lists. */
const toldOfSuppressions = async (act: () => Promise<unknown>) => {
  const position = await readChangePosition(service.db)
  await act()
  const [read] = await readChanges(service.db, [{ workspaceId: owner.id, ...position }])
  return read!.changes.filter(({ kind }) => kind === 'suppression')
}
const inbox = async () => (await agent.api('GET', `${path}/messages?direction=inbound`)).body.items

describe('a bounce', () => {
  test('fails the message with the remote server’s response, suppresses its recipient and raises no event', async () => {
    const { id, returnPath } = await sent('bo@example.com')
    const bounce = () => bounceTo(returnPath, dsn({ recipients: [unknownUser('bo@example.com')] }))
    expect(await toldOfSuppressions(bounce)).toEqual([{ kind: 'suppression', agentId: agent.id, ids: [] }])
    expect(await toldOfSuppressions(bounce)).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'failed', error: '550 5.1.1 No such user here' })
    expect(await suppressions()).toEqual([
      {
        channel: 'email',
        recipient: 'bo@example.com',
        reason: 'bounce',
        detail: '550 5.1.1 No such user here',
        createdAt: clock.now().toISOString(),
      },
    ])
    expect(await inbox()).toEqual([])
    expect((await agent.api('GET', `${path}/events`)).body.items).toEqual([])
  })

  test('makes later sends to the recipient fail without reaching the relay, and the other recipients get theirs', async () => {
    const { returnPath } = await sent('gone@example.com')
    await bounceTo(returnPath, dsn({ recipients: [unknownUser('gone@example.com')] }))
    const before = relay.attempts('gone@example.com')
    const { error } = await becomes((await send('gone@example.com', 'cy@example.com')).id, 'failed')
    expect(error).toMatch(
      /^gone@example\.com: not sent: .* suppression list since it bounced on \d{4}-\d\d-\d\d \(550 5\.1\.1 No such user here\)$/,
    )
    expect(relay.mails.at(-1)!.to).toEqual(['cy@example.com'])
    expect(relay.attempts('gone@example.com')).toBe(before)
    const other = await createTestAgent(service, owner)
    const { body } = await other.api('POST', `/agents/${other.id}/messages`, {
      channel: 'email',
      to: ['gone@example.com'],
      text: 'hi',
    })
    await until(
      async () => (await other.api('GET', `/agents/${other.id}/messages/${body.id}`)).body.status === 'sent',
    )
  })

  test('is also recorded when the server refuses the mailbox directly, but not for a temporary problem', async () => {
    relay.refuse('No.One@example.com', '550 5.1.1 No such user here')
    relay.refuse('brimful@example.com', '552 5.2.2 Mailbox full')
    const fail = async () => {
      const { id } = await send('No.One@example.com', 'brimful@example.com', 'di@example.com')
      await becomes(id, 'failed')
    }
    expect(await toldOfSuppressions(fail)).toEqual([{ kind: 'suppression', agentId: agent.id, ids: [] }])
    expect(await toldOfSuppressions(() => sent('di@example.com'))).toEqual([])
    expect(await suppressions()).toMatchObject([
      {
        recipient: 'no.one@example.com',
        reason: 'bounce',
        detail: '550 5.1.1 No such user here',
        createdAt: clock.now().toISOString(),
      },
    ])
    const { error } = await becomes((await send('no.one@example.com')).id, 'failed')
    expect(error).toContain('suppression list')
    expect(relay.attempts('No.One@example.com') + relay.attempts('no.one@example.com')).toBe(1)
  })

  test('ends the pending retry of another message to the same recipient without contacting the relay', async () => {
    const { returnPath } = await sent('late@example.com')
    relay.refuse('late@example.com', '450 4.2.1 Come back later')
    const { id } = await send('late@example.com', 'di@example.com')
    await until(
      async () => (await service.db.prisma.job.findFirstOrThrow({ where: { lane: id } })).attempts === 1,
    )
    await bounceTo(returnPath, dsn({ recipients: [unknownUser('late@example.com')] }))
    relay.refuse('late@example.com', null)
    const before = relay.attempts('late@example.com')
    const { error } = await until(async () => {
      clock.advance(61_000)
      const message = await read(id)
      return message.status !== 'sending' && message
    })
    expect(error).toMatch(/^late@example\.com: not sent: .* suppression list/)
    expect(await statusesOf(id)).toEqual({ 'late@example.com': 'failed', 'di@example.com': 'sent' })
    expect(relay.attempts('late@example.com')).toBe(before)
  })

  test('no longer has an effect once the recipient is removed from the suppression list', async () => {
    const { returnPath } = await sent('back@example.com')
    await bounceTo(returnPath, dsn({ recipients: [unknownUser('back@example.com')] }))
    expect((await agent.api('DELETE', `${path}/suppressions/Back%40example.com`)).status).toBe(204)
    expect(await suppressions()).toEqual([])
    expectFailure(await agent.api('DELETE', `${path}/suppressions/back%40example.com`), 'not_found')
    await becomes((await send('back@example.com')).id, 'sent')
  })

  test('of one of several recipients names that recipient and leaves the others sent', async () => {
    const { id, returnPaths } = await sent('a@example.com', 'b@example.com')
    await bounceTo(returnPaths[1]!, dsn({ recipients: [unknownUser('b@example.com')] }))
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: 'b@example.com: 550 5.1.1 No such user here',
    })
    expect(await recipientsOf(id)).toEqual([
      {
        address: 'a@example.com',
        status: 'sent',
        detail: null,
        deliveredAt: null,
        updatedAt: expect.any(String),
      },
      {
        address: 'b@example.com',
        status: 'failed',
        detail: '550 5.1.1 No such user here',
        deliveredAt: null,
        updatedAt: expect.any(String),
      },
    ])
  })

  test('that names another recipient of the message counts for the recipient whose return path it uses', async () => {
    const { id, returnPaths } = await sent('mallory@example.com', 'victim@example.com')
    await bounceTo(returnPaths[0]!, dsn({ recipients: [unknownUser('victim@example.com')] }))
    expect(await statusesOf(id)).toEqual({ 'mallory@example.com': 'failed', 'victim@example.com': 'sent' })
    expect((await read(id)).error).toBe('mallory@example.com: 550 5.1.1 No such user here')
    expect(await suppressions()).toMatchObject([{ recipient: 'mallory@example.com' }])
  })

  test('to the return paths of several recipients counts for each of them with its own detail', async () => {
    const { id, returnPaths } = await sent('a@example.com', 'b@example.com', 'c@example.com')
    const full = {
      ...unknownUser('c@example.com'),
      Status: '5.2.2',
      'Diagnostic-Code': 'smtp; 552 5.2.2 Mailbox full',
    }
    await bounceTo(
      [returnPaths[0]!, returnPaths[2]!],
      dsn({ recipients: [unknownUser('a@example.com'), full] }),
    )
    expect(await statusesOf(id)).toEqual({
      'a@example.com': 'failed',
      'b@example.com': 'sent',
      'c@example.com': 'failed',
    })
    expect((await read(id)).error).toBe(
      'a@example.com: 550 5.1.1 No such user here; c@example.com: 552 5.2.2 Mailbox full',
    )
    expect(await suppressions()).toMatchObject([{ recipient: 'a@example.com' }])
  })

  test('to a shared return path in the older form counts only if the message had a single recipient', async () => {
    const one = await sent('bo@example.com')
    const two = await sent('a@example.com', 'b@example.com')
    await bounceTo(shared(two.id), dsn({ recipients: [unknownUser('b@example.com')] }))
    await bounceTo(shared(two.id), arf({ 'Feedback-Type': 'abuse', 'Original-Rcpt-To': '<a@example.com>' }))
    await bounceTo(shared(one.id), dsn({ recipients: [unknownUser('x@elsewhere.example')] }))
    expect(await read(two.id)).toMatchObject({ status: 'sent', error: null })
    expect((await read(one.id)).status).toBe('failed')
    expect(await suppressions()).toMatchObject([{ recipient: 'bo@example.com' }])
  })

  test('because of a full mailbox fails the message and suppresses no recipient', async () => {
    const { id, returnPath } = await sent('full@example.com')
    await bounceTo(returnPath, dsn({ recipients: [{ ...unknownUser('full@example.com'), Status: '5.2.2' }] }))
    expect((await read(id)).status).toBe('failed')
    expect(await suppressions()).toEqual([])
  })

  test('that names an address behind an alias counts for the alias', async () => {
    const { id, returnPath } = await sent('alias@example.com')
    await bounceTo(
      returnPath,
      dsn({
        recipients: [{ 'Final-Recipient': 'rfc822;x@elsewhere.example', Action: 'failed', Status: '5.1.1' }],
      }),
    )
    expect((await read(id)).status).toBe('failed')
    expect(await suppressions()).toMatchObject([{ recipient: 'alias@example.com' }])
  })

  test('that names none of several recipients counts for the one whose return path it uses', async () => {
    const { id, returnPaths } = await sent('c@example.com', 'd@example.com')
    await bounceTo(returnPaths[1]!, dsn({ recipients: [unknownUser('x@elsewhere.example')] }))
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: 'd@example.com: 550 5.1.1 No such user here',
    })
    expect(await suppressions()).toMatchObject([{ recipient: 'd@example.com' }])
  })

  test('in plain text, repeated, with its own sender and a return path in capitals counts once', async () => {
    const { id, returnPath } = await sent('qmail@example.com')
    const raw = [
      'From: MAILER-DAEMON@q.example',
      'Subject: failure notice',
      '',
      "Hi. This is the qmail-send program. I'm afraid I wasn't able to deliver your message. This is a permanent error.",
      '',
      '<qmail@example.com>:',
      'Remote host said: 550 5.1.1 User unknown',
    ].join('\r\n')
    await bounceTo(returnPath.toUpperCase(), raw, 'MAILER-DAEMON@q.example')
    await bounceTo(returnPath, raw)
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: 'Remote host said: 550 5.1.1 User unknown',
    })
    expect(await suppressions()).toHaveLength(1)
  })

  test('that arrives before the relay’s response is not overwritten by it', async () => {
    const settling = relay.holdData()
    const { id } = await send('fast@example.com')
    const { from } = await settling.begun
    await bounceTo(from, dsn({ recipients: [unknownUser('fast@example.com')] }))
    settling.go()
    expect((await becomes(id, 'failed')).error).toBe('550 5.1.1 No such user here')
  })

  test('reaches subscribers of changes and can be read through GraphQL', async () => {
    const leaving = new AbortController()
    const watching = await fetch(`${service.http}/graphql`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        Authorization: `Bearer ${agent.token}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({
        query: `subscription { messageChanged(agentId: "${agent.id}") { id status error } }`,
      }),
    })
    const { id, returnPath } = await sent('seen@example.com')
    await bounceTo(returnPath, dsn({ recipients: [unknownUser('seen@example.com')] }))
    let received = ''
    for await (const chunk of watching.body!.pipeThrough(new TextDecoderStream())) {
      received += chunk
      if (received.includes('failed')) break
    }
    leaving.abort()
    expect(received).toContain(`{"id":"${id}","status":"failed","error":"550 5.1.1 No such user here"}`)
    const ask = async (query: string) => (await agent.api('POST', '/graphql', { query })).body.data
    const { agent: read } = await ask(
      `{ agent(id: "${agent.id}") { suppressions { edges { node { channel recipient reason detail } } } } }`,
    )
    const entry = {
      channel: 'email',
      recipient: 'seen@example.com',
      reason: 'bounce',
      detail: '550 5.1.1 No such user here',
    }
    expect(read.suppressions.edges).toEqual([{ node: entry }])
    const { message } = await ask(`{ message(id: "${id}") { recipients { address status detail } } }`)
    expect(message.recipients).toEqual([
      { address: 'seen@example.com', status: 'failed', detail: '550 5.1.1 No such user here' },
    ])
    const removal = `mutation { removeSuppression(input: { agentId: "${agent.id}", recipient: "seen@example.com" }) { recipient } }`
    expect((await ask(removal)).removeSuppression).toEqual({ recipient: 'seen@example.com' })
    expect(await suppressions()).toEqual([])
  })

  test('of a deleted message is accepted and ignored', async () => {
    const { id, returnPath } = await sent('e@example.com')
    await owner.api('DELETE', path)
    expect(
      (await bounceTo(returnPath, dsn({ recipients: [unknownUser('e@example.com')] }))).response,
    ).toMatch(/^250/)
    expect(await service.db.prisma.message.findFirst({ where: { id } })).toBeNull()
  })
})

describe('the status of a message is not changed by', () => {
  const group = (action: string) =>
    dsn({ recipients: [{ ...unknownUser('bo@example.com'), Action: action }] })
  test.each([
    ['a notice of delay', group('delayed')],
    ['a notice of success', group('delivered')],
    [
      'an out-of-office reply',
      'From: bo@example.com\r\nAuto-Submitted: auto-replied\r\nSubject: Out of office\r\n\r\nback on 5.1.2027',
    ],
    ['an empty message', '\r\n\r\n'],
    ['a report that something is not spam', arf({ 'Feedback-Type': 'not-spam' })],
  ])('%s', async (_, raw) => {
    const { id, returnPath } = await sent('bo@example.com')
    expect((await bounceTo(returnPath, raw)).response).toMatch(/^250/)
    expect(await read(id)).toMatchObject({ status: 'sent', error: null })
    expect(await suppressions()).toEqual([])
    expect(await inbox()).toEqual([])
    await bounceTo(returnPath, dsn({ recipients: [unknownUser('bo@example.com')] }))
    expect((await read(id)).status).toBe('failed')
  })

  test('a bounce to a forged return path, which is refused at RCPT', async () => {
    const { id, returnPath } = await sent('bo@example.com')
    const forged = returnPath.replace(/.@/, (end) => (end[0] === '0' ? '1@' : '0@'))
    await expect(
      bounceTo(forged, dsn({ recipients: [unknownUser('bo@example.com')] })),
    ).rejects.toMatchObject({ responseCode: 550 })
    expect((await read(id)).status).toBe('sent')
  })

  test('a bounce to the agent’s own address, which is stored as refused and raises no event', async () => {
    const { id } = await sent('bo@example.com')
    await bounceTo(agent.address, dsn({ recipients: [unknownUser('bo@example.com')] }))
    expect(await inbox()).toMatchObject([{ status: 'refused', refusal: 'self' }])
    expect((await read(id)).status).toBe('sent')
    expect((await agent.api('GET', `${path}/events`)).body.items).toEqual([])
  })

  test('a bounce to the return path of another message, even if it names the recipient', async () => {
    const mine = await sent('bo@example.com')
    const other = await sent('victim@example.com')
    await bounceTo(
      mine.returnPath,
      dsn({ recipients: [unknownUser('bo@example.com'), unknownUser('victim@example.com')] }),
    )
    expect((await read(mine.id)).status).toBe('failed')
    expect((await read(other.id)).status).toBe('sent')
    expect(await suppressions()).toMatchObject([{ recipient: 'bo@example.com' }])
  })
})

describe('a complaint', () => {
  test('marks the message as reported and suppresses the recipient who complained', async () => {
    const { id, returnPath } = await sent('bo@example.com')
    await bounceTo(
      returnPath,
      arf({ 'Feedback-Type': 'abuse', 'Original-Rcpt-To': '<bo@example.com>' }),
      'fbl@isp.example',
    )
    expect(await read(id)).toMatchObject({ status: 'reported', error: null })
    expect(await suppressions()).toMatchObject([{ recipient: 'bo@example.com', reason: 'complaint' }])
    expect((await becomes((await send('bo@example.com')).id, 'failed')).error).toContain('they complained')
    await bounceTo(returnPath, dsn({ recipients: [unknownUser('bo@example.com')] }))
    expect((await read(id)).status).toBe('reported')
  })

  test('can be undone by a member, but not by the agent', async () => {
    const { returnPath } = await sent('ivy@example.com')
    await bounceTo(returnPath, arf({ 'Feedback-Type': 'abuse', 'Original-Rcpt-To': '<ivy@example.com>' }))
    const entry = `${path}/suppressions/Ivy%40example.com`
    expectFailure(await agent.api('DELETE', entry), 'forbidden', /only a member/)
    const query =
      'mutation ($input: RemoveSuppressionInput!) { removeSuppression(input: $input) { __typename } }'
    const input = { agentId: agent.id, recipient: 'ivy@example.com' }
    const { body } = await agent.api('POST', '/graphql', { query, variables: { input } })
    expect(body.errors[0].extensions.code).toBe('forbidden')
    expect((await owner.api('DELETE', entry)).status).toBe(204)
  })

  test('from a feedback loop to the postmaster or abuse address counts for the return path that it contains', async () => {
    for (const [office, recipient] of [
      ['abuse', 'ed@example.com'],
      ['postmaster', 'flo@example.com'],
    ] as const) {
      const { id, returnPath } = await sent(recipient)
      const fields = { 'Feedback-Type': 'abuse', 'Original-Rcpt-To': `<${recipient}>` }
      const forged = returnPath.replace(/[0-9a-f]@/, (last) => (last[0] === '0' ? '1@' : '0@'))
      await bounceTo(
        `${office}@agents.localhost`,
        arf({ ...fields, 'Original-Mail-From': `<${forged}>` }),
        'fbl@isp.example',
      )
      expect((await read(id)).status).toBe('sent')
      await bounceTo(
        `${office}@agents.localhost`,
        arf({ ...fields, 'Original-Mail-From': `<${returnPath}>` }),
        'fbl@isp.example',
      )
      expect((await read(id)).status).toBe('reported')
    }
    expect(await suppressions()).toHaveLength(2)
  })

  test('counts for the recipient whose return path it uses alone: the message is reported once all have complained', async () => {
    const { id, returnPaths } = await sent('cy@example.com', 'di@example.com')
    const complain = (index: number) =>
      bounceTo(returnPaths[index]!, arf({ 'Feedback-Type': 'abuse', 'Original-Rcpt-To': '<cy@example.com>' }))
    await complain(1)
    await complain(1)
    expect((await read(id)).status).toBe('sent')
    expect(await suppressions()).toMatchObject([{ recipient: 'di@example.com', reason: 'complaint' }])
    const { body } = await agent.api('GET', `/agents/${agent.id}/messages/${id}/recipients`)
    expect(body.items ?? body).toMatchObject([
      { address: 'cy@example.com', status: 'sent' },
      { address: 'di@example.com', status: 'sent', detail: 'complained: reported as abuse' },
    ])
    await complain(0)
    expect((await read(id)).status).toBe('reported')
    expect(await suppressions()).toHaveLength(2)
  })

  test('to the abuse address counts for the recipient whose return path it contains', async () => {
    const { returnPaths } = await sent('gus@example.com', 'hal@example.com')
    const fields = { 'Original-Rcpt-To': '<gus@example.com>', 'Original-Mail-From': `<${returnPaths[1]!}>` }
    await bounceTo('abuse@agents.localhost', arf({ 'Feedback-Type': 'abuse', ...fields }), 'fbl@isp.example')
    expect(await suppressions()).toMatchObject([{ recipient: 'hal@example.com', reason: 'complaint' }])
  })
})

test('a reply to a mail whose Reply-To is a return path or a system address fails and changes nothing', async () => {
  const { id, returnPath } = await sent('bo@example.com')
  for (const replyTo of [returnPath, 'postmaster@agents.localhost', 'no-reply@agents.localhost']) {
    const original = await receive(service, agent, {
      from: 'eve@example.com',
      to: agent.address,
      replyTo,
      subject: replyTo,
      text: 'hi',
    })
    const { body } = await agent.api('POST', `${path}/messages`, {
      replyTo: original.id,
      text: 'Status: 5.1.1',
    })
    expect((await becomes(body.id, 'failed')).error).toBe('550 5.1.1 No such recipient here')
  }
  expect((await read(id)).status).toBe('sent')
  expect(await suppressions()).toEqual([])
})

test('the suppression list is returned in pages, newest first', async () => {
  for (const name of ['a', 'b', 'c']) {
    const { returnPath } = await sent(`${name}@example.com`)
    await bounceTo(returnPath, dsn({ recipients: [unknownUser(`${name}@example.com`)] }))
    if (name !== 'a') clock.advance(1)
  }
  const first = (await agent.api('GET', `${path}/suppressions?limit=2`)).body
  const second = (await agent.api('GET', `${path}/suppressions?limit=2&cursor=${first.nextCursor}`)).body
  const names = [...first.items, ...second.items].map(({ recipient }: { recipient: string }) => recipient[0])
  expect([names, second.nextCursor]).toEqual([['c', 'a', 'b'], null])
  expectFailure(await agent.api('GET', `${path}/suppressions?cursor=x`), 'invalid_input')
})
