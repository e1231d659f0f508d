import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAgentReads, findAgentTogether } from '../../src/agent/index.ts'
import type { Page } from '../../src/core/cursor.ts'
import { within } from '../../src/db/transaction.ts'
import { createMessageLists, listMessages, type PresentedMessage } from '../../src/message/index.ts'
import type { Viewer } from '../../src/workspace/index.ts'
import { createTestAgent, startService, type Tenant } from '../support/service.ts'
import { statementsOf } from '../support/statements.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const { pool, prisma } = service.db
const [owner, other] = [await service.workspace(), await service.workspace()]
const deps = {
  ...service.db,
  agentReads: createAgentReads(service.db),
  lists: createMessageLists(service.db),
}

const memberOf = async ({ id: workspaceId }: Tenant): Promise<Viewer> => {
  const { id } = await prisma.member.findFirstOrThrow({ where: { workspaceId } })
  return { kind: 'member', id, workspaceId } as Viewer
}
const [member, stranger] = [await memberOf(owner), await memberOf(other)]

/** An agent with messages n0, n1, …, whose ids are returned newest first. */
const agentWith = async (tenant: Tenant, count: number) => {
  const agent = await createTestAgent(service, tenant)
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const message = { channel: 'email', to: ['ann@example.com'], text: `n${n}` }
    ids.unshift((await agent.api('POST', `/agents/${agent.id}/messages`, message)).body.id)
  }
  return { id: agent.id, ids }
}
const [first, second, theirs] = [
  await agentWith(owner, 3),
  await agentWith(owner, 2),
  await agentWith(other, 1),
]

const list = (viewer: Viewer, agentId: string, request: Parameters<typeof listMessages>[3] = { limit: 20 }) =>
  listMessages(deps, viewer, agentId, request)
const idsOf = ({ items }: Page<PresentedMessage>) => items.map(({ id }) => id)

test('lists of one workspace that are asked for at once share a statement, and each gets its own messages', async () => {
  const asked = [first, second, first, second]
  const { result, statements } = await statementsOf(pool, () =>
    Promise.all(asked.map(({ id }) => list(member, id))),
  )
  expect(result.map(idsOf)).toEqual(asked.map(({ ids }) => ids))
  expect(statements).toHaveLength(1)
})

test('lists with other filters, limits or cursors have statements of their own', async () => {
  const whole = await list(member, first.id, { limit: 2 })
  const requests = [
    { limit: 2 },
    { limit: 1 },
    { limit: 2, cursor: whole.nextCursor! },
    { limit: 2, filter: { direction: 'inbound' as const } },
  ]
  const { result, statements } = await statementsOf(pool, () =>
    Promise.all(requests.map((request) => list(member, first.id, request))),
  )
  const { ids } = first
  expect(result.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(0, 1), ids.slice(2), []])
  // The one that is empty also reads whether there is such an agent.
  expect(statements).toHaveLength(5)
})

test("another workspace's agent is not found, whoever lists its messages at the same time", async () => {
  const asked = await Promise.allSettled([
    list(stranger, theirs.id),
    list(member, theirs.id),
    list(member, first.id),
    list(stranger, first.id),
  ])
  const found = asked.map((one) => (one.status === 'fulfilled' ? idsOf(one.value) : one.reason.code))
  expect(found).toEqual([theirs.ids, 'not_found', first.ids, 'not_found'])
})

test('agents that are asked for at once share a statement, and only those of the own workspace are found', async () => {
  const asked: [Viewer, string][] = [
    [member, first.id],
    [stranger, first.id],
    [stranger, theirs.id],
    [member, first.id],
    [member, randomUUID()],
  ]
  const { result, statements } = await statementsOf(pool, () =>
    Promise.allSettled(asked.map(([viewer, id]) => findAgentTogether(deps, viewer, id))),
  )
  const found = result.map((one) => (one.status === 'fulfilled' ? one.value.id : one.reason.code))
  expect(found).toEqual([first.id, 'not_found', theirs.id, first.id, 'not_found'])
  expect(statements).toHaveLength(1)
})

test('pages of long messages are as long together as alone', async () => {
  await pool.query("update message set text = repeat('x', 1500000) where agent_id = any($1::uuid[])", [
    [first.id, second.id],
  ])
  const alone = [await list(member, first.id), await list(member, second.id)]
  expect(alone.map(({ items }) => items.length)).toEqual([2, 2])
  expect(alone[0]!.items.map(({ text }) => text.length)).toEqual([1_500_000, 1_500_000])
  const together = await Promise.all([list(member, first.id), list(member, second.id)])
  const shown = ({ items, nextCursor }: Page<PresentedMessage>) => ({
    texts: items.map(({ id, text }) => [id, text.length]),
    nextCursor,
  })
  expect(together.map(shown)).toEqual(alone.map(shown))
})

test('a list inside a transaction sees what it has changed', async () => {
  await prisma.$transaction(async (tx) => {
    await tx.message.deleteMany({ where: { agentId: theirs.id } })
    expect(
      (await listMessages({ ...deps, ...within(tx) }, stranger, theirs.id, { limit: 20 })).items,
    ).toEqual([])
    expect(idsOf(await list(stranger, theirs.id))).toEqual(theirs.ids)
  })
})
