import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ListenerUse } from '../../src/agent/listening/connection.ts'
import { CurrentListeners } from '../../src/agent/listening/current-listeners.ts'
import { openTestDatabase } from '../support/database.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase()
const bench = createWebhookBench(db)
const { id: agentId, workspaceId } = await bench.agent()
const other = (await bench.agent(workspaceId)).id

const addToken = async (holder = agentId) =>
  (await db.prisma.token.create({ data: { workspaceId, agentId: holder, hash: randomBytes(32) } })).id
const connect = async (tokenId: string, holder = agentId) => {
  const data = { agentId: holder, tokenId, client: 'c', machine: 'm', startAfter: 0n }
  return (await db.prisma.connection.create({ data: { id: randomUUID(), ...data } })).id
}

test('of streams that are looked at again and again, each is found whose token is gone or client was replaced', async () => {
  const tokens = [await addToken(), await addToken(), await addToken(other)] as const
  const client = await connect(tokens[0])
  const uses: ListenerUse[] = [
    { agentId, tokenId: tokens[0], connectionId: client },
    { agentId, tokenId: tokens[1], connectionId: client }, // through the client of another token
    { agentId: other, tokenId: tokens[2], connectionId: await connect(tokens[2], other) },
    { agentId: null, tokenId: tokens[2], connectionId: null },
  ]
  const listeners = new CurrentListeners(db)
  const ended = async () => {
    const found = await listeners.readEnded(uses, false)
    return uses.map((use) => found.get(use) ?? null)
  }
  for (let looks = 0; looks < 3; looks++) expect(await ended()).toEqual([null, null, null, null])
  await db.prisma.token.delete({ where: { id: tokens[1] } })
  expect(await ended()).toEqual([null, 'revoked', null, null])
  await db.prisma.connection.updateMany({ where: { id: client }, data: { replacedAt: new Date() } })
  expect(await ended()).toEqual(['replaced', 'revoked', null, null])
  await db.prisma.token.delete({ where: { id: tokens[2] } })
  expect(await ended()).toEqual(['replaced', 'revoked', 'revoked', 'revoked'])
})

test('those of a connection of their own are not looked up while every notification is heard; others are', async () => {
  const [own, other] = [await addToken(), await addToken()]
  const connectionId = await connect(own)
  const uses: ListenerUse[] = [
    { agentId, tokenId: own, connectionId },
    { agentId, tokenId: other, connectionId: null },
  ]
  const listeners = new CurrentListeners(db)
  expect([...(await listeners.readEnded(uses, true)).values()]).toEqual([])
  expect(uses.map((use) => listeners.isOwn(use))).toEqual([true, false])
  await db.prisma.token.deleteMany({ where: { id: { in: [own, other] } } })
  expect([...(await listeners.readEnded(uses, true))]).toEqual([[uses[1], 'revoked']])
  expect((await listeners.readEnded(uses, false)).get(uses[0]!)).toBe('revoked')
})
