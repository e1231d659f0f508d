import { beforeAll, describe, expect, test } from 'vitest'
import { visit } from '../support/page.ts'
import { createTestAgent } from '../support/service.ts'
import { arrangeTelegram, connectBot } from '../support/telegram.ts'
import { until } from '../support/until.ts'

const { telegram, service, owner, agent, bot, open, another, messages, newest } = await arrangeTelegram()

const startOf = (url: string): { bot: string; text: string } => {
  const { hostname, pathname, searchParams } = new URL(url)
  expect(hostname).toBe('t.me')
  return { bot: pathname.slice(1), text: `/start ${searchParams.get('start')}` }
}
const identities = async (by = owner) => (await by.api('GET', '/members/me/identities')).body
const ask = async (by = owner) => (await by.api('POST', '/members/me/identities/telegram', {})).body
const textsTo = (from: { id: number }) =>
  telegram.sent.filter(({ message }) => message.chat.id === from.id).map(({ message }) => message.text)

beforeAll(() => open('team'))

describe('linking a member’s Telegram account', () => {
  test('takes a link to a bot of the workspace and a tap on Start, and admits the account as part of the team', async () => {
    const mo = telegram.world.person('Mo')
    const { url, expiresAt } = await ask()
    expect(new Date(expiresAt).getTime() - Date.now()).toBeGreaterThan(3_500_000)
    const start = startOf(url)
    expect(start.bot).toBe('support_test_bot')
    const before = (await messages()).length
    await telegram.write(bot, mo, start.text)
    expect(await messages()).toHaveLength(before)
    await until(() =>
      textsTo(mo).some((text) => text === `This Telegram account is now linked to ${owner.email}.`),
    )
    expect(await identities()).toContainEqual({
      channel: 'telegram',
      value: String(mo.id),
      verifiedAt: expect.any(String),
    })
    await telegram.write(bot, mo, 'hello')
    expect(await newest()).toMatchObject({ text: 'hello', status: 'received', admission: 'team' })
    expect((await owner.api('DELETE', `/members/me/identities/telegram/${mo.id}`)).status).toBe(204)
    await telegram.write(bot, mo, 'hello again')
    expect(await newest()).toMatchObject({ text: 'hello again', refusal: 'outsider' })
  })

  test('uses up its code, which does nothing for another account or when it is sent again', async () => {
    const [first, second] = [telegram.world.person('First'), telegram.world.person('Second')]
    const { text } = startOf((await ask()).url)
    await telegram.write(bot, first, text)
    await telegram.write(bot, first, text)
    const before = (await messages()).length
    await telegram.write(bot, second, text)
    expect(await messages()).toHaveLength(before + 1)
    expect(await newest()).toMatchObject({ refusal: 'outsider' })
    const values = (await identities()).map(({ value }: { value: string }) => value)
    expect(values).toContain(String(first.id))
    expect(values).not.toContain(String(second.id))
  })

  test('succeeds for only one of several accounts that send the code concurrently', async () => {
    const { text } = startOf((await ask()).url)
    const crowd = Array.from({ length: 8 }, (_, n) => telegram.world.person(`Crowd ${n}`))
    const update = (id: number, from: object) => ({
      update_id: id,
      message: { message_id: id, date: 0, chat: { ...from, type: 'private' }, from, text },
    })
    await Promise.all(crowd.map((person, n) => telegram.post(bot, update(7_000 + n, person))))
    const values = (await identities()).map(({ value }: { value: string }) => value)
    expect(crowd.filter(({ id }) => values.includes(String(id)))).toHaveLength(1)
  })

  test('does not work through another bot of any workspace, in a group or as a bot', async () => {
    const stranger = await service.workspace('Strangers')
    const theirs = await another('Theirs', stranger)
    const mo = telegram.world.person('Mo the second')
    const colleague = await another('Colleague', owner)
    const { text } = startOf((await ask()).url)
    await telegram.write(theirs.bot, mo, text)
    await telegram.write(colleague.bot, mo, text)
    await telegram.write(bot, mo, text, telegram.world.group('Group'))
    await telegram.write(bot, { ...mo, is_bot: true }, text)
    expect((await identities()).map(({ value }: { value: string }) => value)).not.toContain(String(mo.id))
    await telegram.write(bot, mo, text)
    expect((await identities()).map(({ value }: { value: string }) => value)).toContain(String(mo.id))
  })

  test.each(['/start', '/start hello', `/start apt_${'x'.repeat(43)}`])(
    'does not start with %s, which is an ordinary message',
    async (text) => {
      const before = (await messages()).length
      await telegram.write(bot, telegram.world.person('Ordinary'), text)
      expect(await messages()).toHaveLength(before + 1)
      expect((await newest()).text).toBe(text)
    },
  )

  test('moves an account that was linked to a colleague before', async () => {
    const shared = telegram.world.person('Shared')
    const colleague = await service.db.prisma.member.create({
      data: { workspaceId: owner.id, email: 'colleague@example.com' },
    })
    await service.db.prisma.memberIdentity.create({
      data: { memberId: colleague.id, channel: 'telegram', value: String(shared.id) },
    })
    await telegram.write(bot, shared, startOf((await ask()).url).text)
    expect((await identities()).map(({ value }: { value: string }) => value)).toContain(String(shared.id))
    expect(await service.db.prisma.memberIdentity.count({ where: { memberId: colleague.id } })).toBe(0)
  })

  test('is refused to an agent, and in a workspace without a bot', async () => {
    expect((await agent.api('POST', '/members/me/identities/telegram', {})).status).toBe(403)
    const bare = await service.workspace('Bare')
    expect((await bare.api('POST', '/members/me/identities/telegram', {})).body.error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('no Telegram bot'),
    })
  })
})

describe('setting a bot up with a token', () => {
  test('shows members how to link their account, which may then write to the agent', async () => {
    const fresh = await service.workspace('Fresh')
    const theirs = await createTestAgent(service, fresh)
    const its = telegram.world.bot('fresh_bot')
    const me = telegram.world.person('Me')
    const link = await fresh.api('POST', `/agents/${theirs.id}/addresses/setups`, { channel: 'telegram' })
    const page = await visit(service.http, link.body.url, { token: its.token })
    const [, url] = /href="(https:\/\/t\.me\/fresh_bot\?start=[^"]+)"/.exec(page.text)!
    await telegram.write(its, me, startOf(url!).text)
    await telegram.write(its, me, 'It is me')
    expect(await newest(theirs)).toMatchObject({ text: 'It is me', status: 'received', admission: 'team' })
    expect((await fresh.api('GET', `/agents/${theirs.id}/access`)).body.telegram).toEqual({
      admit: 'list',
      senders: [String(me.id)],
      blocked: [],
    })
    const second = await createTestAgent(service, fresh, 'Second')
    await connectBot(service, fresh, second, telegram.world.bot('fresh_second_bot'))
    expect((await fresh.api('GET', `/agents/${second.id}/access`)).body.telegram.senders).toEqual([
      String(me.id),
    ])
  })

  test('shows no such link if an agent requested the set-up', async () => {
    const theirs = await createTestAgent(service, owner, 'By itself')
    const link = await theirs.api('POST', `/agents/${theirs.id}/addresses/setups`, { channel: 'telegram' })
    const page = await visit(service.http, link.body.url, {
      token: telegram.world.bot('by_itself_bot').token,
    })
    expect(page.text).toContain('@by_itself_bot')
    expect(page.text).not.toContain('?start=')
  })
})
