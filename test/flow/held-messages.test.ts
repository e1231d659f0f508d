import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rejectExpired } from '../../src/message/approval/approval.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { waitsForLock } from '../support/rows.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

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
    world: { clock, random: () => 0, resolver: fakeResolver(proves('example.com')) },
  })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
})

const setApproval = (approval: string) => owner.api('PATCH', `/agents/${agent.id}`, { approval })
const send = async (fields: object = {}) =>
  (
    await agent.api('POST', path, {
      channel: 'email',
      to: ['stranger@elsewhere.example'],
      subject: 'Hello',
      text: 'hi',
      ...fields,
    })
  ).body
const read = async (id: string) => (await agent.api('GET', `${path}/${id}`)).body
const becomes = (id: string, status: string) =>
  until(async () => {
    clock.advance(1_000)
    const message = await read(id)
    return message.status === status && message
  })
/** Advances the clock by one poll of the workers; for `until`, which then looks again. */
const later = (): false => {
  clock.advance(1_000)
  return false
}
const inMs = (ms: number) => new Date(clock.now().getTime() + ms).toISOString()
const mailTo = (address: string) => until(() => relay.mails.find(({ to }) => to.includes(address)) ?? later())

describe('approval', () => {
  test('is set by members only, and shown with the agent', async () => {
    expect((await agent.api('GET', `/agents/${agent.id}`)).body.approval).toBe('none')
    expectFailure(await agent.api('PATCH', `/agents/${agent.id}`, { approval: 'all' }), 'forbidden')
    expectFailure(await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'some' }), 'invalid_input')
    expect((await setApproval('all')).body.approval).toBe('all')
    const { items } = (await owner.api('GET', '/audit')).body
    expect(items[0]).toMatchObject({ action: 'agent.approval', detail: { approval: 'all' } })
  })

  test('holds a message until a member approves it', async () => {
    await setApproval('all')
    const sent = await send({
      attachments: [{ name: 'a.txt', type: 'text/plain', content: 'aGk=' }],
      cc: ['bo@example.com'],
    })
    expect(sent).toMatchObject({ status: 'sending', hold: { reason: 'approval', by: null } })
    expect(Date.parse(sent.hold.until) - Date.parse(sent.createdAt)).toBe(7 * DAY)
    expectFailure(await agent.api('POST', `${path}/${sent.id}/approve`), 'forbidden')
    clock.advance(DAY)
    expect(relay.mails).toHaveLength(0)
    const approved = await owner.api('POST', `${path}/${sent.id}/approve`)
    expect(approved.status).toBe(200)
    expect(approved.body).toMatchObject({ hold: { reason: 'approval', until: null, by: owner.email } })
    await becomes(sent.id, 'sent')
    const mails = await relay.got(2)
    expect(mails.flatMap(({ to }) => to).sort()).toEqual(['bo@example.com', 'stranger@elsewhere.example'])
    const [mail] = mails
    expect(mail?.mail.attachments).toHaveLength(1)
    // The mail is dated when it is sent, not when it was written.
    expect(Date.parse(mail!.mail.date!)).toBeGreaterThan(Date.parse(sent.createdAt) + DAY - MINUTE)
    expect((await read(sent.id)).checks).toEqual([
      { name: 'approval', verdict: 'approved', detail: `approved by ${owner.email}` },
    ])
  })

  test('says what the member changed, and the new words are found', async () => {
    const original = await send({ subject: 'First', text: 'cockatoo' })
    await setApproval('all')
    const sent = await send({ channel: undefined, forward: original.id, text: 'aardvark' })
    expect(sent).toMatchObject({ text: expect.stringContaining('cockatoo'), replyText: 'aardvark' })
    const { unindexedMessage } = service.db.prisma
    await until(
      async () => (await unindexedMessage.count({ where: { messageId: sent.id } })) === 0 || later(),
    )
    const edits = { subject: 'Hello again', text: 'buffalo' }
    const approved = await owner.api('POST', `${path}/${sent.id}/approve`, edits)
    expect(approved.body).toMatchObject({ ...edits, replyText: 'buffalo' })
    expect(approved.body.checks[0]).toMatchObject({
      verdict: 'edited',
      detail: `approved by ${owner.email}, who changed the subject and the text`,
    })
    const mails = await relay.got(2)
    const [mail] = mails.filter((one) => one.mail.subject === 'Hello again')
    expect(mail?.mail.text?.trim()).toBe('buffalo')
    const found = async (q: string) => (await agent.api('GET', `${path}?q=${q}`)).body.items.length
    expect(await found('buffalo')).toBe(1)
    expect(await found('aardvark')).toBe(0)
  })

  test('can be refused, with a reason', async () => {
    await setApproval('all')
    const sent = await send()
    const rejected = await owner.api('POST', `${path}/${sent.id}/reject`, { reason: 'wrong person' })
    expect(rejected.body).toMatchObject({
      status: 'failed',
      error: `Rejected by ${owner.email}: wrong person`,
      hold: { reason: 'approval', until: null, by: owner.email },
    })
    const failure = await owner.api('POST', `${path}/${sent.id}/approve`)
    expectFailure(failure, 'conflict')
    expect(failure.text).toContain(`Rejected by ${owner.email}`)
    const recipients = (await agent.api('GET', `${path}/${sent.id}/recipients`)).body
    expect(recipients[0]).toMatchObject({ status: 'failed' })
  })

  test('of two members who decide at once, one wins and the other is told', async () => {
    await setApproval('all')
    const sent = await send()
    const answers = await Promise.all(
      ['approve', 'reject', 'approve', 'reject'].map((decision) =>
        owner.api('POST', `${path}/${sent.id}/${decision}`),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    const winner = answers.find(({ status }) => status === 200)!
    await becomes(sent.id, winner.body.status === 'failed' ? 'failed' : 'sent')
    expect(await service.db.prisma.job.count({ where: { lane: sent.id } })).toBe(
      winner.body.status === 'failed' ? 0 : 1,
    )
  })

  test('is not needed where nothing waits', async () => {
    const sent = await send()
    expect(sent.hold).toBeNull()
    expectFailure(await owner.api('POST', `${path}/${sent.id}/approve`), 'conflict')
    expectFailure(await owner.api('POST', `${path}/${agent.id}/approve`), 'not_found')
  })

  test('that is given in the last moment is not taken back', async () => {
    await setApproval('all')
    const { id } = await send()
    const late = { ...clock, now: () => new Date(clock.now().getTime() + 8 * DAY) }
    const deps = {
      ...service.db,
      clock: late,
      notifier: { publish: () => undefined } as never,
      feed: { committed: () => undefined },
    }
    const { rejecting } = await service.db.prisma.$transaction(async (tx) => {
      await tx.message.updateMany({ where: { id }, data: { holdUntil: null, holdBy: 'Ann' } })
      const rejecting = rejectExpired(deps, new AbortController().signal)
      await until(() => waitsForLock(service.db, 'from message'))
      return { rejecting }
    })
    expect(await rejecting).toBe(0)
    expect(await read(id)).toMatchObject({ status: 'sending', error: null })
  })

  test('ends after a week', async () => {
    await setApproval('all')
    const sent = await send()
    clock.advance(7 * DAY + 11 * MINUTE)
    expect((await becomes(sent.id, 'failed')).error).toBe('Rejected: nobody approved it within 7 days')
  })

  test('an idempotency key holds one message and approves it once', async () => {
    await setApproval('all')
    const body = { channel: 'email', to: ['x@elsewhere.example'], text: 'once' }
    const key = { 'Idempotency-Key': 'k1' }
    const [first, second] = [
      await agent.api('POST', path, body, key),
      await agent.api('POST', path, body, key),
    ]
    expect(second.body).toEqual(first.body)
    const approve = () =>
      owner.api('POST', `${path}/${first.body.id}/approve`, {}, { 'Idempotency-Key': 'k2' })
    const [done, again] = [await approve(), await approve()]
    expect(done.status).toBe(200)
    expect(again.body).toEqual(done.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    await relay.got(1)
  })

  test('for strangers lets through whom the agent knows', async () => {
    await setApproval('strangers')
    await owner.api('PUT', `/agents/${agent.id}/access/email`, {
      admit: 'list',
      senders: ['listed@elsewhere.example', '*@listed.example'],
    })
    const other = await createTestAgent(service, owner)
    const holdOf = async (...to: string[]) => (await send({ to })).hold?.reason ?? null
    expect(await holdOf(owner.email.toUpperCase())).toBeNull()
    expect(await holdOf(other.address)).toBeNull()
    expect(await holdOf('Listed@elsewhere.example', 'anyone@listed.example')).toBeNull()
    expect(await holdOf('listed@elsewhere.example', 'stranger@elsewhere.example')).toBe('approval')
    // A refused message does not make its sender known.
    const refused = { from: 'ann@example.com', to: agent.address, text: 'let me in' }
    await receive(service, agent, refused)
    expect(await holdOf('ann@example.com')).toBe('approval')
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    await receive(service, agent, { ...refused, text: 'again' })
    expect(await holdOf('ann@example.com')).toBeNull()
    // Mail to a domain that the workspace has lost goes to whoever has it now.
    const { prisma } = service.db
    const workspaceId = owner.id
    const name = `${other.id}.example`
    const domain = await prisma.domain.create({
      data: { workspaceId, name, state: 'verified', ownershipToken: 'x' },
    })
    const [channel, value] = ['email', `bot@${name}`] as const
    await prisma.address.create({
      data: { workspaceId, agentId: other.id, channel, value, domainId: domain.id },
    })
    expect(await holdOf(value)).toBeNull()
    await prisma.domain.update({ where: { id: domain.id }, data: { state: 'broken' } })
    expect(await holdOf(value)).toBe('approval')
  })

  test('says because of whom it waits, as long as it does', async () => {
    await setApproval('strangers')
    const to = [owner.email, 'stranger@elsewhere.example']
    const { id } = await send({ to, cc: ['Other@elsewhere.example'] })
    const strangers = async () =>
      (await owner.api('POST', '/graphql', { query: `{ message(id: "${id}") { strangers } }` })).body.data
        .message.strangers
    expect(await strangers()).toEqual(['Other@elsewhere.example', 'stranger@elsewhere.example'])
    await owner.api('PUT', `/agents/${agent.id}/access/email`, {
      admit: 'list',
      senders: ['other@elsewhere.example'],
    })
    expect(await strangers()).toEqual(['stranger@elsewhere.example'])
    await owner.api('POST', `${path}/${id}/approve`)
    expect(await strangers()).toEqual([])
  })

  test('belongs to the workspace', async () => {
    await setApproval('all')
    const sent = await send()
    const stranger = await service.workspace()
    for (const decision of ['approve', 'reject', 'cancel'])
      expectFailure(await stranger.api('POST', `${path}/${sent.id}/${decision}`), 'not_found')
  })
})

describe('the mail that asks for approval', () => {
  test('goes to the members who asked for it, and its page decides', async () => {
    await setApproval('all')
    await send()
    expect(
      (await owner.api('PATCH', '/members/me', { name: 'Ann', approvalMails: true })).body,
    ).toMatchObject({
      name: 'Ann',
      approvalMails: true,
    })
    const sent = await send({ subject: 'Offer', text: 'Is <b>this</b> fine?' })
    const { mail } = await mailTo(owner.email)
    const link = new URL(/http\S+\/approve\/\S+/.exec(mail.text ?? '')![0])
    const open = (init?: RequestInit) => fetch(service.http + link.pathname, init)
    const shown = await (await open()).text()
    expect(shown).toContain('Is &lt;b&gt;this&lt;/b&gt; fine?')
    expect(shown).toContain('Offer')
    await open({ method: 'HEAD' })
    expect((await read(sent.id)).hold.by).toBeNull()
    const Origin = service.http.replace('127.0.0.1', 'localhost')
    const decide = (decision: string) =>
      open({ method: 'POST', headers: { Origin }, body: new URLSearchParams({ decision }) })
    expect(await (await decide('nonsense')).text()).toContain('Must be approve or reject')
    expect(await (await decide('approve')).text()).toContain('Approved by Ann')
    expect(await (await decide('reject')).text()).toContain('Approved by Ann')
    await becomes(sent.id, 'sent')
    const forged = `${link.pathname.slice(0, -4)}AAAA`
    expect((await fetch(service.http + forged)).status).toBe(404)
    clock.advance(7 * DAY + MINUTE)
    expect((await open()).status).toBe(404)
  })

  test('opens nothing once its member was removed', async () => {
    await setApproval('all')
    const invited = await owner.api('POST', '/members/invitations', {
      email: 'bo@example.com',
      role: 'owner',
    })
    const joined = await fetch(service.http + new URL(invited.body.url).pathname, {
      method: 'POST',
      body: new URLSearchParams({ name: 'Bo' }),
    })
    const token = /amt_\w+/.exec(await joined.text())![0]
    const bo = apiOf(service.http, token)
    const { id } = (await bo('PATCH', '/members/me', { approvalMails: true })).body
    await send()
    const { mail } = await until(
      () =>
        relay.mails.find(
          ({ mail, to }) => to.includes('bo@example.com') && /approve/.test(mail.text ?? ''),
        ) ?? later(),
    )
    const link = new URL(/http\S+\/approve\/\S+/.exec(mail.text ?? '')![0])
    expect((await fetch(service.http + link.pathname)).status).toBe(200)
    await owner.api('DELETE', `/members/${id}`)
    expect((await fetch(service.http + link.pathname)).status).toBe(404)
  })
})

describe('a scheduled message', () => {
  test('is sent at its time', async () => {
    const sent = await send({ sendAt: inMs(3 * DAY) })
    expect(sent).toMatchObject({
      status: 'sending',
      hold: { reason: 'schedule', until: expect.any(String), by: null },
    })
    clock.advance(3 * DAY - MINUTE)
    await send({ subject: 'at once' })
    expect((await relay.got(1))[0]?.mail.subject).toBe('at once')
    clock.advance(2 * MINUTE)
    await becomes(sent.id, 'sent')
  })

  test('moves, and is cancelled', async () => {
    const sent = await send({ sendAt: inMs(DAY) })
    const moment = inMs(2 * DAY)
    const moved = await agent.api('PATCH', `${path}/${sent.id}`, { sendAt: moment, labels: ['later'] })
    expect(moved.body).toMatchObject({
      hold: { reason: 'schedule', until: moment, by: null },
      labels: ['later'],
    })
    clock.advance(DAY + MINUTE)
    const cancelled = await agent.api('POST', `${path}/${sent.id}/cancel`)
    expect(cancelled.body).toMatchObject({ status: 'failed', error: 'Cancelled by Support Bot' })
    clock.advance(2 * DAY)
    await send({ subject: 'marker' })
    expect((await relay.got(1)).map(({ mail }) => mail.subject)).toEqual(['marker'])
    expectFailure(await agent.api('POST', `${path}/${sent.id}/cancel`), 'conflict')
    expectFailure(await agent.api('PATCH', `${path}/${sent.id}`, { sendAt: inMs(DAY) }), 'conflict')
  })

  test('has a time in the next 30 days', async () => {
    for (const sendAt of [inMs(-1000), inMs(30 * DAY + MINUTE), 'tomorrow', 5]) {
      const answer = await agent.api('POST', path, {
        channel: 'email',
        to: ['x@y.example'],
        text: 'hi',
        sendAt,
      })
      expectFailure(answer, 'invalid_input')
      expect(answer.text).toContain('sendAt')
    }
  })

  test('that needs approval keeps its time, which can be moved without moving the time for approval', async () => {
    await setApproval('all')
    const sent = await send({ sendAt: inMs(DAY) })
    expect(sent.hold).toMatchObject({
      reason: 'approval',
      until: new Date(Date.parse(sent.createdAt) + 7 * DAY).toISOString(),
    })
    const moment = inMs(2 * DAY)
    const moved = await agent.api('PATCH', `${path}/${sent.id}`, { sendAt: moment })
    expect(moved.body.hold).toEqual(sent.hold)
    const approved = await owner.api('POST', `${path}/${sent.id}/approve`)
    expect(approved.body.hold).toEqual({ reason: 'schedule', until: moment, by: owner.email })
    clock.advance(2 * DAY + MINUTE)
    await becomes(sent.id, 'sent')
    const [mail] = await relay.got(1)
    expect(Date.parse(mail!.mail.date!)).toBe(Math.floor(Date.parse(moment) / 1000) * 1000)
  })

  test('that a worker has begun to send, or has tried to, is neither moved nor cancelled', async () => {
    const untouched = async (id: string) => {
      expectFailure(await agent.api('POST', `${path}/${id}/cancel`), 'conflict')
      expectFailure(await agent.api('PATCH', `${path}/${id}`, { sendAt: inMs(DAY) }), 'conflict')
    }
    const begun = await send({ sendAt: inMs(MINUTE) })
    const held = relay.holdData()
    clock.advance(2 * MINUTE)
    await held.begun
    await untouched(begun.id)
    held.go()
    await becomes(begun.id, 'sent')
    const tried = await send({ to: ['busy@elsewhere.example'], sendAt: inMs(MINUTE) })
    relay.refuse('busy@elsewhere.example', '451 4.7.1 later')
    clock.advance(2 * MINUTE)
    await until(
      async () => (await service.db.prisma.job.findFirst({ where: { lane: tried.id } }))?.attempts === 1,
    )
    await untouched(tried.id)
  })

  test('that is approved after its time is sent at once', async () => {
    await setApproval('all')
    const sent = await send({ sendAt: inMs(DAY) })
    clock.advance(2 * DAY)
    const { body } = await owner.api('POST', `${path}/${sent.id}/approve`)
    expect(body.hold).toEqual({ reason: 'approval', until: null, by: owner.email })
    await becomes(sent.id, 'sent')
    const [mail] = await relay.got(1)
    expect(Date.parse(mail!.mail.date!)).toBeGreaterThan(Date.parse(sent.createdAt) + 2 * DAY - MINUTE)
  })

  test('is retried for a day from its time, and its job outlives a week of waiting', async () => {
    const sent = await send({ sendAt: inMs(DAY) })
    await agent.api('PATCH', `${path}/${sent.id}`, { sendAt: inMs(20 * DAY) })
    clock.advance(20 * DAY - MINUTE)
    relay.refuse('stranger@elsewhere.example', '451 4.7.1 later')
    clock.advance(2 * MINUTE)
    await until(() => relay.attempts('stranger@elsewhere.example') > 0 || later())
    relay.refuse('stranger@elsewhere.example', null)
    clock.advance(MINUTE)
    await becomes(sent.id, 'sent')
  })
})

test('roles are changed by owners, and the last owner stays one', async () => {
  expectFailure(await owner.api('PATCH', `/members/${owner.member}`, { role: 'member' }), 'conflict')
  expect((await owner.api('PATCH', `/members/${owner.member}`, { role: 'owner' })).status).toBe(200)
  expectFailure(await agent.api('PATCH', `/members/${owner.member}`, { role: 'owner' }), 'forbidden')
  expectFailure(await agent.api('PATCH', '/members/me', { name: 'Bot' }), 'forbidden')
  expectFailure(await owner.api('PATCH', `/members/${agent.id}`, { role: 'owner' }), 'not_found')
})
