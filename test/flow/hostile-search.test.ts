import { expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Texts for which PostgreSQL's parser takes quadratic time: 100 KB of each keep it busy for minutes. */
const HOSTILE = ['a_', '~/', '<!--', 'a-b.c-', 'e-e-1-']

const service = await startService()
const open = async (name: string): Promise<TestAgent> => {
  const agent = await createTestAgent(service, await service.workspace(name), name)
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const [target, other] = [await open('Target'), await open('Other')]

const mail = (agent: TestAgent, text: string) =>
  post(service, { from: 'eve@example.com', to: agent.address, subject: 'hello', text })
const search = async (agent: TestAgent, q: string): Promise<number> => {
  const { status, body } = await agent.api('GET', `/agents/${agent.id}/messages?q=${encodeURIComponent(q)}`)
  expect(status).toBe(200)
  return body.items.length
}

test('mails that are hard to split into words keep nobody from finding others', async () => {
  for (const text of HOSTILE) await mail(target, `${text.repeat(100_000 / text.length)} bait`)
  expect(await search(target, 'hello')).toBe(HOSTILE.length)
  await mail(other, 'a needle')
  await until(async () => (await service.db.prisma.unindexedMessage.count()) === 0)
  expect(await search(other, 'needle')).toBe(1)
  expect(await search(target, 'hello')).toBe(HOSTILE.length)
  for (const text of HOSTILE) await search(target, text.repeat(500 / text.length).slice(0, 250))
})
