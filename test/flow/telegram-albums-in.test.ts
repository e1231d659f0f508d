import { expect, test } from 'vitest'
import type { StandInBot } from '../../src/demo/telegram/world.ts'
import { createFakeClock } from '../support/clock.ts'
import type { TestAgent } from '../support/service.ts'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/** Albums whose parts arrive in separate calls. The time stands still except where a test advances it. */

const clock = createFakeClock()
const { telegram, service, another, messages, events, ann } = await arrangeTelegram({
  world: { clock },
})
const { pool } = service.db

const chat = { id: ann.id, type: 'private' }
let newest = 1_000

/** Returns the update of one photo of an album. */
const photo = (message_id: number, media_group_id: string, more: object = {}) => {
  const photo = [telegram.world.file(`${message_id}.jpg`, Buffer.from(String(message_id)))]
  const message = { message_id, date: 0, chat, from: ann, media_group_id, photo, ...more }
  return { update_id: newest++, message }
}
const postAll = async (bot: StandInBot, updates: object[]) => {
  for (const update of updates) expect(await telegram.post(bot, update)).toBe(200)
}
const waiting = async () =>
  (
    await pool.query<{ content: string; message_id: number }>(
      'select message_id, content from album_part where content is not null order by message_id',
    )
  ).rows

/** Lets time pass until no part waits. */
const assembled = () =>
  until(async () => {
    clock.advance(1_000)
    return (await waiting()).length === 0
  })
const files = (message: { attachments: { name: string }[] }) => message.attachments.map(({ name }) => name)
const texts = async (agent: TestAgent) => (await messages(agent)).map(({ text }: { text: string }) => text)

test.each([
  ['in order', [0, 1, 2]],
  ['out of order', [2, 0, 1]],
  ['twice', [0, 1, 0, 2, 2]],
])('an album whose parts arrive %s becomes one message with one event', async (how, order) => {
  const { agent, bot } = await another(`Album ${how}`)
  const updates = [photo(11, how, { caption: 'Holiday' }), photo(12, how), photo(13, how)]
  await postAll(
    bot,
    order.map((index) => updates[index]!),
  )
  expect(await messages(agent)).toEqual([])
  await assembled()
  const [message, ...others] = await messages(agent)
  expect(others).toEqual([])
  expect(message).toMatchObject({ text: 'Holiday', status: 'received', counterpart: String(ann.id) })
  expect(files(message)).toEqual(['photo-11.jpg', 'photo-12.jpg', 'photo-13.jpg'])
  expect(await events(agent)).toHaveLength(1)

  // Telegram repeats an update whose response was lost.
  await postAll(bot, updates)
  expect(await waiting()).toEqual([])
  expect(await messages(agent)).toHaveLength(1)
})

test('a part that arrives after the album was stored is a message of its own in its thread', async () => {
  const { agent, bot } = await another('Late')
  await postAll(bot, [photo(21, 'late', { caption: 'Two' }), photo(22, 'late')])
  await assembled()
  await postAll(bot, [photo(20, 'late', { caption: 'and one' })])
  await assembled()
  const [late, album] = await messages(agent)
  expect([files(album), files(late)]).toEqual([['photo-21.jpg', 'photo-22.jpg'], ['photo-20.jpg']])
  const thread = (await agent.api('GET', `/agents/${agent.id}/messages?thread=${album.id}`)).body.items
  expect(thread.map(({ id }: { id: string }) => id)).toEqual([late.id, album.id])
  expect(await events(agent)).toHaveLength(2)
})

test('albums of other bots, and others of the chat, are kept apart, and none has more than ten files', async () => {
  const [one, two] = [await another('Apart'), await another('Aside')]
  await postAll(one.bot, [photo(31, 'same', { caption: 'a' }), photo(32, 'other', { caption: 'b' })])
  await postAll(
    two.bot,
    Array.from({ length: 11 }, (_, index) => photo(31 + index, 'same')),
  )
  await assembled()
  expect((await texts(one.agent)).toSorted()).toEqual(['a', 'b'])
  expect((await messages(two.agent)).map((message: never) => files(message).length)).toEqual([1, 10])
})

test('an album that was stored before a crash, but not marked so, is not stored again', async () => {
  const { agent, bot } = await another('Crashed')
  await postAll(bot, [photo(61, 'crash', { caption: 'Once' }), photo(62, 'crash')])
  const parts = await waiting()
  await assembled()
  for (const { message_id, content } of parts)
    await pool.query('update album_part set content = $2, lease_until = $3 where message_id = $1', [
      message_id,
      content,
      clock.now(),
    ])
  expect(await waiting()).toHaveLength(2)
  await assembled()
  expect(await texts(agent)).toEqual(['Once'])
  expect(await events(agent)).toHaveLength(1)
})

test('an album for a workspace that moves to another installation waits, and Telegram repeats its other parts', async () => {
  const tenant = await service.workspace('Moving')
  const { agent, bot } = await another('Moving', tenant)
  const rest = photo(72, 'moving')
  await postAll(bot, [photo(71, 'moving', { caption: 'Both' })])
  const closed = [tenant.id, 'elsewhere', clock.now()]
  await pool.query(
    'insert into workspace_move (workspace_id, target, started_at) values ($1, $2, $3)',
    closed,
  )
  expect(await telegram.post(bot, rest)).toBe(503)
  // Albums of others do not.
  const open = await another('Staying')
  await postAll(open.bot, [photo(73, 'open', { caption: 'Not moving' })])
  await until(async () => {
    clock.advance(1_000)
    return (await texts(open.agent)).length > 0
  })
  // Marking the other one as stored, and giving this one back, follow a moment later.
  const waiting = async () =>
    (await pool.query('select lease_until from album_part where content is not null')).rows
  await expect.poll(waiting).toEqual([{ lease_until: null }])
  await pool.query('delete from workspace_move')
  await postAll(bot, [rest])
  await assembled()
  // A round that had not ended may have found the first part alone.
  const stored = (await messages(agent)).flatMap(files)
  expect(stored.toSorted()).toEqual(['photo-71.jpg', 'photo-72.jpg'])
})

test('in a group, an album is for the bot if its caption mentions the bot', async () => {
  const { agent, bot } = await another('Grouped')
  const group = { chat: { id: -1001, type: 'supergroup', title: 'Plans' } }
  await postAll(bot, [photo(51, 'talk', { ...group, caption: 'not for bots' }), photo(52, 'talk', group)])
  await postAll(bot, [photo(53, 'ask', group), photo(54, 'ask', { ...group, caption: '@grouped_bot see' })])
  await assembled()
  const items = await messages(agent)
  expect(items.map(files)).toEqual([['photo-53.jpg', 'photo-54.jpg']])
  expect(items[0].to).toEqual(['@grouped_bot', '-1001'])
})

test('parts that arrive in two processes, which both assemble albums, become one message', async () => {
  const { agent, bot } = await another('Two processes')
  const port = new URL(service.http).port
  const second = await service.again({ PUBLIC_URL: `http://localhost:${port}` })
  const hooks = [service.http, second.http].map((http) => ({
    ...bot.webhook!,
    url: bot.webhook!.url.replace(/^http:\/\/[^/]+/, http),
  }))
  const names = Array.from({ length: 6 }, (_, album) => `album ${album}`)
  const updates = names.flatMap((name, album) =>
    Array.from({ length: 4 }, (_, part) =>
      photo(100 + 10 * album + part, name, part ? {} : { caption: name }),
    ),
  )
  await Promise.all(
    updates.map((update, index) => telegram.post({ ...bot, webhook: hooks[index % 2]! }, update)),
  )
  await assembled()
  expect((await texts(agent)).toSorted()).toEqual(names)
  for (const message of await messages(agent)) expect(message.attachments).toHaveLength(4)
  expect(await events(agent)).toHaveLength(6)
})

test('a service that stops does not wait for the files of an album, which the next one stores', async () => {
  const { bot } = await another('Stopped')
  telegram.faults.push({ method: 'download', answer: () => undefined })
  const fetched = telegram.calls.length
  await postAll(bot, [photo(71, 'stop', { caption: 'Stopped' }), photo(72, 'stop')])
  await until(() => {
    clock.advance(1_000)
    return telegram.calls.slice(fetched).some(({ method }) => method === 'getfile')
  })
  await service.stop()
  telegram.faults.length = 0
  await service.again()
  await assembled()
  const { rows } = await pool.query(
    `select m.text, count(*)::int as files from message m join attachment a on a.message_id = m.id and a.agent_id = m.agent_id
      where m.text like 'Stopped%' group by m.id, m.text`,
  )
  expect(rows).toEqual([{ text: 'Stopped', files: 2 }])
})
