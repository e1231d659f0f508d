import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { type EventStream, openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { arf, dsn, unknownUser } from '../support/report.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const ALL = [
  'message.received',
  'message.refused',
  'message.held',
  'message.sent',
  'message.failed',
  'message.reported',
]

let clock: FakeClock
let relay: Relay
let receiver: Receiver
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  clock = createFakeClock()
  relay = await startRelay()
  receiver = await createReceiver()
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url },
    world: { clock, random: () => 0, resolver: fakeResolver(proves('example.com')) },
  })
})
afterAll(async () => {
  await relay.stop()
  await receiver.close()
})
beforeEach(async () => {
  relay.mails.length = 0
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}`
})

const setTypes = (eventTypes: unknown) => owner.api('PATCH', path, { eventTypes })
const log = async (query = '') =>
  (await owner.api('GET', `${path}/events?after=0&limit=100${query}`)).body.items
/** What the log says, without what differs in every run. */
const told = async () =>
  (await log()).map(
    ({
      id,
      type,
      messageId,
      createdAt,
      channel,
      sender,
      mayInstruct,
      threadId,
      conversation,
      addressed,
      ...detail
    }: Record<string, unknown>) => [id, type, detail],
  )
const tick = (): false => {
  clock.advance(1_000)
  return false
}
const logged = (count: number) =>
  until(async () => {
    const events = await log()
    return events.length >= count ? events : tick()
  })
const write = async (fields: object = {}) =>
  (
    await agent.api('POST', `${path}/messages`, {
      channel: 'email',
      to: ['bo@example.com'],
      subject: 'Hello',
      text: 'hi',
      ...fields,
    })
  ).body
const becomes = (id: string, status: string) =>
  until(async () => (await agent.api('GET', `${path}/messages/${id}`)).body.status === status || tick())
const mailFrom = (from: string, text = 'hi') =>
  post(service, { from, to: agent.address, subject: 'Hi', text })
const bounce = (to: string, raw: string) => post(service, { envelope: { from: '', to }, raw })
const letIn = () => owner.api('PUT', `${path}/access/email`, { admit: 'anyone', senders: [] })

/** Does all that raises an event, each once. */
const doEverything = async () => {
  await letIn()
  await mailFrom('ann@example.com')
  await owner.api('PUT', `${path}/access/email`, { admit: 'list', senders: ['ann@example.com'] })
  await mailFrom('eve@elsewhere.org')
  const sent = await write()
  await becomes(sent.id, 'sent')
  const [returnPath] = relay.mails.map(({ from }) => from)
  const scheduled = await write({ sendAt: new Date(clock.now().getTime() + 60_000).toISOString() })
  await agent.api('POST', `${path}/messages/${scheduled.id}/cancel`)
  await owner.api('PATCH', path, { approval: 'all' })
  const held = await write()
  await owner.api('POST', `${path}/messages/${held.id}/reject`, { reason: 'no' })
  await owner.api('PATCH', path, { approval: 'none' })
  await bounce(returnPath!, dsn({ recipients: [unknownUser('bo@example.com')] }))
  await bounce(returnPath!, arf())
  return { sent, scheduled, held }
}
const expected = ({ scheduled, held }: Record<'scheduled' | 'held', { hold: object }>) => [
  [1, 'message.received', {}],
  [2, 'message.refused', { refusal: 'sender' }],
  [3, 'message.sent', {}],
  [4, 'message.held', { hold: { reason: 'schedule', until: (scheduled.hold as { until: string }).until } }],
  [5, 'message.failed', { error: 'Cancelled by Support Bot' }],
  [6, 'message.held', { hold: { reason: 'approval', until: (held.hold as { until: string }).until } }],
  [7, 'message.failed', { error: `Rejected by ${owner.email}: no` }],
  [8, 'message.failed', { error: '550 5.1.1 No such user here' }],
  [9, 'message.reported', {}],
]

describe("an agent's setting", () => {
  test('is message.received alone by default, and always contains it', async () => {
    expect((await agent.api('GET', path)).body.eventTypes).toEqual(['message.received'])
    const twice = ['message.failed', 'message.sent', 'message.failed']
    expect((await agent.api('PATCH', path, { eventTypes: twice })).body.eventTypes).toEqual([
      'message.received',
      'message.sent',
      'message.failed',
    ])
    expect((await owner.api('GET', '/audit')).body.items[0]).toMatchObject({ action: 'agent.update' })
    expect((await setTypes([])).body.eventTypes).toEqual(['message.received'])
  })

  test.each([
    [
      ['message.sent', 'message.gone'],
      /^eventTypes\[1\]: must be one of message\.received, message\.refused/,
    ],
    ['message.sent', /^eventTypes: must be an array/],
    [[null], /^eventTypes\[0\]: must be one of/],
    [Array(8).fill('message.sent'), /^eventTypes: must contain at most 7 event types/],
  ])('refuses %j', async (eventTypes, rule) => {
    expectFailure(await setTypes(eventTypes), 'invalid_input', rule)
  })

  test('is the same over GraphQL', async () => {
    const update = (eventTypes: string[]) =>
      owner.api('POST', '/graphql', {
        query: `mutation ($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { eventTypes } } }`,
        variables: { input: { agentId: agent.id, eventTypes } },
      })
    expect((await update(['message.held'])).body.data.updateAgent.agent.eventTypes).toEqual([
      'message.received',
      'message.held',
    ])
    const [error] = (await update(['message.gone'])).body.errors
    expect(error).toMatchObject({ extensions: { code: 'invalid_input' } })
    expect(error.message).toMatch(/^eventTypes\[0\]: must be one of message\.received/)
  })
})

describe("an agent's log", () => {
  test('contains arrivals alone by default, whatever happens', async () => {
    const { sent } = await doEverything()
    expect((await agent.api('GET', `${path}/messages/${sent.id}`)).body.status).toBe('reported')
    expect(await told()).toEqual([[1, 'message.received', {}]])
  })

  test('tells all that its setting names, once each, with what it is about', async () => {
    await setTypes(ALL)
    const messages = await doEverything()
    expect(await told()).toEqual(expected(messages))
    const events = await log()
    expect(events[2]).toEqual({
      id: 3,
      type: 'message.sent',
      channel: 'email',
      messageId: messages.sent.id,
      createdAt: expect.any(String),
      sender: { id: agent.id, kind: 'agent', name: 'Support Bot', email: agent.address, phone: null },
      mayInstruct: false,
      ...{ threadId: events[2].threadId, conversation: null, addressed: null },
    })
    expect(events[1].sender).toMatchObject({ kind: 'contact', email: 'eve@elsewhere.org' })
    expect(await log('&types=message.sent,message.held')).toEqual([events[2], events[3], events[5]])
    const page = (await owner.api('GET', `${path}/events?types=message.failed&limit=2`)).body
    expect(page.items).toEqual([events[4], events[6]])
    expect(
      (await owner.api('GET', `${path}/events?types=message.failed&cursor=${page.nextCursor}`)).body,
    ).toEqual({ items: [events[7]], nextCursor: null, lastId: expect.any(Number) })
    expectFailure(await owner.api('GET', `${path}/events?types=sent`), 'invalid_input', /^types: must be one/)
  })

  test('contains only the types that are named', async () => {
    await setTypes(['message.failed'])
    await doEverything()
    expect((await told()).map(([id, type]: unknown[]) => [id, type])).toEqual([
      [1, 'message.received'],
      [2, 'message.failed'],
      [3, 'message.failed'],
      [4, 'message.failed'],
    ])
  })

  test('tells once that a message has failed, though two recipients bounce, and not that a report came late', async () => {
    await setTypes(ALL)
    relay.refuse('gone@example.com', '550 5.1.1 no such user')
    const { id } = await write({ to: ['gone@example.com', 'bo@example.com'] })
    await becomes(id, 'failed')
    const [mail] = await relay.got(1)
    await bounce(mail!.from, dsn({ recipients: [unknownUser('bo@example.com')] }))
    expect((await agent.api('GET', `${path}/messages/${id}`)).body.error).toMatch(/bo@example.com: 550/)
    await letIn()
    await mailFrom('ann@example.com')
    expect((await told()).map(([, type]: unknown[]) => type)).toEqual(['message.failed', 'message.received'])
  })

  test('tells that nobody approved a message in time', async () => {
    await setTypes(['message.failed'])
    await owner.api('PATCH', path, { approval: 'all' })
    await write()
    clock.advance(7 * 24 * 3_600_000)
    const [event] = await logged(1)
    expect(event).toMatchObject({ id: 1, error: 'Rejected: nobody approved it within 7 days' })
  })

  test('tells of a message that exceeds a wake limit that it was refused', async () => {
    await owner.api('PATCH', path, { eventTypes: ['message.refused'], wakesPerHour: 1 })
    await letIn()
    await mailFrom('ann@example.com')
    await mailFrom('ann@example.com')
    expect(await told()).toEqual([
      [1, 'message.received', {}],
      [2, 'message.refused', { refusal: 'rate_limit' }],
    ])
  })

  test('with an idempotency key, a held message has one event however often it is sent', async () => {
    await setTypes(ALL)
    await owner.api('PATCH', path, { approval: 'all' })
    const body = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
    const send = () => agent.api('POST', `${path}/messages`, body, { 'Idempotency-Key': 'one' })
    expect((await send()).body).toEqual((await send()).body)
    expect((await told()).map(([id, type]: unknown[]) => [id, type])).toEqual([[1, 'message.held']])
  })
})

const connectClient = async () => {
  const { id } = (await agent.api('PUT', `${path}/connection`, { client: 'c', machine: 'm' })).body
  return `${path}/connections/${id}/events`
}
const open = (at: string, headers = {}) => openEvents(service.http + at, agent.token, headers)
const idsOf = ({ frames }: EventStream) => frames.map(({ id }) => id)

describe('a stream', () => {
  test('of a client that asks for nothing is, but for mayInstruct, to the byte what it was before there were types', async () => {
    await setTypes(ALL)
    const at = await connectClient()
    const response = await fetch(service.http + at, { headers: { Authorization: `Bearer ${agent.token}` } })
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
    })()
    await doEverything()
    await letIn()
    await mailFrom('bo@example.com')
    const events = await log('&types=message.received')
    expect(events.map(({ id }: { id: number }) => id)).toEqual([1, 10])
    await until(() => text.includes('id: 10\n'))
    await connectClient() // replaces it
    await reading
    const frames = events.map(
      (event: { id: number }) =>
        `id: ${event.id}\nevent: message.received\ndata: ${JSON.stringify(event)}\n\n`,
    )
    // On a slow machine, a heartbeat may be due meanwhile.
    const sent = text.replaceAll(': heartbeat\n\n', '')
    expect(sent).toBe(`retry: 3000\n\n${frames.join('')}event: replaced\ndata: {}\n\n`)
    expect(Object.keys(events[0])).toEqual([
      'id',
      'type',
      'channel',
      'messageId',
      'createdAt',
      'sender',
      'mayInstruct',
      'threadId',
      'conversation',
      'addressed',
    ])
  })

  test('has the types that its client asks for, and resumes exactly', async () => {
    await setTypes(ALL)
    const at = await connectClient()
    const types = 'message.failed,message.held'
    const before = await open(`${at}?types=${types}`)
    const messages = await doEverything()
    await before.got(5)
    expect(idsOf(before)).toEqual([4, 5, 6, 7, 8])
    expect(before.frames.map(({ data }) => data)).toEqual(await log(`&types=${types}`))
    expect(before.frames.map(({ event }) => event)).toEqual(
      expected(messages)
        .filter(([, type]) => types.includes(String(type)))
        .map(([, type]) => type),
    )
    before.close()
    const after = await open(`${at}?types=${types},message.reported`, { 'Last-Event-ID': '5' })
    await after.got(4)
    expect(idsOf(after)).toEqual([6, 7, 8, 9])
    after.close()
  })

  test.each(['', 'message.gone', 'message.sent,', 'message.sent,,message.failed'])(
    'refuses the types %j',
    async (types) => {
      const at = await connectClient()
      expectFailure(
        await agent.api('GET', `${at}?types=${types}`),
        'invalid_input',
        /^types: must be one or more of message\.received, .*question\.answered, separated by commas/,
      )
    },
  )

  test('without new messages does not count as a listener of the Message URL', async () => {
    const at = await connectClient()
    const narrow = await open(`${at}?types=message.failed`)
    await until(() => narrow.opening !== '')
    expect((await owner.api('GET', `${path}/listeners`)).body).toEqual([])
    await owner.api('PUT', `${path}/access/url`, { admit: 'team', senders: [] })
    expectFailure(await owner.api('POST', `${path}/url`, { text: 'hi' }), 'conflict')
    const wide = await open(`${at}?types=message.failed,message.received`)
    await until(() => wide.opening !== '')
    expect((await owner.api('GET', `${path}/listeners`)).body).toMatchObject([{ kind: 'client' }])
    expect((await owner.api('POST', `${path}/url`, { text: 'hi' })).status).toBe(200)
    await wide.got(1)
    expect(wide.frames[0]?.data).toMatchObject({ text: 'hi' })
    wide.close()
    narrow.close()
  })
})

describe('a webhook', () => {
  let hook = 0
  const add = async (events?: unknown) => {
    const url = `${receiver.url}/hook${++hook}`
    clock.advance(1) // the list is in the order of adding
    const answer = await owner.api('POST', `${path}/webhooks`, { url, ...(events ? { events } : {}) })
    return { answer, at: `/hook${hook}`, url }
  }
  const bodiesAt = async (at: string, count: number) =>
    (await receiver.got(at, count)).map(({ body }) => JSON.parse(body))

  test('receives new messages alone until it asks for more, and then what it asked for, in order', async () => {
    await setTypes(ALL)
    const old = await add()
    const failures = await add(['message.failed'])
    const all = await add(ALL)
    const messages = await doEverything()
    const posts = await bodiesAt(all.at, 9)
    const list = expected(messages)
    expect(posts.map(({ name }) => name)).toEqual(list.map(([, type]) => type))
    for (const [index, [id, name, detail]] of list.entries()) {
      const body = posts[index]!
      expect(body).toMatchObject({ name, cursor: String(id), data: { agent: { id: agent.id } } })
      const { id: messageId, from, subject, channel, ...more } = body.data.message
      expect(more).toEqual({ mayInstruct: false, ...(detail as object) })
      expect(subject).toBe(index < 2 ? 'Hi' : 'Hello')
      if (index >= 2) expect(from).toBe(`Support Bot <${agent.address}>`)
      expect(JSON.stringify(body)).not.toContain('"text"')
    }
    await receiver.got(failures.at, 3)
    await letIn()
    await mailFrom('ann@example.com')
    await receiver.got(old.at, 2)
    expect((await bodiesAt(old.at, 2)).map(({ name }) => name)).toEqual([
      'message.received',
      'message.received',
    ])
    const [first] = receiver.received.filter(({ path: to }) => to === old.at)
    const [event] = await log('&types=message.received')
    expect(first?.body).toBe(
      JSON.stringify({
        eventId: `evt_${agent.id.replaceAll('-', '')}_1`,
        name: 'message.received',
        timestamp: event.createdAt,
        data: {
          agent: { id: agent.id, name: 'Support Bot' },
          message: {
            id: event.messageId,
            channel: 'email',
            from: 'ann@example.com',
            subject: 'Hi',
            mayInstruct: false,
          },
          messageId: event.messageId,
          from: 'ann@example.com',
          threadId: event.threadId,
          conversation: null,
          addressed: 'to',
        },
        cursor: '1',
      }),
    )
    expect((await bodiesAt(failures.at, 3)).map(({ name }) => name)).toEqual(Array(3).fill('message.failed'))
    const list2 = (await owner.api('GET', `${path}/webhooks`)).body
    expect(list2.map(({ events }: { events: string[] }) => events)).toEqual([
      ['message.received'],
      ['message.failed'],
      ALL,
    ])
    const { id } = list2[1]
    const deliveries = (await owner.api('GET', `${path}/webhooks/${id}/deliveries`)).body.items
    expect(deliveries.map(({ eventId }: { eventId: string }) => eventId.split('_').at(-1))).toEqual([
      '8',
      '7',
      '5',
    ])
    await until(async () => (await service.db.prisma.webhook.findFirst({ where: { id } }))?.position === 10n)
  })

  test('changes the types of what it has not received yet', async () => {
    await setTypes(ALL)
    const { answer, at } = await add(['message.sent', 'message.failed'])
    receiver.answer(at, 500)
    const messages = await doEverything()
    await receiver.got(at, 1)
    const one = `${path}/webhooks/${answer.body.id}`
    await until(async () => (await owner.api('GET', `${path}/webhooks`)).body[0].attempts === 1)
    const changed = await owner.api('PATCH', one, { events: ['message.failed', 'message.reported'] })
    expect(changed.body).toMatchObject({ events: ['message.failed', 'message.reported'], attempts: 0 })
    const posts = await bodiesAt(at, 5)
    expect(posts.map(({ cursor, name }) => [Number(cursor), name])).toEqual([
      [3, 'message.sent'],
      ...expected(messages)
        .filter(([, type]) => changed.body.events.includes(type))
        .map(([id, type]) => [id, type]),
    ])
    const { items } = (await owner.api('GET', `${one}/deliveries`)).body
    expect(items.at(-1)).toMatchObject({ eventId: expect.stringMatching(/_3$/), status: 'skipped' })
    // What was just answered counts once that is recorded.
    const isDone = async () => {
      const webhook = await service.db.prisma.webhook.findFirst({ where: { id: answer.body.id } })
      return webhook !== null && webhook.position >= BigInt(posts.at(-1)!.cursor)
    }
    await until(isDone)
    const replayed = await owner.api('POST', `${one}/replay`, { after: 0 })
    expect(replayed.body).toEqual({ events: 4 })
    expect((await bodiesAt(at, 9)).slice(5).map(({ cursor }) => cursor)).toEqual(
      posts.slice(1).map(({ cursor }) => cursor),
    )
    expectFailure(await owner.api('PATCH', one, { events: [] }), 'invalid_input', /^events: must contain at/)
    expectFailure(
      await owner.api('PATCH', one, { events: ['x'] }),
      'invalid_input',
      /^events\[0\]: must be one/,
    )
  })

  test('is added once for a URL, with the types of the first time', async () => {
    const { url } = await add(['message.failed'])
    const again = await owner.api('POST', `${path}/webhooks`, { url, events: ['message.sent'] })
    expect(again).toMatchObject({ status: 200, body: { events: ['message.failed'] } })
    expectFailure((await add(['message.gone'])).answer, 'invalid_input', /^events\[0\]: must be one of/)
    // It does not hear the Message URL.
    expect((await owner.api('GET', `${path}/listeners`)).body).toEqual([])
  })
})

describe('a subscription', () => {
  const follow = (args: string, fields: string) => {
    const client = createClient({
      url: `${service.http}/graphql`,
      headers: { Authorization: `Bearer ${owner.token}` },
      retryAttempts: 0,
    })
    // biome-ignore lint/suspicious/noExplicitAny: the schema promises the shape
    const results: any[] = []
    const query = `subscription { messageReceived(agentId: "${agent.id}", after: 0${args}) { ${fields} } }`
    const stop = client.subscribe(
      { query },
      { next: (result) => results.push(result), error: () => undefined, complete: () => undefined },
    )
    return {
      stop,
      got: (count: number) => until(() => results.length >= count && results),
    }
  }

  test('without arguments receives new messages alone, and with them what it asks for', async () => {
    await setTypes(ALL)
    const messages = await doEverything()
    await letIn()
    await mailFrom('ann@example.com')
    const old = follow(
      '',
      'id type channel messageId createdAt text mayInstruct threadId conversation addressed sender { id kind name email phone }',
    )
    const events = await log('&types=message.received')
    expect((await old.got(2)).map(({ data }) => data.messageReceived)).toEqual(
      events.map((event: object) => ({ ...event, text: null })),
    )
    const fields = 'id type refusal error hold { reason until by } message { status }'
    const types = ALL.slice(1).map((type) => `"${type}"`)
    const all = follow(`, types: [${types}]`, fields)
    const told = (await all.got(8)).map(({ data }) => data.messageReceived)
    expect(told).toMatchObject(
      expected(messages)
        .slice(1)
        .map(([id, type, detail]) => ({ id, type, ...(detail as object) })),
    )
    const wrong = follow(', types: ["message.gone"]', 'id')
    const [{ errors }] = (await wrong.got(1)) as [{ errors: { message: string }[] }]
    expect(errors[0]!.message).toMatch(/^types\[0\]: must be one of message\.received/)
    for (const { stop } of [old, all, wrong]) stop()
  })
})
