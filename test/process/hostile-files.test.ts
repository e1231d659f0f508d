import { beforeAll, expect, test } from 'vitest'
import { docx, drawn, pdf, word } from '../support/documents.ts'
import { HOSTILE } from '../support/hostile-files.ts'
import { receive } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})

const open = async (): Promise<TestAgent> => {
  const owner = await service.workspace()
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const arrive = async (agent: TestAgent, filename: string, content: Buffer | string): Promise<string> => {
  const letter = { from: 'ann@example.com', to: agent.address, subject: filename, text: 'See.' }
  return (await receive(service, agent, { ...letter, attachments: [{ filename, content }] })).id
}

const read = (agent: TestAgent, id: string) =>
  agent.api('GET', `/agents/${agent.id}/messages/${id}/attachments/0/text`)

/** Some that take seconds. Those of one workspace are read one after another. */
const SLOW = ['a bomb in a DOCX', 'millions of empty cells', '10,000 pages']

test('while hostile files are read, the service answers, receives, and reads the files of others', async () => {
  const [victim, other] = [await open(), await open()]
  const shapes = HOSTILE.filter(([name]) => SLOW.includes(name))
  expect(shapes.map(([name]) => name).sort()).toEqual([...SLOW].sort())
  const ids = await Promise.all(shapes.map(([, file, make]) => arrive(victim, file, make())))
  let isOver = false
  const hostile = Promise.all(ids.map((id) => read(victim, id))).finally(() => {
    isOver = true
  })
  for (let n = 0; n < 3 || !isOver; n++) {
    const healthz = await fetch(`${service.http}/healthz`, { signal: AbortSignal.timeout(5_000) })
    expect(healthz.status).toBe(200)
    if (n >= 3) continue
    const content = n === 0 ? pdf([drawn([72, 700, 'hello'])]) : docx(word('hello'))
    const id = await arrive(other, n === 0 ? 'a.pdf' : 'a.docx', content)
    expect((await read(other, id)).body.text).toBe('hello')
  }
  for (const { status, body } of await hostile) {
    expect([200, 400]).toContain(status)
    if (status === 400)
      expect(body.error).toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/^attachment: /),
      })
  }
})
