import { expect, test } from 'vitest'
import { createTestAgent, startService } from '../support/service.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const agent = await createTestAgent(service, await service.workspace())
const path = `/agents/${agent.id}/messages`

test('a page of very long texts is shorter, and the next one goes on', async () => {
  for (let n = 0; n < 5; n++) await agent.api('POST', path, { channel: 'email', to: ['ann@example.com'], text: `n${n}` })
  await service.db.pool.query("update message set text = repeat('x', 3000000) where agent_id = $1", [agent.id])
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await agent.api('GET', `${path}?limit=5${cursor && `&cursor=${cursor}`}`)
    expect(status).toBe(200)
    expect(body.items).toHaveLength(1)
    seen.push(body.items[0].id)
    cursor = body.nextCursor
  }
  expect(new Set(seen).size).toBe(5)
})
