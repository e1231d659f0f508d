import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { listDeliveries } from '../../src/webhook/deliveries.ts'
import { listWebhooks, removeWebhook } from '../../src/webhook/webhook.ts'
import { openTestDatabase } from '../support/database.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase()
const bench = createWebhookBench(db)
const url = 'http://127.0.0.1:9/hook'

test('the secret of a new webhook is returned once and is not in the list', async () => {
  const viewer = await bench.agent()
  const { webhook, secret, created } = await bench.webhook(viewer, url)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(created).toBe(true)
  expect(webhook).toEqual({
    id: webhook.id,
    url,
    name: null,
    events: ['message.received'],
    headers: {},
    body: null,
    createdAt: new Date(bench.clock.now().getTime() - 3_600_000),
    pausedAt: null,
    error: null,
    attempts: 0,
    retryAt: null,
    lastDeliveredAt: null,
  })
  expect(await listWebhooks(bench.operations, viewer, viewer.id)).toEqual([webhook])
  const { rows } = await db.pool.query<{ row: string }>(
    'select w::text as row from webhook w where id = $1',
    [webhook.id],
  )
  expect(rows[0]?.row).not.toContain(Buffer.from(secret).toString('hex'))
})

test('adding the same URL again, in any spelling, returns the same webhook and secret', async () => {
  const viewer = await bench.agent()
  const first = await bench.webhook(viewer, 'http://localhost:80/hook')
  expect(await bench.webhook(viewer, 'HTTP://LOCALHOST/hook')).toEqual({ ...first, created: false })
  const [one, two] = await Promise.all([bench.webhook(viewer, url), bench.webhook(viewer, url)])
  expect(one!.secret).toBe(two!.secret)
  expect([one!.created, two!.created].sort()).toEqual([false, true])
})

test('a webhook receives only events from after it was added', async () => {
  const viewer = await bench.agent()
  await bench.store(viewer.id, 3)
  const { webhook } = await bench.webhook(viewer, url)
  await bench.store(viewer.id, 1)
  const { items } = await listDeliveries(
    db,
    viewer,
    { agentId: viewer.id, webhookId: webhook.id },
    { limit: 10 },
  )
  expect(items).toMatchObject([{ eventId: expect.stringMatching(/_4$/), status: 'pending', attempts: [] }])
})

test('an agent has at most 10 webhooks', async () => {
  const viewer = await bench.agent()
  const added = await Promise.allSettled(
    Array.from({ length: 12 }, (_, i) => bench.webhook(viewer, `${url}/${i}`)),
  )
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  expect(added.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
  const [first] = await listWebhooks(bench.operations, viewer, viewer.id)
  expect(await bench.webhook(viewer, first!.url)).toMatchObject({ created: false })
})

test('a plan’s limit counts the webhooks of all agents of the workspace, even when added concurrently', async () => {
  const viewer = await bench.agent()
  const key = randomUUID()
  await db.prisma.plan.create({ data: { key, webhooks: 3 } })
  await db.prisma.workspace.update({ where: { id: viewer.workspaceId }, data: { planKey: key } })
  const others = await Promise.all(Array.from({ length: 5 }, () => bench.agent(viewer.workspaceId)))
  const added = await Promise.allSettled(others.map((other) => bench.webhook(other, url)))
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(added.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'plan_limit' } })
})

test('removing a webhook deletes its deliveries, and removing it again is not_found', async () => {
  const viewer = await bench.agent()
  const { webhook } = await bench.webhook(viewer, url)
  await bench.store(viewer.id, 2)
  await removeWebhook(bench.operations, viewer, viewer.id, webhook.id)
  expect(await db.prisma.job.count({ where: { lane: webhook.id } })).toBe(0)
  await expect(removeWebhook(bench.operations, viewer, viewer.id, webhook.id)).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('webhooks of another agent or another workspace cannot be accessed', async () => {
  const viewer = await bench.agent()
  const sibling = await bench.agent(viewer.workspaceId)
  const stranger = await bench.agent()
  const { webhook } = await bench.webhook(viewer, url)
  for (const [who, code] of [
    [sibling, 'forbidden'],
    [stranger, 'not_found'],
  ] as const) {
    await expect(listWebhooks(bench.operations, who, viewer.id)).rejects.toMatchObject({ code })
    await expect(removeWebhook(bench.operations, who, viewer.id, webhook.id)).rejects.toMatchObject({ code })
    await expect(
      listDeliveries(db, who, { agentId: viewer.id, webhookId: webhook.id }, { limit: 1 }),
    ).rejects.toMatchObject({ code })
    await expect(removeWebhook(bench.operations, who, who.id, webhook.id)).rejects.toMatchObject({
      code: 'not_found',
    })
  }
  expect(await listWebhooks(bench.operations, viewer, viewer.id)).toHaveLength(1)
})

test('deliveries are listed newest first, in pages', async () => {
  const viewer = await bench.agent()
  const { webhook } = await bench.webhook(viewer, url)
  await bench.store(viewer.id, 5)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await listDeliveries(
      db,
      viewer,
      { agentId: viewer.id, webhookId: webhook.id },
      { limit: 2, cursor },
    )
    seen.push(...page.items.map(({ eventId }) => eventId.split('_')[2]!))
    cursor = page.nextCursor
  } while (cursor)
  expect(seen).toEqual(['5', '4', '3', '2', '1'])
  for (const bad of ['x', 'WyJhIl0', 'WzEuNV0']) {
    await expect(
      listDeliveries(db, viewer, { agentId: viewer.id, webhookId: webhook.id }, { limit: 2, cursor: bad }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
    })
  }
})
