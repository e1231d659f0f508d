import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { endSubscriptions } from '../../src/webhook/end-subscriptions.ts'
import { openTestDatabase } from '../support/database.ts'
import { waitsForLock } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase()

test('a subscription that is created while its token is being deleted waits, and then is refused', async () => {
  const { id: agentId, workspaceId } = await createWebhookBench(db).agent()
  const { id: tokenId } = await db.prisma.token.create({
    data: { workspaceId, agentId, hash: randomBytes(32) },
  })
  const subscribe = () =>
    db.pool.query(
      `insert into webhook (id, workspace_id, agent_id, url, secret, position, kind, subscription, token_id, expires_at)
       values ($1, $2, $3, 'https://example.com/', '', 0, 'mcp', 'subscription', $4, now() + interval '1 hour')`,
      [randomUUID(), workspaceId, agentId, tokenId],
    )
  const subscribing = await db.prisma.$transaction(
    async (tx) => {
      await endSubscriptions(tx, { tokenIds: [tokenId] })
      const outcome = subscribe().then(
        () => 'subscribed',
        ({ code }) => code,
      )
      await until(() => waitsForLock(db, '^insert into webhook '))
      await tx.token.delete({ where: { id: tokenId } })
      return { outcome }
    },
    { timeout: 80_000 },
  )
  expect(await subscribing.outcome).toBe('23503') // the token does not exist
  expect(await db.prisma.webhook.count({ where: { agentId } })).toBe(0)
})
