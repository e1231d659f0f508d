import { expect, test } from 'vitest'
import { type Answer, createTestAgent, startService } from '../support/service.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const agent = await createTestAgent(service, await service.workspace())
const path = `/agents/${agent.id}/messages`

interface Page {
  items: { id: string }[]
  nextCursor: string | null
}

test('a page of very long texts is shorter, and the next one goes on', async () => {
  for (let n = 0; n < 5; n++) await agent.api('POST', path, { channel: 'email', to: ['ann@example.com'], text: `n${n}` })
  await service.db.pool.query("update message set text = repeat('x', 3000000) where agent_id = $1", [agent.id])
  const page = (cursor: string) => agent.api<Page>('GET', `${path}?limit=5${cursor && `&cursor=${cursor}`}`)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const answer: Answer<Page> = await page(cursor)
    expect(answer.status).toBe(200)
    expect(answer.body.items).toHaveLength(1)
    seen.push(answer.body.items[0]!.id)
    cursor = answer.body.nextCursor
  }
  expect(new Set(seen).size).toBe(5)
})
