import type { Chat } from '@grammyjs/types'
import { beforeAll, describe, expect, test } from 'vitest'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

const { telegram, agent, bot, ann, messages, newest, read } = await arrangeTelegram()

describe('in a group', () => {
  let group: Chat
  beforeAll(async () => {
    group = telegram.world.group('Plans')
  })

  test('the bot receives messages addressed to it, and its reply goes to the group as a reply', async () => {
    const before = (await messages()).length
    await telegram.write(bot, ann, 'just talking', group)
    const original = await telegram.write(bot, ann, '@Support_Test_Bot what do you think?', group)
    const message = await newest()
    expect(await messages()).toHaveLength(before + 1)
    expect(message).toMatchObject({
      counterpart: String(ann.id),
      to: ['@support_test_bot', String(group.id)],
    })
    const { status, body } = await agent.api('POST', `/agents/${agent.id}/messages`, {
      replyTo: message.id,
      text: 'Good.',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      to: [String(group.id)],
      counterpart: String(group.id),
      counterpartName: null,
    })
    await until(async () => (await read(body.id)).status === 'sent')
    expect(telegram.sent.at(-1)!.message).toMatchObject({
      chat: { id: group.id },
      text: 'Good.',
      reply_to_message: { message_id: original.message_id },
    })
    await telegram.write(bot, ann, { text: 'thanks', reply_to_message: telegram.sent.at(-1)!.message }, group)
    expect(await newest()).toMatchObject({ text: 'thanks', status: 'received' })
  })

  test('a reply in a topic stays in the topic', async () => {
    await telegram.write(
      bot,
      ann,
      { text: '/ask@support_test_bot', message_thread_id: 42, is_topic_message: true },
      group,
    )
    const message = await newest()
    expect(message.to).toEqual(['@support_test_bot', `${group.id}/42`])
    const { body } = await agent.api('POST', `/agents/${agent.id}/messages`, {
      replyTo: message.id,
      text: 'Here.',
    })
    await until(async () => (await read(body.id)).status === 'sent')
    expect(telegram.sent.at(-1)!.message).toMatchObject({ chat: { id: group.id }, message_thread_id: 42 })
  })

  test('a reply can be sent to one person in private', async () => {
    await telegram.write(bot, ann, 'and in private')
    await telegram.write(bot, ann, '@support_test_bot psst', group)
    const { body } = await agent.api('POST', `/agents/${agent.id}/messages`, {
      replyTo: (await newest()).id,
      to: [String(ann.id)],
      text: 'Between us.',
    })
    await until(async () => (await read(body.id)).status === 'sent')
    expect(telegram.sent.at(-1)!.message).toMatchObject({ chat: { id: ann.id }, text: 'Between us.' })
    expect(telegram.sent.at(-1)!.message).not.toHaveProperty('reply_to_message')
  })
})
