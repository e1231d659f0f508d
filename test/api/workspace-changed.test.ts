import { randomUUID } from 'node:crypto'
import { createClient } from 'graphql-sse'
import { expect, test } from 'vitest'
import {
  type ChangeKind,
  type ChangePosition,
  noteChange,
  pruneChanges,
  readChangePosition,
  readChanges,
} from '../../src/workspace/change/change-log.ts'
import { post } from '../support/letter.ts'
import { apiOf, createTestAgent, sharedService, type Tenant } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await sharedService()
const owner = await service.workspace()
const foreign = await service.workspace('Foreign')
const agent = await createTestAgent(service, owner)
const agentId = agent.id
const { prisma } = service.db

interface Result {
  position: string
  truncated: boolean
  changes: { kind: ChangeKind; agentId: string | null; ids: string[] }[]
}

const QUERY =
  'subscription ($after: String) { workspaceChanged(after: $after) { position truncated changes { kind agentId ids } } }'

/** Watches a workspace; resolves once the first result has come. */
const watch = async ({ token }: Pick<Tenant, 'token'>, after?: string) => {
  const client = createClient({
    url: `${service.http}/graphql`,
    headers: { Authorization: `Bearer ${token}` },
    retryAttempts: 0,
  })
  const results: Result[] = []
  const errors: { code?: string; message: string }[] = []
  client.subscribe<{ workspaceChanged: Result }>(
    { query: QUERY, variables: { after } },
    {
      next: ({ data, errors: failures }) => {
        if (data) results.push(data.workspaceChanged)
        for (const { message, extensions } of failures ?? []) errors.push({ message, ...extensions })
      },
      error: (failure) => errors.push({ message: String(failure) }),
      complete: () => undefined,
    },
  )
  await until(() => results.length > 0 || errors.length > 0)
  const changes = () => results.flatMap((one) => one.changes)
  return {
    results,
    errors,
    changes,
    position: () => results.at(-1)!.position,
    kinds: () => new Set(changes().map(({ kind }) => kind)),
    stop: () => client.dispose(),
  }
}

/** What is done, and what the members who watch are told of it. */
const ACTIONS: [ChangeKind, () => Promise<unknown>][] = [
  ['agent', () => owner.api('PATCH', `/agents/${agentId}`, { name: 'Renamed' })],
  ['access', () => owner.api('PUT', `/agents/${agentId}/access/email`, { admit: 'anyone', senders: [] })],
  ['secret', () => owner.api('PUT', `/agents/${agentId}/secrets/KEY`, { value: 'v' })],
  ['token', () => owner.api('POST', `/agents/${agentId}/tokens`, {})],
  ['webhook', () => owner.api('POST', `/agents/${agentId}/webhooks`, { url: 'http://127.0.0.1:9/hook' })],
  ['draft', () => owner.api('POST', `/agents/${agentId}/drafts`, { text: 'so far' })],
  ['listener', () => agent.api('PUT', `/agents/${agentId}/connection`, { client: 'c', machine: 'm' })],
  [
    'suppression',
    async () => {
      const entry = { channel: 'email', reason: 'bounce', detail: '550', createdAt: new Date() } as const
      await prisma.suppression.create({ data: { agentId, recipient: 'gone@example.com', ...entry } })
      await owner.api('DELETE', `/agents/${agentId}/suppressions/gone@example.com`)
    },
  ],
  ['invitation', () => owner.api('POST', '/members/invitations', { email: 'new@example.com' })],
  ['workspace', () => owner.api('PATCH', '/workspace', { keepRefusedDays: 3 })],
  ['domain', () => owner.api('POST', '/domains', { name: 'own.example' })],
  ['member', () => owner.api('PATCH', '/members/me', { name: 'Olga' })],
  ['message_arrived', () => post(service, { from: 'ann@example.com', to: agent.address, text: 'hello' })],
  [
    'message_changed',
    () =>
      owner.api('POST', `/agents/${agentId}/messages`, {
        channel: 'email',
        to: ['ann@example.com'],
        text: 'hi',
      }),
  ],
]

test.each(ACTIONS)('members who watch the workspace are told of: %s', async (kind, act) => {
  const watcher = await watch(owner)
  await act()
  await until(() => watcher.kinds().has(kind))
  watcher.stop()
})

test('the first use of a token of an agent is told, and no further one', async () => {
  const { body } = await owner.api('POST', `/agents/${agentId}/tokens`, {})
  const watcher = await watch(owner)
  const told = () => watcher.changes().filter(({ kind, ids }) => kind === 'token' && ids.includes(body.id))
  const use = () => apiOf(service.http, body.token)('GET', `/agents/${agentId}`)
  await use()
  await until(() => told().length > 0)
  await prisma.token.update({ where: { id: body.id }, data: { lastUsedAt: new Date(0) } })
  await until(async () => {
    await use()
    const { lastUsedAt } = await prisma.token.findUniqueOrThrow({ where: { id: body.id } })
    return lastUsedAt!.getTime() > 0
  })
  await owner.api('PATCH', '/workspace', { keepRefusedDays: 4 })
  await until(() => watcher.kinds().has('workspace'))
  expect(told()).toHaveLength(1)
  watcher.stop()
})

test('messages, drafts and webhooks are named; refused messages, sends, marks and deletions are told', async () => {
  const watcher = await watch(owner)
  const told = (kind: ChangeKind, id: string) =>
    until(() => watcher.changes().some((one) => one.kind === kind && one.ids.includes(id)))
  await owner.api('PUT', `/agents/${agentId}/access/email`, { admit: 'list', senders: [] })
  await post(service, { from: 'eve@example.com', to: agent.address, text: 'let me in' })
  const { body } = await owner.api('GET', '/messages?status=refused&limit=1')
  await told('message_arrived', body.items[0].id)
  await owner.api('PATCH', `/agents/${agentId}/messages/${body.items[0].id}`, { labels: ['x'] })
  await told('message_changed', body.items[0].id)
  const sent = await owner.api('POST', `/agents/${agentId}/messages`, {
    ...{ channel: 'email', to: ['ann@example.com'], text: 'hi' },
  })
  await told('message_changed', sent.body.id)
  await until(
    async () =>
      (await owner.api('GET', `/agents/${agentId}/messages/${sent.body.id}`)).body.status === 'sent',
  )
  // What came before is told before this; two changes of a message may come as one.
  const before = await owner.api('POST', `/agents/${agentId}/drafts`, { text: 'before' })
  await told('draft', before.body.id)
  const countOf = () => watcher.changes().filter(({ ids }) => ids.includes(sent.body.id)).length
  const beforeDeletion = countOf()
  await owner.api('DELETE', `/agents/${agentId}/messages/${sent.body.id}`)
  await until(() => countOf() > beforeDeletion)
  const hook = await owner.api('POST', `/agents/${agentId}/webhooks`, { url: 'http://127.0.0.1:9/other' })
  await owner.api('DELETE', `/agents/${agentId}/webhooks/${hook.body.id}`)
  await told('webhook', hook.body.id)
  const draft = await owner.api('POST', `/agents/${agentId}/drafts`, { text: 'x' })
  await told('draft', draft.body.id)
  await owner.api('DELETE', `/agents/${agentId}/drafts/${draft.body.id}`)
  await until(() => watcher.changes().filter(({ ids }) => ids.includes(draft.body.id)).length >= 2)
  const gone = await owner.api('POST', '/agents', { name: 'Short', icon: 'bot' })
  const ofAgent = () =>
    watcher.changes().filter((one) => one.kind === 'agent' && one.agentId === gone.body.id)
  await until(() => ofAgent().length > 0)
  const beforeEnd = ofAgent().length
  await owner.api('DELETE', `/agents/${gone.body.id}`)
  await until(() => ofAgent().length > beforeEnd)
  watcher.stop()
})

test('a webhook that begins to fail is told', async () => {
  await owner.api('PUT', `/agents/${agentId}/access/email`, { admit: 'anyone', senders: [] })
  const added = await owner.api('POST', `/agents/${agentId}/webhooks`, { url: 'http://127.0.0.1:9/fails' })
  const watcher = await watch(owner)
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'nobody listens' })
  await until(() =>
    watcher.changes().some(({ kind, ids }) => kind === 'webhook' && ids.includes(added.body.id)),
  )
  watcher.stop()
})

test('a subscription resumes after a position: what happened meanwhile comes once, in the first result', async () => {
  const first = await watch(owner)
  await owner.api('PATCH', '/workspace', { name: 'One' })
  await until(() => first.results.length === 2)
  first.stop()
  const made = await owner.api('POST', '/agents', { name: 'Meanwhile', icon: 'bot' })
  await owner.api('POST', `/agents/${made.body.id}/drafts`, { text: 'x' })
  const second = await watch(owner, first.position())
  expect(second.results[0]!.changes.map(({ kind, agentId: id }) => [kind, id])).toEqual([
    ['agent', made.body.id],
    ['draft', made.body.id],
  ])
  second.stop()
  const third = await watch(owner, second.position())
  expect(third.results).toMatchObject([{ truncated: false, changes: [] }])
  third.stop()
})

test('another workspace hears nothing of it, an agent may not watch, and a wrong position is refused', async () => {
  const [ours, theirs] = [await watch(owner), await watch(foreign)]
  await owner.api('PATCH', '/workspace', { name: 'Ours' })
  await until(() => ours.kinds().has('workspace'))
  await foreign.api('POST', '/agents', { name: 'Theirs', icon: 'bot' })
  await until(() => theirs.changes().length > 0)
  expect(theirs.kinds()).toEqual(new Set(['agent']))
  ours.stop()
  theirs.stop()
  expect((await watch(agent)).errors).toMatchObject([{ code: 'forbidden' }])
  const positions = ['x', '', [1, 'x'], [1, '5:4:'], [1, "1:2:'"], ['1', '1:2:'], [1, '1:2:', 3]]
  for (const one of positions.slice(0, 1))
    expect((await watch(owner, String(one))).errors).toMatchObject([{ code: 'invalid_input' }])
  for (const parts of positions.slice(2)) {
    const after = Buffer.from(JSON.stringify(parts)).toString('base64url')
    expect((await watch(owner, after)).errors).toMatchObject([{ code: 'invalid_input' }])
  }
})

const noteIn = (workspaceId: string, id: string) =>
  prisma.$transaction((tx) => noteChange(tx, { workspaceId, kind: 'draft', agentId: null, ids: [id] }))

const readAfter = async (workspaceId: string, position: ChangePosition) =>
  (await readChanges(service.db, [{ workspaceId, ...position }]))[0]!
const idsOf = ({ changes }: { changes: readonly { ids?: readonly string[] }[] }) =>
  changes.flatMap(({ ids = [] }) => ids)

test('a change that is committed after a later one is still read, and nothing twice', async () => {
  const workspaceId = randomUUID()
  const [slow, fast] = [randomUUID(), randomUUID()]
  const start = await readChangePosition(service.db)
  let commit: () => void = () => undefined
  const committed = new Promise<void>((resolve) => (commit = resolve))
  let noted: () => void = () => undefined
  const isNoted = new Promise<void>((resolve) => (noted = resolve))
  const writing = prisma.$transaction(async (tx) => {
    await noteChange(tx, { workspaceId, kind: 'draft', agentId: null, ids: [slow] })
    noted()
    await committed
  })
  await isNoted
  await noteIn(workspaceId, fast)
  const first = await readAfter(workspaceId, start)
  expect(idsOf(first)).toEqual([fast])
  commit()
  await writing
  const second = await readAfter(workspaceId, first.position)
  expect(idsOf(second)).toEqual([slow])
  expect(idsOf(await readAfter(workspaceId, second.position))).toEqual([])
})

test('with many writers at once, a reader gets every change exactly once', async () => {
  const workspaceId = randomUUID()
  const written = Array.from({ length: 200 }, () => randomUUID())
  let position = await readChangePosition(service.db)
  const read: string[] = []
  let writing = true
  const reading = (async () => {
    for (let last = false; !last; ) {
      last = !writing
      const next = await readAfter(workspaceId, position)
      read.push(...idsOf(next))
      position = next.position
    }
  })()
  const lanes = Array.from({ length: 6 }, (_, lane) => written.filter((_, n) => n % 6 === lane))
  await Promise.all(
    lanes.map(async (ids) => {
      for (const id of ids) await noteIn(workspaceId, id)
    }),
  )
  writing = false
  await reading
  expect(read.toSorted()).toEqual(written.toSorted())
})

test('whoever was away for more than a day, or missed too much, is told to read anew, once', async () => {
  const workspaceId = randomUUID()
  const start = await readChangePosition(service.db)
  await noteIn(workspaceId, randomUUID())
  const old = { ...start, at: start.at - 25 * 3_600_000 }
  const told = await readAfter(workspaceId, old)
  expect(told).toMatchObject({ truncated: true, changes: [] })
  expect(await readAfter(workspaceId, told.position)).toMatchObject({ truncated: false, changes: [] })
  expect(await readAfter(workspaceId, { ...start, snapshot: '1:9000000000000000:' })).toMatchObject({
    truncated: true,
  })
  await prisma.$executeRaw`
    insert into workspace_change (workspace_id, xid, kind, ids)
    select ${workspaceId}::uuid, pg_current_xact_id()::text::bigint, 'draft', '{}' from generate_series(1, 501)`
  expect(await readAfter(workspaceId, told.position)).toMatchObject({ truncated: true, changes: [] })
})

test('changes are deleted after a day', async () => {
  const workspaceId = randomUUID()
  await noteIn(workspaceId, randomUUID())
  const count = () => prisma.workspaceChange.count({ where: { workspaceId } })
  const hours = (n: number) => new Date(Date.now() + n * 3_600_000)
  await pruneChanges(service.db, hours(24))
  expect(await count()).toBe(1)
  await pruneChanges(service.db, hours(26))
  expect(await count()).toBe(0)
})

test('a revoked token ends the subscription with the reason', async () => {
  const { body } = await owner.api('POST', '/tokens', { name: 'short' })
  const watcher = await watch({ token: body.token })
  await owner.api('DELETE', `/tokens/${body.id}`)
  await until(() => watcher.errors.length > 0)
  expect(watcher.errors).toMatchObject([{ code: 'unauthorized' }])
})
