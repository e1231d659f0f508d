import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChangedCopy } from '../../support/changed-copy.ts'
import { expectFailure } from '../../support/failure.ts'
import { createReceiver, type Receiver } from '../../support/receiver.ts'
import type { Api } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { Running } from './additions.ts'
import type { Page } from './pager-channel.ts'

let network: Receiver
let service: string
let owner: Api
let agent: string

const OURS = '4711'
const BOSS = '1001'
const STRANGER = '9999'

const FACTS = `  pager: {
    name: 'pager',
    description: 'A pager.',
    by: 'By pager.',
    admit: 'team',
    creator: null,
    entry: { form: /^\\d{4,6}$/, words: 'must be a pager of 4 to 6 digits' },
    address: { one: 'pager', many: 'pagers' },
    mail: false,
    chat: true,
    contact: null,
    optOut: false,
    segments: false,
    identity: { by: 'code', description: 'A pager.' },
  },
} as const satisfies`

const WORDS = `{ name: 'Pager', add: 'A pager', removeHint: 'It falls silent.', example: '4711' }`

/** Returns the changes that docs/development.md describes for a new channel. */
export const addChannel = async (): Promise<(copy: ChangedCopy) => void> => {
  network = await createReceiver()
  return changeFor(network.url)
}

const changeFor = (url: string) => (copy: ChangedCopy) => {
  const channel = readFileSync(join(import.meta.dirname, 'pager-channel.ts'), 'utf8')
  copy.add(
    'src/channel/pager/pager-channel.ts',
    channel.replaceAll('../../../src/channel/', '../').replaceAll('../../../src/', '../../'),
  )
  copy.edit(
    'src/operations.ts',
    ['    telegram,\n  ])', `    telegram,\n    createPagerChannel('${url}/pages'),\n  ])`],
    [
      '\nimport { createSmsChannel }',
      "\nimport { createPagerChannel } from './channel/pager/pager-channel.ts'\nimport { createSmsChannel }",
    ],
  )
  copy.edit('src/core/channels.ts', ['} as const satisfies', FACTS])
  copy.edit('prisma/schema.prisma', ['  telegram\n  url\n', '  telegram\n  pager\n  url\n'])
  copy.add(
    'prisma/migrations/29990101000000_pager/migration.sql',
    `ALTER TYPE "Channel" ADD VALUE 'pager' BEFORE 'url';`,
  )
  copy.add(
    'prisma/migrations/29990101000001_pager_access/migration.sql',
    `INSERT INTO "access" ("agent_id", "channel", "admit", "senders") SELECT "id", 'pager', 'team', '{}' FROM "agent";`,
  )
  copy.edit(
    'src/dashboard/channels/channels.ts',
    [
      '  telegram: {\n    icon',
      `  pager: { icon: null, en: ${WORDS}, de: ${WORDS} },\n  telegram: {\n    icon`,
    ],
    ['    telegram { admit', '    pager { admit senders blocked }\n    telegram { admit'],
  )
}

const receivePage = (from: string, text: string) => {
  const body: Page = { id: `page-${text}`, from, to: OURS, text }
  return fetch(`${service}/channels/pager`, { method: 'POST', body: JSON.stringify(body) })
}
const pages = async (count: number): Promise<Page[]> =>
  (await network.got('/pages', count)).map(({ body }) => JSON.parse(body))
const messages = async (query = '') =>
  (await owner('GET', `/agents/${agent}/messages?channel=pager${query}`)).body.items
const openSetUp = async (): Promise<string> =>
  (await owner('POST', `/agents/${agent}/addresses/setups`, { channel: 'pager' })).body.url
const setUp = async (url: string, address: string) => {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams({ address }) })
  return { status: response.status, text: await response.text() }
}

/** Each test continues where the previous one ended. */
export const testChannel = (running: () => Running): void => {
  beforeAll(async () => {
    ;({ http: service, owner } = running())
    agent = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body.id
  })
  afterAll(() => network?.close())

  test('a new channel has a default access list and its own rule for entries', async () => {
    expect((await owner('GET', `/agents/${agent}/access`)).body.pager).toEqual({
      admit: 'team',
      senders: [],
      blocked: [],
    })
    const set = (senders: string[]) =>
      owner('PUT', `/agents/${agent}/access/pager`, { admit: 'list', senders })
    expectFailure(
      await set(['ann@example.com']),
      'invalid_input',
      'senders\\[0\\]: must be a pager of 4 to 6 digits',
    )
    expect(await set([BOSS])).toMatchObject({ status: 200, body: { admit: 'list', senders: [BOSS] } })
  })

  test('a set-up link of a new channel assigns an address, and shows the errors of the channel', async () => {
    const url = await openSetUp()
    expect(await (await fetch(url)).text()).toContain('The number of the pager')
    expect(await setUp(url, 'x')).toMatchObject({
      status: 400,
      text: expect.stringContaining('A pager has 4 to 6 digits.'),
    })
    expect(await setUp(url, '0000')).toMatchObject({
      status: 409,
      text: expect.stringContaining('The pager network has no pager 0000.'),
    })
    expect(await setUp(url, OURS)).toMatchObject({
      status: 200,
      text: expect.stringContaining(`<code>${OURS}</code>`),
    })
    expect(await setUp(await openSetUp(), OURS)).toMatchObject({
      status: 409,
      text: expect.stringContaining('is taken'),
    })
    const { body } = await owner('GET', `/agents/${agent}/addresses`)
    expect(body).toContainEqual(expect.objectContaining({ channel: 'pager', value: OURS, primary: true }))
    for (let number = 5001; number < 5010; number++)
      expect((await setUp(await openSetUp(), String(number))).status).toBe(200)
    expect((await setUp(await openSetUp(), '5010')).text).toContain('An agent can have at most 10 pagers.')
  })

  test('a message on a new channel is checked against the access list and can be replied to in its thread', async () => {
    expect((await receivePage(STRANGER, 'let me in')).status).toBe(204)
    expect((await receivePage(BOSS, 'call me')).status).toBe(204)
    const [received, refused] = await messages()
    expect(refused).toMatchObject({ counterpart: STRANGER, status: 'refused', refusal: 'sender' })
    expect(received).toMatchObject({
      channel: 'pager',
      counterpart: BOSS,
      status: 'received',
      admission: 'listed',
      segments: null,
    })
    const events = (await owner('GET', `/agents/${agent}/events?after=0`)).body.items
    expect(events).toMatchObject([
      { channel: 'pager', sender: { kind: 'contact', email: null, phone: null } },
    ])
    expect(
      (await owner('POST', `/agents/${agent}/messages`, { replyTo: received.id, text: 'calling' })).status,
    ).toBe(201)
    expect(await pages(1)).toMatchObject([{ from: OURS, to: BOSS, text: 'calling' }])
    await until(async () => (await messages())[0].status === 'sent')
    await receivePage(BOSS, 'thanks')
    expect((await messages(`&thread=${received.id}`)).map(({ text }: Page) => text)).toEqual([
      'thanks',
      'calling',
      'call me',
    ])
  })

  test('a message that a new channel cannot send is refused or failed with the reason of the channel', async () => {
    const send = async (more: object) =>
      (
        await owner('POST', `/agents/${agent}/messages`, {
          channel: 'pager',
          to: [BOSS],
          text: 'hi',
          ...more,
        })
      ).body
    expect((await send({ to: ['ann@example.com'] })).error.message).toContain('a pager has 4 to 6 digits')
    expect((await send({ cc: [STRANGER] })).error.message).toContain(
      'the pager channel does not support Cc recipients',
    )
    expect((await send({ text: 'x'.repeat(241) })).error.message).toContain(
      'at most 240 characters long on the pager channel',
    )
    network.answer('/pages', 500)
    const { id } = await send({})
    const failed = await until(async () =>
      (await messages()).find(
        (each: { id: string; status: string }) => each.id === id && each.status === 'failed',
      ),
    )
    expect(failed.error).toContain('the pager network said 500')
  })

  test('a member can verify an identity on a new channel and is recognized by it', async () => {
    const identity = { channel: 'pager', value: BOSS }
    expect((await owner('POST', '/members/me/identities', identity)).status).toBe(201)
    const code = (await pages(3)).at(-1)!.text.slice(0, 6)
    expect(
      (await owner('POST', '/members/me/identities/verify', { channel: 'pager', code })).body,
    ).toMatchObject(identity)
    await receivePage(BOSS, 'it is me')
    const event = (await owner('GET', `/agents/${agent}/events?after=0`)).body.items.at(-1)
    expect(event).toMatchObject({ channel: 'pager', sender: { kind: 'member' } })
  })

  test('the API and the metrics include a new channel', async () => {
    const query = '{ __type(name: "Channel") { enumValues { name description } } }'
    const { body } = await owner('POST', '/graphql', { query })
    expect(body.data.__type.enumValues).toContainEqual({ name: 'pager', description: 'A pager.' })
    const { components } = (await owner('GET', '/openapi.json')).body
    expect(components.schemas.Message.properties.channel.enum).toContain('pager')
    expect((await owner('GET', '/metrics')).text).toContain('ams_events_total{channel="pager"} 3')
  })
}
