import { expect } from 'vitest'
import { newest } from './letter.ts'
import type { Call, startModel } from './model.ts'
import type { SharedService, Tenant, TestAgent } from './service.ts'
import { createTestAgent } from './service.ts'
import { until } from './until.ts'

const PRICE = 'price,80 EUR'
const CODE = '482913'

/** What a stand-in model does in an example: it reads a mail and its file, takes a code, asks a member, and answers. */
export const plan = (prompt: string): Call[] => {
  const messageId = /message ([0-9a-f-]{36})/.exec(prompt)?.[1]
  return [
    { name: 'read_message', arguments: { messageId } },
    { name: 'get_attachment', arguments: { messageId, attachmentId: 0 } },
    { name: 'wait_for_code', arguments: { seconds: 20 } },
    { name: 'ask_member', arguments: { text: 'May I refund it?', options: ['Yes', 'No'] } },
    { name: 'reply', arguments: { messageId, text: 'It is on its way.', key: messageId } },
  ]
}

/** Sends an example what the plan needs, answers its question, and expects each step to have reached the model. */
export const expectAllTasks = async (
  { service, owner, agent }: { service: SharedService; owner: Tenant; agent: TestAgent },
  { asked }: Pick<Awaited<ReturnType<typeof startModel>>, 'asked'>,
): Promise<void> => {
  const sender = await createTestAgent(service, owner) // of the workspace, and so proven: from nobody else is a code taken
  const letter = {
    ...{
      channel: 'email',
      to: [agent.address],
      subject: 'Order',
      text: `Where is it? Your login code: ${CODE}`,
    },
    attachments: [{ name: 'order.csv', type: 'text/csv', content: Buffer.from(PRICE).toString('base64') }],
  }
  expect((await sender.api('POST', `/agents/${sender.id}/messages`, letter)).status).toBe(201)
  const questions = async () =>
    (await owner.api('GET', `/agents/${agent.id}/questions?status=open`)).body.items
  await until(async () => (await questions()).length > 0)
  const [{ id }] = await questions()
  await owner.api('POST', `/agents/${agent.id}/questions/${id}/answer`, { text: 'Yes' })
  await until(async () => (await newest(agent))[0]?.direction === 'outbound')
  expect((await newest(agent))[0]).toMatchObject({ to: [sender.address], text: 'It is on its way.' })
  await until(() => asked.length > 5)
  // biome-ignore lint/suspicious/noExplicitAny: of the chat completions API
  const results = asked.at(-1).messages.filter(({ role }: any) => role === 'tool')
  const expected = ['Where is it?', PRICE, CODE, 'Yes', '']
  expect(results).toHaveLength(expected.length)
  for (const [n, text] of expected.entries()) expect(JSON.stringify(results[n])).toContain(text)
}
