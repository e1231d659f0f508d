import { beforeAll, describe, expect, test } from 'vitest'
import type { SentSms } from '../../src/demo/sms/stand-in.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/** Members answer questions, and decide on messages that wait, in Telegram and by SMS. */

const PHONE = '+15551230001'
const OURS = '+15005550109'

const twilio = await openTwilio()
const { telegram, service, owner, agent, bot, ann, messages } = await arrangeTelegram({
  environment: { ...twilio.environment, RATE_LIMIT: '100000' },
})
const path = `/agents/${agent.id}/questions`
const mo = telegram.world.person('Mo')

const identify = (channel: 'sms' | 'telegram', value: string, memberId = owner.member) =>
  service.db.prisma.memberIdentity.create({ data: { memberId, channel, value } })

beforeAll(async () => {
  await giveNumber(service, twilio, agent, OURS)
  await agent.api('PUT', `/agents/${agent.id}/access/sms`, { admit: 'anyone', senders: [] })
  // A bot can write only to those who have written to it.
  for (const person of [mo, ann]) await telegram.write(bot, person, 'hello')
  await identify('telegram', String(mo.id))
  await identify('sms', PHONE)
})

const ask = async (body: object = {}) => (await agent.api('POST', path, { text: 'Refund?', ...body })).body
const read = async (id: string) => (await agent.api('GET', `${path}/${id}`)).body
/** The event of the answer to a question. */
const eventOf = async (id: string) => {
  const { items } = (await agent.api('GET', `/agents/${agent.id}/events?after=0&types=question.answered`))
    .body
  return items.find((one: { messageId: string }) => one.messageId === id)
}
const telegramAbout = async (words: string) =>
  (await until(() => telegram.sent.find(({ message }) => message.text?.includes(words)))).message
const smsAbout = (words: string) =>
  until((): SentSms | undefined => twilio.sent.find(({ body }) => body.includes(words)))
const codeIn = (text: string) => /reply: ([A-Z2-9]{6})/.exec(text)![1]!
const sms = async (from: string, body: string) => (await twilio.text(from, OURS, body)).text()
const smsStored = async () =>
  (await agent.api('GET', `/agents/${agent.id}/messages?channel=sms&limit=100`)).body.items.length

describe('in Telegram', () => {
  test('a tap of the member answers, and nobody else’s does', async () => {
    const { id } = await ask({ text: 'Refund Ann?', options: ['Yes', 'No'] })
    const message = await telegramAbout('Refund Ann?')
    expect(message.chat.id).toBe(mo.id)
    expect(await telegram.tap(message, 'Yes', ann)).toMatch(/only by the member who was asked/)
    expect((await read(id)).status).toBe('open')
    expect(await telegram.tap(message, 'Yes', mo)).toMatch(/Your answer: “Yes”/)
    expect(await read(id)).toMatchObject({ answer: { text: 'Yes', by: owner.email, through: 'telegram' } })
    expect(await eventOf(id)).toMatchObject({ channel: 'telegram', mayInstruct: true })
    expect(await telegram.tap(message, 'No', mo)).toMatch(/cannot be answered any more: .* answered “Yes”/)
  })

  test('a reply in words answers, and is no message to the agent', async () => {
    const { id } = await ask({ text: 'Which street?' })
    const original = await telegramAbout('Which street?')
    const before = (await messages()).length
    const reply_to_message = {
      message_id: original.message_id,
      from: bot.user,
      chat: original.chat,
      text: original.text,
    }
    await telegram.write(bot, ann, { text: 'Evil Road', reply_to_message })
    expect((await read(id)).status).toBe('open')
    expect(await messages()).toHaveLength(before + 1)
    await telegram.write(bot, mo, { text: 'Main Street', reply_to_message })
    expect(await read(id)).toMatchObject({ answer: { text: 'Main Street', through: 'telegram' } })
    expect(await messages()).toHaveLength(before + 1)
    await telegramAbout('Your answer: “Main Street”')
  })

  test('shows no links that the agent’s words may repeat, and data of others does nothing', async () => {
    const { id } = await ask({
      text: 'Open https://evil.example/x and www.evil.example?',
      options: ['Yes', 'No'],
    })
    const message = await telegramAbout('Open https[:]//evil[.]example/x')
    expect(message.text).not.toMatch(/evil\.example/)
    for (let forged = 0; forged < 200; forged++)
      await telegram.tap(message, 'Yes', mo, `${'ABCDEFGHJK'.slice(forged % 4, (forged % 4) + 6)} 1`)
    expect((await read(id)).status).toBe('open')
  })

  test('a message that waits is approved and rejected', async () => {
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
    await owner.api('PATCH', '/members/me', { approvalMails: true })
    const send = async (text: string) =>
      (
        await agent.api('POST', `/agents/${agent.id}/messages`, {
          channel: 'email',
          to: ['x@example.com'],
          subject: 'Hi',
          text,
        })
      ).body
    const [first, second] = [await send('Shall it go?'), await send('And this one?')]
    const state = async ({ id }: { id: string }) =>
      (await agent.api('GET', `/agents/${agent.id}/messages/${id}`)).body
    const shown = await telegramAbout('Shall it go?')
    expect(shown.text).toContain('To: x@example')
    expect(await telegram.tap(shown, 'Approve', ann)).toMatch(/only by the member/)
    expect(await telegram.tap(shown, 'Approve', mo)).toMatch(/Approved/)
    expect((await state(first)).hold.by).toBe(owner.email)
    expect(await telegram.tap(shown, 'Reject', mo)).toMatch(/no longer waits/)
    const { body } = await smsAbout('And this one?')
    expect(await sms(PHONE, `${codeIn(body)} 2`)).toContain('<Message>Rejected')
    expect(await state(second)).toMatchObject({ status: 'failed', error: `Rejected by ${owner.email}` })
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'none' })
  })
})

describe('by SMS', () => {
  test('the code with a number or an option answers, once', async () => {
    const { id } = await ask({ text: 'Pay the bill?', options: ['Yes', 'No'] })
    const { to, from, body } = await smsAbout('Pay the bill?')
    expect({ to, from }).toEqual({ to: PHONE, from: OURS })
    const code = codeIn(body)
    const before = await smsStored()
    expect(await sms(PHONE, `${code} 7`)).toContain('Your answer must be one of: Yes, No')
    expect(await sms(PHONE, `${code.toLowerCase()} 2`)).toContain('Your answer: “No”')
    expect(await read(id)).toMatchObject({ answer: { text: 'No', through: 'sms' } })
    // The number of a text can be forged.
    expect(await eventOf(id)).toMatchObject({ channel: 'sms', mayInstruct: false })
    expect(await sms(PHONE, `${code} 1`)).toContain('cannot be answered any more')
    expect(await smsStored()).toBe(before)
  })

  test('a forged number without the code, and the code from another number, answer nothing', async () => {
    const { id } = await ask({ text: 'Open the door?', options: ['Yes', 'No'] })
    const code = codeIn((await smsAbout('Open the door?')).body)
    await sms(PHONE, '1')
    await sms(PHONE, 'Yes')
    await sms('+15559990000', `${code} 1`)
    const guess = (index: number) => `AAA${['BCD', 'EFG', 'HJK', 'MNP'][index % 4]}`
    for (let forged = 0; forged < 20; forged++) await sms(PHONE, `${guess(forged)} 1`)
    expect((await read(id)).status).toBe('open')
    await service.db.prisma.memberIdentity.deleteMany({ where: { channel: 'sms', value: PHONE } })
    await sms(PHONE, `${code} 1`)
    expect((await read(id)).status).toBe('open')
    await identify('sms', PHONE)
    await sms(PHONE, `${code} 1`)
    expect((await read(id)).answer).toMatchObject({ text: 'Yes', through: 'sms' })
  })
})
