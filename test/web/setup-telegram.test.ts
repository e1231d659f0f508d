import { beforeAll, describe, expect, test } from 'vitest'
import type { TelegramStandIn } from '../../src/demo/telegram/stand-in.ts'
import type { StandInBot } from '../../src/demo/telegram/world.ts'
import { createTestLog } from '../support/log.ts'
import { expectPage, visit } from '../support/page.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { connectBot, startTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

const log = createTestLog()
let telegram: TelegramStandIn
let manager: StandInBot
/** Services without and with a manager bot. */
let plain: TestService
let managed: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  telegram = await startTelegram()
  manager = telegram.world.bot('maker_bot', { canManage: true })
  const environment = { TELEGRAM_API_URL: telegram.url }
  plain = await startService({ environment, log })
  managed = await startService({
    environment: { ...environment, TELEGRAM_MANAGER_TOKEN: manager.token },
    log,
  })
  owner = await plain.workspace()
  agent = await createTestAgent(plain, owner, '<i>Support</i>')
})

const link = async (of: Pick<TestAgent, 'id'> = agent, by: Pick<Tenant, 'api'> = owner): Promise<string> =>
  (await by.api('POST', `/agents/${of.id}/addresses/setups`, { channel: 'telegram' })).body.url
const bots = async (of: Pick<TestAgent, 'id'> = agent, by: Pick<Tenant, 'api'> = owner) =>
  (await by.api('GET', `/agents/${of.id}/addresses`)).body.filter(
    ({ channel }: { channel: string }) => channel === 'telegram',
  )
const submitToken = (url: string, token: string) => visit(plain.http, url, { token })

describe('a set-up link with the token of an existing bot', () => {
  test('adds the bot to the agent, sets its webhook, and can be used once', async () => {
    const bot = telegram.world.bot('Helpful_Bot')
    const url = await link()
    expectPage(await visit(plain.http, url), 200, /A Telegram bot for &lt;i&gt;Support&lt;\/i&gt;/)
    const page = await submitToken(url, ` ${bot.token}\n`)
    expectPage(page, 200, /@helpful_bot/)
    expect(page.text).not.toContain(bot.token)
    expect(await bots()).toMatchObject([{ value: '@helpful_bot', primary: true, domainId: null }])
    const [{ id }] = await bots()
    expect(bot.webhook).toEqual({
      url: `http://localhost:${new URL(plain.http).port}/channels/telegram/${id}?updates=2`,
      secret: expect.stringMatching(/^[\w-]{43}$/),
      allowed: ['message', 'callback_query'],
    })
    expectPage(await submitToken(url, bot.token), 410, /This link has been used/)
  })

  test('does not make a second bot the primary address', async () => {
    const other = await createTestAgent(plain, owner, 'Two bots')
    await connectBot(plain, owner, other, telegram.world.bot('first_of_two_bot'))
    await connectBot(plain, owner, other, telegram.world.bot('second_of_two_bot'))
    expect(await bots(other)).toMatchObject([
      { value: '@first_of_two_bot', primary: true },
      { value: '@second_of_two_bot', primary: false },
    ])
  })

  test.each([
    ['', /Must be a bot’s token/],
    ['hello', /Must be a bot’s token/],
    ['123:', /Must be a bot’s token/],
    [`123456:${'x'.repeat(35)}/../getMe`, /Must be a bot’s token/],
    [`123456:${'x'.repeat(35)}`, /Is not valid: Telegram does not recognize it/],
  ])('refuses the token %j without repeating it, and stays valid', async (token, says) => {
    const url = await link()
    const page = await submitToken(url, token)
    expectPage(page, 400, says)
    if (token !== '') expect(page.text).not.toContain(token)
    expectPage(await visit(plain.http, url), 200, /A Telegram bot for/)
  })

  test('refuses a bot that an agent already has, and leaves its webhook unchanged', async () => {
    const bot = telegram.world.bot('only_one_bot')
    await connectBot(plain, owner, agent, bot)
    const before = bot.webhook
    expectPage(await submitToken(await link(), bot.token), 409, /The agent already has @only_one_bot/)
    const stranger = await plain.workspace('Other')
    const theirs = await createTestAgent(plain, stranger)
    expectPage(
      await submitToken(await link(theirs, stranger), bot.token),
      409,
      /The bot @only_one_bot belongs to another agent/,
    )
    expect(bot.webhook).toEqual(before)
    expect(await bots(theirs, stranger)).toEqual([])
  })

  test('gives the bot to one of 10 agents that submit it concurrently', async () => {
    const bot = telegram.world.bot('wanted_bot')
    const crowd = await Promise.all(
      Array.from({ length: 10 }, (_, n) => createTestAgent(plain, owner, `Crowd ${n}`)),
    )
    const links = await Promise.all(crowd.map((each) => link(each)))
    const pages = await Promise.all(links.map((each) => submitToken(each, bot.token)))
    expect(pages.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
    const winner = crowd[pages.findIndex(({ status }) => status === 200)]!
    const [{ id }] = await bots(winner)
    expect(bot.webhook?.url).toContain(`/${id}?`)
  })

  test('updates a bot whose token was changed with BotFather', async () => {
    const other = await createTestAgent(plain, owner, 'Changed')
    const bot = telegram.world.bot('changed_bot')
    const { addressId } = await connectBot(plain, owner, other, bot)
    const before = bot.webhook
    telegram.world.retoken(bot)
    expectPage(await submitToken(await link(other), bot.token), 200, /@changed_bot/)
    expect(await bots(other)).toMatchObject([{ id: addressId }])
    expect(bot.webhook).toMatchObject({ url: before!.url })
    expect(bot.webhook!.secret).not.toBe(before!.secret)
  })

  test('updates a bot whose username was changed', async () => {
    const other = await createTestAgent(plain, owner, 'Renamed')
    const bot = telegram.world.bot('old_name_bot')
    const { addressId } = await connectBot(plain, owner, other, bot)
    bot.user.username = 'New_Name_bot'
    expectPage(await submitToken(await link(other), bot.token), 200, /@new_name_bot/)
    expect(await bots(other)).toMatchObject([{ id: addressId, value: '@new_name_bot' }])
    expectPage(await submitToken(await link(other), bot.token), 409, /The agent already has @new_name_bot/)
    await other.api('PUT', `/agents/${other.id}/access/telegram`, { admit: 'anyone' })
    await telegram.write(bot, telegram.world.person('Gus'), 'hi')
    const { items } = (await other.api('GET', `/agents/${other.id}/messages?channel=telegram`)).body
    expect(items).toMatchObject([{ text: 'hi', to: ['@new_name_bot'] }])
  })

  test.each([
    ['refuses the webhook', 'setwebhook', 400, 409, /Telegram refused the request: no such place/],
    ['is down at getMe', 'getme', 502, 503, /Telegram can’t be reached right now/],
    ['is down at setWebhook', 'setwebhook', 500, 503, /Telegram can’t be reached right now/],
  ])('adds nothing and stays valid when Telegram %s', async (_, method, code, status, says) => {
    const other = await createTestAgent(plain, owner, 'Unlucky')
    const bot = telegram.world.bot(`unlucky_${code}_${method}_bot`)
    telegram.refuse(method, code, 'no such place', 1)
    const url = await link(other)
    expectPage(await submitToken(url, bot.token), status, says)
    expect(await bots(other)).toEqual([])
    expectPage(await submitToken(url, bot.token), 200, /The bot is set up/)
  })

  test('does not leave the token in plain text in the database or the log', async () => {
    const bot = telegram.world.bot('secretive_bot')
    await connectBot(plain, owner, agent, bot)
    const { rows } = await plain.db.pool.query(
      'select encode(token, $1) as token, encode(secret_hash, $1) as hash from telegram_bot',
      ['escape'],
    )
    expect(JSON.stringify(rows)).not.toContain(bot.token.split(':')[1])
    expect(JSON.stringify(rows)).not.toContain(bot.webhook!.secret)
    expect(log.text()).not.toContain(bot.token.split(':')[1])
  })
})

describe('a manager bot', () => {
  let tenant: Tenant
  let made: TestAgent
  beforeAll(async () => {
    tenant = await managed.workspace()
    made = await createTestAgent(managed, tenant, 'Größter Support & more than a name')
    await until(() => manager.webhook)
  })
  const open = () => link(made, tenant)
  const suggestedOn = (text: string) =>
    /https:\/\/t\.me\/newbot\/maker_bot\/([a-z][a-z0-9_]{4,31})\?name=([^"]+)"/.exec(text)!

  test('has its webhook set at start', () => {
    expect(manager.webhook).toMatchObject({
      url: expect.stringMatching(/\/channels\/telegram\/manager$/),
      allowed: ['message', 'managed_bot'],
    })
  })

  test('lets a member create a bot for the agent in Telegram, and admits that member', async () => {
    const bo = telegram.world.person('Bo')
    const url = await open()
    const page = await visit(managed.http, url)
    expectPage(page, 200, /Create the bot in Telegram/)
    const [, suggested, name] = suggestedOn(page.text)
    expect(suggested).toMatch(/^[a-z][a-z0-9_]{4,31}$/)
    expect(suggested).toMatch(/bot$/)
    expect(decodeURIComponent(name!)).toBe('Größter Support & more than a name')
    expectPage(
      await visit(managed.http, url, { created: 'yes' }),
      200,
      /Telegram has not reported the new bot yet/,
    )
    const bot = await telegram.createManaged(manager, bo, suggested!, 'Support')
    expect(await bots(made, tenant)).toMatchObject([{ value: `@${suggested}`, primary: true }])
    expect((await tenant.api('GET', `/agents/${made.id}/access`)).body.telegram.senders).toEqual([
      String(bo.id),
    ])
    for (const form of [{ created: 'yes' }, undefined])
      expectPage(await visit(managed.http, url, form), 200, /The bot is set up/)
    await telegram.write(bot, bo, 'hello')
    const { items } = (await made.api('GET', `/agents/${made.id}/messages?channel=telegram`)).body
    expect(items).toMatchObject([{ text: 'hello', status: 'received', admission: 'listed' }])
  })

  test('admits nobody through a link created by an agent where only members set access', async () => {
    const closed = await managed.workspace()
    await closed.api('PATCH', '/workspace', { agentsMaySetAccess: false })
    const agent = await createTestAgent(managed, closed, 'Closed')
    const makeBot = async (by: Pick<Tenant, 'api'>, person: ReturnType<typeof telegram.world.person>) => {
      const [, suggested] = suggestedOn((await visit(managed.http, await link(agent, by))).text)
      await telegram.createManaged(manager, person, suggested!)
    }
    const [eve, ann] = [telegram.world.person('Eve'), telegram.world.person('Ann')]
    const sendersOf = async () => (await agent.api('GET', `/agents/${agent.id}/access`)).body.telegram.senders
    await makeBot(agent, eve)
    expect([(await bots(agent, closed)).length, await sendersOf()]).toEqual([1, []])
    await makeBot(closed, ann)
    expect([(await bots(agent, closed)).length, await sendersOf()]).toEqual([2, [String(ann.id)]])
  })

  test('assigns a bot with another name by the Telegram id of the member', async () => {
    const cy = telegram.world.person('Cy')
    await managed.db.prisma.memberIdentity.create({
      data: { memberId: tenant.member, channel: 'telegram', value: String(cy.id) },
    })
    await open()
    await telegram.createManaged(manager, cy, 'my_own_name_bot')
    expect(await bots(made, tenant)).toContainEqual(expect.objectContaining({ value: '@my_own_name_bot' }))
  })

  test('does not assign a bot for which no link is open', async () => {
    const before = (await bots(made, tenant)).length
    const bot = await telegram.createManaged(manager, telegram.world.person('Dee'), 'surprise_bot')
    expect(bot.webhook).toBeNull()
    expect(await bots(made, tenant)).toHaveLength(before)
  })

  test('adds a bot once when it is reported twice, and replaces its token', async () => {
    const ed = telegram.world.person('Ed')
    const [, suggested] = suggestedOn((await visit(managed.http, await open())).text)
    const bot = await telegram.createManaged(manager, ed, suggested!)
    const update = { update_id: 77, managed_bot: { user: ed, bot: bot.user } }
    const before = bot.webhook
    expect(await telegram.post(manager, update)).toBe(200)
    expect(bot.webhook).toEqual(before)
    telegram.world.retoken(bot)
    expect(await telegram.post(manager, { ...update, update_id: 78 })).toBe(200)
    expect(bot.webhook).toMatchObject({ url: before!.url })
    expect(bot.webhook!.secret).not.toBe(before!.secret)
  })

  test('gets the update again while Telegram does not return the token of the bot', async () => {
    const [, suggested] = suggestedOn((await visit(managed.http, await open())).text)
    telegram.refuse('getmanagedbottoken', 502, 'Bad Gateway', 2)
    await telegram.createManaged(manager, telegram.world.person('Flo'), suggested!)
    expect(await bots(made, tenant)).toContainEqual(expect.objectContaining({ value: `@${suggested}` }))
  })

  test.each([['wrong'], [null], ['']])('refuses an update with the secret %j', async (secret) => {
    const update = { update_id: 1, managed_bot: { user: telegram.world.person('Eve'), bot: manager.user } }
    expect(await telegram.post(manager, update, secret)).toBe(403)
  })

  test('does not prevent the set-up of an existing bot', async () => {
    const bot = telegram.world.bot('brought_along_bot')
    expectPage(await visit(managed.http, await open(), { token: bot.token }), 200, /@brought_along_bot/)
  })

  test('that may not manage bots is not used, and the page asks for a token', async () => {
    const idle = telegram.world.bot('idle_bot')
    const service = await startService({
      environment: { TELEGRAM_API_URL: telegram.url, TELEGRAM_MANAGER_TOKEN: idle.token },
    })
    const someone = await service.workspace()
    const theirs = await createTestAgent(service, someone)
    expectPage(
      await visit(service.http, await link(theirs, someone)),
      200,
      /write <strong>\/newbot<\/strong>/,
    )
  })
})

describe('removing a bot', () => {
  const remove = async (of: TestAgent) => {
    const [{ id }] = await bots(of)
    return owner.api('DELETE', `/agents/${of.id}/addresses/${id}`)
  }

  test('removes its webhook, and it can be set up again', async () => {
    const other = await createTestAgent(plain, owner, 'Removed')
    const bot = telegram.world.bot('removed_bot')
    await connectBot(plain, owner, other, bot)
    const { url } = bot.webhook!
    expect((await remove(other)).status).toBe(204)
    expect(bot.webhook).toBeNull()
    const { status } = await fetch(url.replace('localhost', '127.0.0.1'), { method: 'POST', body: '{}' })
    expect(status).toBe(403)
    await connectBot(plain, owner, agent, bot)
  })

  test('succeeds with a token that is no longer valid, and while Telegram is down', async () => {
    const other = await createTestAgent(plain, owner, 'Dead')
    const dead = telegram.world.bot('dead_bot')
    await connectBot(plain, owner, other, dead)
    telegram.world.retoken(dead)
    expect((await remove(other)).status).toBe(204)
    await connectBot(plain, owner, other, telegram.world.bot('unreachable_bot'))
    telegram.refuse('deletewebhook', 500, 'Internal Server Error', 1)
    expect((await remove(other)).status).toBe(204)
  })

  test('happens when its agent is deleted', async () => {
    const other = await createTestAgent(plain, owner, 'Deleted')
    const bot = telegram.world.bot('orphan_bot')
    await connectBot(plain, owner, other, bot)
    expect((await owner.api('DELETE', `/agents/${other.id}`)).status).toBe(204)
    expect(bot.webhook).toBeNull()
  })
})

test('the webhooks of bots are set at start if and only if PUBLIC_URL has changed', async () => {
  const bot = telegram.world.bot('moving_bot')
  await connectBot(plain, owner, agent, bot)
  const before = bot.webhook!
  const sets = () => telegram.calls.filter((call) => call.bot === bot && call.method === 'setwebhook').length
  await plain.again({ PUBLIC_URL: 'https://agents.example/ams', ROLES: 'worker' })
  await until(() => bot.webhook?.url.startsWith('https://agents.example/ams/channels/telegram/'))
  expect(bot.webhook!.secret).toBe(before.secret)
  const count = sets()
  const next = telegram.world.bot('next_bot')
  await connectBot(plain, owner, agent, next)
  await plain.again({ PUBLIC_URL: 'https://agents.example/ams', ROLES: 'worker' })
  await until(() => next.webhook?.url.startsWith('https://agents.example/'))
  expect(sets()).toBe(count)
})
