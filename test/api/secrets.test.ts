import { beforeAll, describe, expect, test } from 'vitest'
import { dump, holds } from '../support/dump.ts'
import { expectFailure } from '../support/failure.ts'
import { createTestLog } from '../support/log.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

const log = createTestLog()
let service: TestService
let owner: Tenant
beforeAll(async () => {
  service = await startService({ log })
  owner = await service.workspace()
})

const KIB = 1024
const secretsOf = ({ id }: TestAgent) => `/agents/${id}/secrets`
const set = (agent: TestAgent, name: string, value: unknown, by: Pick<Tenant, 'api'> = agent) =>
  by.api('PUT', `${secretsOf(agent)}/${name}`, { value })
const reveal = (agent: TestAgent, body: object = {}) => agent.api('POST', `${secretsOf(agent)}/reveal`, body)

test('a secret can be set, listed without its value, revealed by the agent, replaced and deleted', async () => {
  const agent = await createTestAgent(service, owner)
  const made = await set(agent, 'API_KEY', 'first', owner)
  expect(made).toMatchObject({
    status: 200,
    body: { name: 'API_KEY', kind: 'secret', setBy: 'member', updatedAt: expect.any(String) },
  })
  expect(Object.keys(made.body)).toHaveLength(5)
  expect((await set(agent, 'API_KEY', 'second')).body.setBy).toBe('agent')
  await set(agent, 'a.b-c_1', 'third')
  const listed = await owner.api('GET', secretsOf(agent))
  expect(listed.body.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['API_KEY', 'a.b-c_1']),
  )
  expect(listed.text).not.toMatch(/second|third/)
  const revealed = await reveal(agent)
  expect(revealed.body).toEqual({ API_KEY: 'second', 'a.b-c_1': 'third' })
  expect(revealed.headers.get('cache-control')).toBe('no-store')
  expect((await reveal(agent, { names: ['a.b-c_1', 'MISSING', 'a.b-c_1'] })).body).toEqual({
    'a.b-c_1': 'third',
  })
  expect((await reveal(agent, { names: [] })).body).toEqual({})
  expect((await agent.api('DELETE', `${secretsOf(agent)}/API_KEY`)).status).toBe(204)
  expectFailure(
    await agent.api('DELETE', `${secretsOf(agent)}/API_KEY`),
    'not_found',
    /^There is no secret with this name\.$/,
  )
  expect((await reveal(agent)).body).toEqual({ 'a.b-c_1': 'third' })
})

describe('a secret value', () => {
  let agent: TestAgent
  beforeAll(async () => {
    agent = await createTestAgent(service, owner, 'Values')
  })

  test.each([
    ['an empty string', ''],
    ['64 KiB', 'x'.repeat(64 * KIB)],
    ['64 KiB of emoji', '😀'.repeat(16 * KIB)],
    ['lines and quotes', '-----BEGIN KEY-----\n"a\\b\'\t\u2028\n'],
  ])('of %s is revealed unchanged', async (_, value) => {
    expect((await set(agent, 'VALUE', value)).status).toBe(200)
    expect((await reveal(agent, { names: ['VALUE'] })).body.VALUE).toBe(value)
  })

  test.each([
    ['64 KiB and one byte', 'x'.repeat(64 * KIB + 1), /^value: /],
    ['64 KiB of emoji and one more', '😀'.repeat(16 * KIB + 1), /^value: must be at most 65536 bytes/],
    ['a NUL', 'a\0b', /^value: .*NUL/],
    ['an unpaired surrogate', 'a\ud800', /^value: .*surrogate/],
    ['a number', 5, /^value: must be a string/],
    ['null', null, /^value: /],
    ['undefined', undefined, /^value: is required/],
  ])('of %s is refused', async (_, value, says) => {
    expectFailure(await set(agent, 'VALUE', value), 'invalid_input', says)
  })
})

describe('all secrets of an agent', () => {
  const says = /^An agent can have at most 1000 secrets, 16 MiB in total\. Delete one first\.$/

  test('are limited to 16 MiB in total, also for concurrent requests', async () => {
    const agent = await createTestAgent(service, owner, 'Bytes')
    const big = 'x'.repeat(64 * KIB)
    const sealed = new Uint8Array(64 * KIB)
    const stored = Array.from({ length: 240 }, (_, n) => ({
      agentId: agent.id,
      name: `N_${n}`,
      sealed,
      setByKind: 'member' as const,
    }))
    await service.db.prisma.secret.createMany({ data: stored })
    const sets = await Promise.all(Array.from({ length: 18 }, (_, n) => set(agent, `BIG_${n}`, big)))
    expect(sets.filter(({ status }) => status === 200)).toHaveLength(15)
    const refused = sets.findIndex(({ status }) => status !== 200)
    expectFailure(sets[refused]!, 'conflict', says)
    const kept = sets.findIndex(({ status }) => status === 200)
    expect((await set(agent, `BIG_${kept}`, big.replaceAll('x', 'y'))).status).toBe(200)
    expect((await agent.api('DELETE', `${secretsOf(agent)}/BIG_${kept}`)).status).toBe(204)
    expect((await set(agent, `BIG_${refused}`, big)).status).toBe(200)
    expect((await agent.api('GET', secretsOf(agent))).body).toHaveLength(255)
  })

  test('are limited to 1,000', async () => {
    const agent = await createTestAgent(service, owner, 'Many')
    const many = Array.from({ length: 999 }, (_, n) => ({
      agentId: agent.id,
      name: `N_${n}`,
      sealed: Uint8Array.of(1),
      setByKind: 'member' as const,
    }))
    await service.db.prisma.secret.createMany({ data: many })
    expect((await set(agent, 'LAST', 'v')).status).toBe(200)
    expectFailure(await set(agent, 'ONE_MORE', 'v'), 'conflict', says)
    expect((await set(agent, 'LAST', 'w')).status).toBe(200)
  })
})

describe('a secret name', () => {
  test.each(['a', 'A-Z_0.9', '...', '-', '__proto__', 'constructor', 'x'.repeat(128)])(
    '%s is accepted',
    async (name) => {
      const agent = await createTestAgent(service, owner, 'Names')
      expect((await set(agent, name, 'v')).status).toBe(200)
      expect((await reveal(agent, { names: [name] })).text).toBe(
        JSON.stringify(Object.fromEntries([[name, 'v']])),
      )
    },
  )

  test.each(['x'.repeat(129), 'a%20b', 'a%2Fb', '%C3%A9', 'a:b', 'a%00', '%F0%9F%98%80'])(
    '%s is refused',
    async (name) => {
      const agent = await createTestAgent(service, owner, 'Names')
      expectFailure(await set(agent, name, 'v'), 'invalid_input', /^name: must be 1 to 128 letters, digits/)
    },
  )

  test('list of more than 200 names to reveal is refused', async () => {
    const agent = await createTestAgent(service, owner, 'Many')
    const names = Array.from({ length: 201 }, (_, n) => `N${n}`)
    expect((await reveal(agent, { names: names.slice(1) })).status).toBe(200)
    expectFailure(await reveal(agent, { names }), 'invalid_input', /^names: must contain at most 200 names/)
  })
})

test("only the agent's own token can reveal secrets", async () => {
  const agent = await createTestAgent(service, owner, 'Own')
  const peer = await createTestAgent(service, owner, 'Peer')
  await set(agent, 'KEY', 'v')
  for (const api of [owner.api, peer.api])
    expectFailure(await api('POST', `${secretsOf(agent)}/reveal`, {}), 'forbidden')
})

describe('stored secrets', () => {
  test('appear in plain text in no table and no log', async () => {
    const agent = await createTestAgent(service, owner, 'Rest')
    const value = 'correct-horse-battery-staple-4711'
    await set(agent, 'PASS', value)
    await agent.api('POST', `${secretsOf(agent)}/reveal`, {}, { 'Idempotency-Key': 'reveal' })
    expectFailure(await set(agent, 'PASS', `${value}\0`), 'invalid_input')
    const dumped = await dump(service.db)
    expect(dumped).toContain('PASS')
    expect(holds(dumped, value)).toBe(false)
    expect(log.text()).toContain('request')
    expect(holds(log.text(), value)).toBe(false)
  })

  test('have different ciphertexts for equal values', async () => {
    const agent = await createTestAgent(service, owner, 'Twice')
    await set(agent, 'ONE', 'same')
    await set(agent, 'TWO', 'same')
    const rows = await service.db.prisma.secret.findMany({ where: { agentId: agent.id } })
    expect(Buffer.from(rows[0]!.sealed).equals(Buffer.from(rows[1]!.sealed))).toBe(false)
  })

  test.each(['name', 'agent', 'workspace'])(
    'cannot be decrypted after they were moved to another %s',
    async (where) => {
      const agent = await createTestAgent(service, owner, 'From')
      const tenant = where === 'workspace' ? await service.workspace() : owner
      const target = where === 'name' ? agent : await createTestAgent(service, tenant, 'To')
      const name = where === 'name' ? 'OTHER' : 'KEY'
      await set(agent, 'KEY', 'the-value-that-stays')
      await set(target, name, 'another')
      const { sealed } = await service.db.prisma.secret.findUniqueOrThrow({
        where: { agentId_name: { agentId: agent.id, name: 'KEY' } },
      })
      await service.db.prisma.secret.update({
        where: { agentId_name: { agentId: target.id, name } },
        data: { sealed },
      })
      const answer = await reveal(target, { names: [name] })
      expectFailure(answer, 'internal', /^Something went wrong on our side\.$/)
      expect((await reveal(agent, { names: ['KEY'] })).body.KEY).toBe('the-value-that-stays')
    },
  )

  test('cannot be decrypted after a byte was changed', async () => {
    const agent = await createTestAgent(service, owner, 'Flip')
    await set(agent, 'KEY', 'v')
    await service.db.pool.query(
      'update secret set sealed = set_byte(sealed, length(sealed) - 1, 255 - get_byte(sealed, length(sealed) - 1)) where agent_id = $1',
      [agent.id],
    )
    expectFailure(await reveal(agent), 'internal')
  })
})

test('no secret is revealed when its audit entry cannot be written', async () => {
  const agent = await createTestAgent(service, owner, 'Unaudited')
  await set(agent, 'ONE', 'uno-value')
  await service.db.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no audit'; end $$;
    create trigger refuse before insert on audit_entry for each row execute function refuse()`)
  const refused = await reveal(agent).finally(() =>
    service.db.pool.query('drop trigger refuse on audit_entry; drop function refuse'),
  )
  expectFailure(refused, 'internal')
  expect((await reveal(agent)).body).toEqual({ ONE: 'uno-value' })
})

test('the audit log records who revealed which secrets and when, without their values', async () => {
  const agent = await createTestAgent(service, owner, 'Audited')
  await set(agent, 'ONE', 'uno-value')
  await set(agent, 'TWO', 'dos-value')
  await reveal(agent, { names: ['TWO', 'MISSING'] })
  await reveal(agent)
  const tokens = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
  const entries = await service.db.prisma.auditEntry.findMany({
    where: { agentId: agent.id, action: { in: ['token.create', 'secret.reveal'] } },
    orderBy: { createdAt: 'asc' },
  })
  const by = {
    workspaceId: owner.id,
    actorKind: 'agent',
    actorId: agent.id,
    tokenId: tokens[0].id,
    action: 'secret.reveal',
  }
  expect(entries).toMatchObject([
    {
      workspaceId: owner.id,
      actorKind: 'member',
      actorId: owner.member,
      action: 'token.create',
      detail: { token: tokens[0].id },
    },
    { ...by, detail: { names: ['TWO'] }, createdAt: expect.any(Date) },
    { ...by, detail: { names: ['ONE', 'TWO'] } },
  ])
  expect(JSON.stringify(entries)).not.toMatch(/-value/)
})
