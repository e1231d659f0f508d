import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pruneIdempotencyKeys } from '../../src/workspace/idempotency.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { dump, holds } from '../support/dump.ts'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const DAY_MS = 24 * 3_600_000
const GOOD = { name: 'Once', icon: 'bot' }

const log = createTestLog()
let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
let blocker: pg.Client
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock }, log })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  blocker = new pg.Client({ connectionString: service.databaseUrl })
  await blocker.connect()
})
afterAll(() => blocker.end())

const withKey = (key: string) => ({ 'Idempotency-Key': key })
const create = (key: string, body: unknown = GOOD, headers = {}) =>
  owner.api('POST', '/agents', body, { ...withKey(key), ...headers })
const sha256 = (text: string) => createHash('sha256').update(text).digest()
const countNamed = (name: string) => service.db.prisma.agent.count({ where: { name } })

/** Runs `work` while the workspace is locked: a request that creates an agent waits in its transaction. */
const whileBlocked = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  await blocker.query('begin')
  await blocker.query('select 1 from workspace where id = $1 for update', [owner.id])
  try {
    return await work()
  } finally {
    await blocker.query('rollback')
  }
}
/** Resolves with the PostgreSQL backends that wait for the lock. */
const waiting = () =>
  until(async () => {
    const { rows } = await service.db.pool.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    return rows.length > 0 && rows.map(({ pid }) => pid)
  })

test('repeating a request with the same key and body returns the first response and creates nothing', async () => {
  const first = await create('same', { ...GOOD, name: 'Same' })
  expect(first.status).toBe(201)
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  for (const key of ['same', '"same"']) {
    const again = await create(key, { ...GOOD, name: 'Same' })
    expect(again).toMatchObject({ status: 201, text: first.text })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  }
  expect(await countNamed('Same')).toBe(1)
})

test('a used key with another body or another path is refused', async () => {
  await create('taken')
  expectFailure(
    await create('taken', { ...GOOD, name: 'Other' }),
    'invalid_input',
    /^Idempotency-Key: was used for another request/,
  )
  const elsewhere = await owner.api('POST', `/agents/${agent.id}/tokens`, GOOD, withKey('taken'))
  expectFailure(elsewhere, 'invalid_input', /^Idempotency-Key: was used for another request/)
})

test('a key that sent a message is refused for another one with the message that it sent', async () => {
  const path = `/agents/${agent.id}/messages`
  const send = (text: string) =>
    owner.api('POST', path, { channel: 'email', to: ['bo@example.com'], text }, withKey('sent'))
  const { body: first } = await send('one')
  const { status, body } = await send('two')
  const message = 'Idempotency-Key: was used for another request'
  expect({ status, body }).toEqual({
    status: 400,
    body: { error: { code: 'invalid_input', message, reason: 'key_reused', messageId: first.id } },
  })
  const graphql = await owner.api(
    'POST',
    '/graphql',
    {
      query: 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { id } } }',
      variables: { input: { agentId: agent.id, channel: 'email', to: ['bo@example.com'], text: 'three' } },
    },
    withKey('sent'),
  )
  expect(graphql.body.errors[0].extensions).toMatchObject({ reason: 'key_reused', messageId: first.id })
})

test('the same key with another token is a different key', async () => {
  const mine = await create('shared')
  const theirs = await (await service.workspace()).api('POST', '/agents', GOOD, withKey('shared'))
  expect(theirs.status).toBe(201)
  expect(theirs.body.id).not.toBe(mine.body.id)
})

test('a failed request releases its key', async () => {
  const refused = [{ name: '', icon: 'bot' }, { ...GOOD, icon: 'skull' }, '{', { ...GOOD, extra: 1 }]
  for (const body of refused) expectFailure(await create('free', body), 'invalid_input')
  const unknown = await owner.api('POST', `/agents/${randomUUID()}/tokens`, {}, withKey('free'))
  expectFailure(unknown, 'not_found')
  expect((await create('free')).status).toBe(201)
})

test('a repeated request is a conflict while the first is running, and gets its response afterwards', async () => {
  const { running: first } = await whileBlocked(async () => {
    const running = create('running')
    await waiting()
    expectFailure(await create('running'), 'conflict', /still running/)
    expectFailure(
      await apiOf((await service.again()).http, owner.token)('POST', '/agents', GOOD, withKey('running')),
      'conflict',
    )
    return { running }
  })
  // The lock is released, so the first request continues.
  const { status, text } = await first
  expect(status).toBe(201)
  expect((await create('running')).text).toBe(text)
})

test('of 30 concurrent requests with one key, one is executed and the others get its response or a conflict', async () => {
  const body = { ...GOOD, name: 'Crowd' }
  const answers = await Promise.all(Array.from({ length: 30 }, () => create('crowd', body)))
  expect(new Set(answers.map(({ status }) => status)).size).toBeLessThanOrEqual(2)
  for (const { status } of answers) expect([201, 409]).toContain(status)
  expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1)
  expect(await countNamed('Crowd')).toBe(1)
})

test('more requests with keys than the process has connections do not wait for each other', async () => {
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'hello' })
  const path = `/agents/${agent.id}/messages`
  const [{ id }] = (await owner.api('GET', path)).body.items
  const each = (to: string, body: unknown) =>
    Array.from({ length: 15 }, () => owner.api('POST', to, body, withKey(randomUUID())))
  const answers = await Promise.all([
    ...each(path, { replyTo: id, text: 'hi' }),
    ...each(path, { forward: id, to: ['bob@example.com'], text: 'see below' }),
    ...each(`${path}/${id}/raw/link`, {}),
  ])
  expect(answers.map(({ status }) => status)).toEqual(Array(45).fill(201))
})

describe('a crash', () => {
  test('during a request leaves neither its changes nor its key', async () => {
    const body = { ...GOOD, name: 'Crash' }
    const broken = await whileBlocked(async () => {
      const running = create('crash', body)
      for (const pid of await waiting()) await service.db.pool.query('select pg_terminate_backend($1)', [pid])
      return await running
    })
    expect(broken.status).toBeGreaterThanOrEqual(500)
    expect(await countNamed('Crash')).toBe(0)
    expect(await service.db.prisma.idempotencyKey.count({ where: { key: 'crash' } })).toBe(0)
    expect((await create('crash', body)).status).toBe(201)
    expect(await countNamed('Crash')).toBe(1)
  })

  test('of the client before the response arrives loses nothing: a retry returns the response', async () => {
    const body = JSON.stringify({ ...GOOD, name: 'Gone' })
    const leaving = new AbortController()
    const headers = {
      Authorization: `Bearer ${owner.token}`,
      'Content-Type': 'application/json',
      ...withKey('gone'),
    }
    await whileBlocked(async () => {
      const running = fetch(`${service.http}/agents`, {
        method: 'POST',
        headers,
        body,
        signal: leaving.signal,
      })
      await waiting()
      leaving.abort()
      await running.catch(() => undefined)
    })
    const again = await until(async () => {
      const answer = await create('gone', body)
      return answer.status === 201 && answer
    })
    expect(await countNamed('Gone')).toBe(1)
    expect((await service.db.prisma.agent.findFirst({ where: { name: 'Gone' } }))?.id).toBe(again.body.id)
  })
})

describe('a stored response', () => {
  test('is encrypted: the database contains no token, webhook secret or invitation link', async () => {
    const path = `/agents/${agent.id}`
    const key = withKey('sealed')
    const token = (await owner.api('POST', `${path}/tokens`, {}, withKey('token'))).body.token
    const { secret } = (await owner.api('POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/hook' }, key))
      .body
    const { url } = (
      await owner.api('POST', '/members/invitations', { email: 'ann@example.com' }, withKey('link'))
    ).body
    expect((await owner.api('POST', `${path}/tokens`, {}, withKey('token'))).body.token).toBe(token)
    const dumped = await dump(service.db)
    expect(dumped).toContain('idempotency_key')
    for (const kept of [token, secret, url.split('/').at(-1)]) expect(holds(dumped, kept)).toBe(false)
  })

  test('does not contain the text sent to a Message URL, but the replayed response does', async () => {
    const text = `unmistakable ${randomUUID()} words`
    for (const pathOf of [(id: string) => `/a/${id}`, (id: string) => `/agents/${id}/url`]) {
      // A separate agent for each: once its first attempt has failed, a webhook no longer counts as a listener.
      const { id } = await createTestAgent(service, owner, 'Heard')
      await owner.api('POST', `/agents/${id}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
      const path = pathOf(id)
      const first = await owner.api('POST', path, { text }, withKey(path))
      expect(first.status).toBe(200)
      const again = await owner.api('POST', path, { text }, withKey(path))
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(again.body).toEqual(first.body)
    }
    expect(holds(await dump(service.db), text)).toBe(false)
    expect(holds(log.text(), text)).toBe(false)
  })

  test('has a keyed request hash, from which the text of a request cannot be guessed', async () => {
    const { id } = await createTestAgent(service, owner, 'Guessed')
    await owner.api('POST', `/agents/${id}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
    const body = { text: 'yes' }
    expect((await owner.api('POST', `/a/${id}`, body, withKey('guess'))).status).toBe(200)
    const { requestHash } = await service.db.prisma.idempotencyKey.findFirstOrThrow({
      where: { key: 'guess' },
    })
    expect(requestHash).toHaveLength(32)
    expect(sha256(`/a/${id}\n${JSON.stringify(body)}`).equals(requestHash)).toBe(false)
    expect(
      (await owner.api('POST', `/a/${id}`, body, withKey('guess'))).headers.get('idempotency-replayed'),
    ).toBe('true')
    expectFailure(
      await owner.api('POST', `/a/${id}`, { text: 'no' }, withKey('guess')),
      'invalid_input',
      /for another request/,
    )
  })

  test('of an earlier version, with an unkeyed hash, is replayed', async () => {
    const first = await create('earlier')
    const { tokenId } = await service.db.prisma.idempotencyKey.findFirstOrThrow({ where: { key: 'earlier' } })
    const body = await service.keyring.seal(owner.id, first.text, `idempotency:${tokenId}:earlier`)
    const requestHash = Uint8Array.from(sha256(`/agents\n${JSON.stringify(GOOD)}`))
    const data = { requestHash, body: Uint8Array.from(body) }
    await service.db.prisma.idempotencyKey.updateMany({ where: { key: 'earlier' }, data })
    expect(await create('earlier')).toMatchObject({ status: 201, text: first.text })
    expectFailure(
      await create('earlier', { ...GOOD, name: 'Other' }),
      'invalid_input',
      /was used for another request/,
    )
  })

  test('does not contain secrets: revealing again reads the current values and is audited each time', async () => {
    const [path, value] = [`/agents/${agent.id}/secrets`, `hush ${randomUUID()} ${randomUUID()}`]
    const reveal = (body: unknown) => agent.api('POST', `${path}/reveal`, body, withKey('reveal'))
    const audited = () =>
      service.db.prisma.auditEntry.count({ where: { agentId: agent.id, action: 'secret.reveal' } })
    await owner.api('PUT', `${path}/KEY`, { value })
    const before = await audited()
    expect((await reveal({ names: ['KEY'] })).body).toEqual({ KEY: value })
    const kept = await service.db.prisma.idempotencyKey.findFirstOrThrow({ where: { key: 'reveal' } })
    // only the overhead of encryption and the key of the hash
    expect(kept.body.length).toBeLessThan(value.length)
    await owner.api('PUT', `${path}/KEY`, { value: 'rotated' })
    const again = await reveal({ names: ['KEY'] })
    expect(again.body).toEqual({ KEY: 'rotated' })
    expect(again.headers.get('cache-control')).toBe('no-store')
    expect(await audited()).toBe(before + 2)
    expectFailure(await reveal({}), 'invalid_input', /^Idempotency-Key: was used for another request/)
  })

  test('is kept for 24 hours and pruned afterwards', async () => {
    const first = await create('day')
    clock.advance(DAY_MS - 1)
    expect((await create('day')).text).toBe(first.text)
    clock.advance(1)
    const fresh = await create('day', { ...GOOD, name: 'Another day' })
    expect(fresh).toMatchObject({ status: 201, body: { name: 'Another day' } })
    clock.advance(DAY_MS + 1)
    // The service's own cleanup may have run already.
    await pruneIdempotencyKeys(service.db, clock.now())
    expect(await service.db.prisma.idempotencyKey.count()).toBe(0)
  })
})

test.each(['k'.repeat(256), '""', 'caf\u00e9'])('the key %j is refused', async (key) => {
  expectFailure(await create(key), 'invalid_input', /^Idempotency-Key: must be 1 to 255 printable characters/)
})

test.each(['k', 'k'.repeat(255), `"${'k'.repeat(255)}"`, 'a b', 'q"q'])(
  'the key %j is accepted',
  async (key) => {
    expect((await create(key)).status).toBe(201)
  },
)

test('a key is ignored for methods other than POST', async () => {
  for (const name of ['One', 'Two']) {
    expect((await owner.api('PATCH', `/agents/${agent.id}`, { name }, withKey('patch'))).body.name).toBe(name)
  }
})
