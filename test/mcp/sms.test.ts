import { afterAll, expect, test } from 'vitest'
import { openMcp } from '../support/mcp.ts'
import { ANN, OURS, useSms } from '../support/sms-world.ts'

const world = useSms()
const closers: (() => Promise<void>)[] = []
afterAll(() => Promise.all(closers.map((close) => close())))

test('a message to somebody who texted STOP is refused, with the next step, until they text START', async () => {
  const mcp = await openMcp(world.service.http, world.agent.token)
  closers.push(mcp.close)
  await world.text('a question')
  const question = await world.newest()
  await world.text('STOP')
  const before = { requests: world.twilio.requests.length, messages: (await world.messages()).length }
  const start = (key?: string) =>
    mcp.call('send_message', { channel: 'sms', to: [ANN], text: 'hello?', ...(key ? { key } : {}) })
  const reply = () => mcp.call('reply', { messageId: question.id, text: 'an answer' })
  for (const { isError, result } of [await start(), await start('once'), await reply()]) {
    expect(isError).toBe(true)
    expect(result.error).toEqual({
      code: 'conflict',
      message: `${ANN} has opted out of messages from ${OURS} (STOP), and can opt in again by texting START to it.`,
      next: 'Do not retry until this has changed. If it matters, tell a member of the workspace.',
    })
  }
  expect({ requests: world.twilio.requests.length, messages: (await world.messages()).length }).toEqual(
    before,
  )
  // Others can still be written to.
  const other = await mcp.call('send_message', { channel: 'sms', to: ['+15559990000'], text: 'hi' })
  expect(other.result).toMatchObject({ status: 'sending' })
  await world.text('START')
  for (const { result } of [await start('once'), await reply()])
    expect(result).toMatchObject({ status: 'sending', to: [ANN] })
})
