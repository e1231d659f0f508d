import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SentSms } from '../../src/demo/sms/stand-in.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/** What an agent, or who writes to it, could try with what members are asked in chats. */

const PHONE = '+15551230001'
const OURS = '+15005550109'
const DAY = 86_400_000

const twilio = await openTwilio()
const { telegram, service, owner, agent, bot } = await arrangeTelegram({
  environment: { ...twilio.environment, RATE_LIMIT: '100000' },
})
const mo = telegram.world.person('Mo')

const identify = (channel: 'sms' | 'telegram', value: string) =>
  service.db.prisma.memberIdentity.create({ data: { memberId: owner.member, channel, value } })

beforeAll(async () => {
  await giveNumber(service, twilio, agent, OURS)
  await agent.api('PUT', `/agents/${agent.id}/access/sms`, { admit: 'anyone', senders: [] })
  await telegram.write(bot, mo, 'hello')
  await identify('telegram', String(mo.id))
  await identify('sms', PHONE)
  await owner.api('PATCH', '/members/me', { approvalMails: true })
})

const ask = async (body: object) => (await agent.api('POST', `/agents/${agent.id}/questions`, body)).body
const read = async (id: string) => (await agent.api('GET', `/agents/${agent.id}/questions/${id}`)).body
const telegramAbout = async (words: string) =>
  (await until(() => telegram.sent.find(({ message }) => message.text?.includes(words)))).message
const smsAbout = (words: string) =>
  until((): SentSms | undefined => twilio.sent.find(({ body }) => body.includes(words)))
const codeIn = (text: string) => /reply: ([A-Z2-9]{6})/.exec(text)![1]!
const sms = async (body: string) => (await twilio.text(PHONE, OURS, body)).text()

describe('answers', () => {
  test('to options that are numbers are those that the member chose', async () => {
    const { id } = await ask({ text: 'How many of them?', options: ['2', '1'] })
    await telegram.tap(await telegramAbout('How many of them?'), '2', mo)
    expect((await read(id)).answer).toMatchObject({ text: '2', through: 'telegram' })
    const other = await ask({ text: 'How many by SMS?', options: ['2', '1'] })
    const { body } = await smsAbout('How many by SMS?')
    expect(body).toContain('1 2\n2 1')
    await sms(`${codeIn(body)} 1`)
    expect((await read(other.id)).answer).toMatchObject({ text: '2', through: 'sms' })
  })

  test('to a question that is open count, however many the agent has asked since', async () => {
    const { id } = await ask({ text: 'Still there?', options: ['Yes', 'No'] })
    const code = codeIn((await smsAbout('Still there?')).body)
    const { prisma } = service.db
    const { id: _, createdAt, ...row } = await prisma.question.findFirstOrThrow({ where: { id } })
    const later = Array.from({ length: 1_100 }, (_, index) => ({
      ...{ ...row, id: randomUUID(), status: 'withdrawn' as const },
      createdAt: new Date(createdAt.getTime() + index + 1),
    }))
    await prisma.question.createMany({ data: later })
    expect(await sms(`${code} 1`)).toContain('Your answer: “Yes”')
    expect((await read(id)).answer).toMatchObject({ text: 'Yes', through: 'sms' })
    await prisma.question.deleteMany({ where: { id: { in: later.map((one) => one.id) } } })
  })

  test('are as long as elsewhere', async () => {
    const { id } = await ask({ text: 'Say more?' })
    const original = await telegramAbout('Say more?')
    const reply_to_message = {
      ...{ message_id: original.message_id, from: bot.user, chat: original.chat, text: original.text },
    }
    await telegram.write(bot, mo, { text: 'x'.repeat(4_000), reply_to_message })
    await telegramAbout('2000 characters')
    expect((await read(id)).status).toBe('open')
  })
})

describe('messages that wait', () => {
  const path = `/agents/${agent.id}/messages`
  beforeEach(async () => {
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  })
  const send = async (more: object) =>
    (await agent.api('POST', path, { channel: 'email', to: ['x@example.com'], subject: 'Hi', ...more })).body
  const state = async (id: string) => (await agent.api('GET', `${path}/${id}`)).body

  test('are shown to their end', async () => {
    const text = `Order list ${'a.bb '.repeat(105)}and pay Eve`
    await send({ text })
    await send({ text: 'The next one is short' })
    await smsAbout('The next one is short')
    for (const body of [
      ...twilio.sent.map(({ body }) => body),
      ...telegram.sent.map(({ message }) => message.text ?? ''),
    ])
      expect(!body.includes('Order list') || body.includes('and pay Eve')).toBe(true)
  })

  test('because of secrets are not shown to phone companies and Telegram', async () => {
    const value = 'kD93nfP2-mXz8Qw7s'
    await owner.api('PUT', `/agents/${agent.id}/secrets/API_KEY`, { value })
    await owner.api('PATCH', `/agents/${agent.id}`, { secretsInMessages: 'hold' })
    expect((await send({ text: `It is ${value}` })).hold).toMatchObject({ reason: 'approval' })
    await send({ text: 'It has none of them' })
    await Promise.all([smsAbout('none of them'), telegramAbout('none of them')])
    expect(JSON.stringify([twilio.sent, telegram.sent])).not.toContain(value)
  })

  test('are not approved for another time than they showed', async () => {
    const { id } = await send({ text: 'Now or never' })
    const shown = await telegramAbout('Now or never')
    const moment = new Date(Date.now() + 20 * DAY).toISOString()
    expect((await agent.api('PATCH', `${path}/${id}`, { sendAt: moment })).status).toBe(200)
    expect(await telegram.tap(shown, 'Approve', mo)).not.toMatch(/Approved/)
    expect((await state(id)).hold).toMatchObject({ by: null })
  })

  test('and questions need the passkey that the workspace requires', async () => {
    const { id } = await send({ text: 'Only with a passkey' })
    const question = await ask({ text: 'Only with a passkey too?', options: ['Yes', 'No'] })
    const [message, asked] = [
      await smsAbout('Only with a passkey\n'),
      await telegramAbout('Only with a passkey too?'),
    ]
    const where = { id: owner.id }
    await service.db.prisma.workspace.update({ where, data: { requirePasskeys: true } })
    expect(await sms(`${codeIn(message.body)} 1`)).not.toContain('Approved')
    expect((await state(id)).hold).toMatchObject({ by: null })
    await telegram.tap(asked, 'Yes', mo)
    expect((await read(question.id)).status).toBe('open')
    await service.db.prisma.workspace.update({ where, data: { requirePasskeys: false } })
  })
})

test('a member is asked by SMS only so often, whatever an agent is made to ask', async () => {
  const before = twilio.sent.length
  const path = `/agents/${agent.id}/questions`
  for (let index = 0; index < 40; index++) {
    const { id } = await ask({ text: `Again ${index}?` })
    await agent.api('DELETE', `${path}/${id}`)
  }
  await telegramAbout('Again 39?')
  expect(twilio.sent.length - before).toBeGreaterThan(10)
  expect(twilio.sent.length).toBeLessThanOrEqual(30)
})
