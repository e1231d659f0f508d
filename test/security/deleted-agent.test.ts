import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { objectTypes, payloadOf, selectionOf } from '../support/graphql-schema.ts'
import { post } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'
import { MUTATIONS, QUERIES, SUBSCRIPTIONS, type Target, TYPES } from './graphql-table.ts'
import { callRoute, WITH_ID } from './rest-table.ts'
import { createTarget } from './rest-target.ts'

/**
 * An agent was deleted, and the worker that deletes its messages, events and jobs has not begun. Nobody can tell
 * that these are still stored. The tables of the other tests in this folder name every route and field, so that
 * a new one is tried here too.
 */

/** What stays stored after the deletion, in an order in which it can be stored. */
const LEFT = ['message', 'message_raw', 'attachment', 'recipient', 'message_search', 'event', 'job']
const WORD = 'xylophone'
const HOUR_MS = 3_600_000

const clock = createFakeClock()
let service: TestService
let owner: Tenant
let agent: TestAgent
let peer: TestAgent
let ids: Record<string, string>
const links: string[] = []

/** Deletes the agent, and stores what was deleted of its messages, events and jobs again. */
const deleteButKeep = async (id: string) => {
  const { pool } = service.db
  for (const table of LEFT)
    await pool.query(`create table kept_${table} as select * from ${table} where agent_id = '${id}'`)
  expect((await owner.api('DELETE', `/agents/${id}`)).status).toBe(204)
  for (const table of LEFT) {
    await pool.query(`insert into ${table} select * from kept_${table} on conflict do nothing`)
    await pool.query(`drop table kept_${table}`)
  }
}

beforeAll(async () => {
  service = await startService({ world: { clock }, environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace('Owner')
  peer = await createTestAgent(service, owner, 'Peer')
  const target = await createTarget(service, owner)
  agent = target.agent
  ids = target.ids
  const path = `/agents/${agent.id}/messages`
  const message = `${path}/${ids.messageId}`
  await agent.api('PATCH', message, { labels: ['orders'] })
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'hi' })
  const content = { channel: 'email', to: ['bo@example.com'], text: WORD }
  const sendAt = new Date(clock.now().getTime() + HOUR_MS).toISOString()
  expect((await agent.api('POST', path, { ...content, sendAt })).status).toBe(201)
  for (const kind of ['raw', 'html', 'attachments/0'])
    links.push((await agent.api('POST', `${message}/${kind}/link`, {})).body.url)
  for (const link of links) expect((await fetch(link)).status, link).toBe(200)
  for (const word of ['hi', WORD])
    await until(async () => {
      clock.advance(1_000)
      return (await owner.api('GET', `/messages?q=${word}`)).body.items?.length > 0
    })
  await deleteButKeep(agent.id)
})

test.each(LEFT)('its rows of %s are still stored', async (table) => {
  const { rows } = await service.db.pool.query(`select from ${table} where agent_id = $1`, [agent.id])
  expect(rows).not.toEqual([])
})

test.each(WITH_ID)('%s answers as for an agent that never was', async (route) => {
  for (const token of [owner.token, peer.token]) {
    const answer = await callRoute(service.http, route, ids, token)
    expect(answer.status).toBe(404)
    expect(answer).toEqual(await callRoute(service.http, route, { ...ids, id: randomUUID() }, token))
  }
  expect((await callRoute(service.http, route, ids, agent.token)).status).toBe(401)
})

const LISTS = [
  '',
  `q=${WORD}`,
  'q=hi',
  'label=orders',
  'unread=true',
  'status=received',
  'hold=schedule',
  'hasAttachment=true',
]

test.each(LISTS)('the messages of all agents (%s) are without its own', async (query) => {
  expect((await owner.api('GET', `/messages?${query}`)).body).toMatchObject({ items: [] })
})

test.each(['replyTo', 'forward'])('%s of another agent does not find its message', async (field) => {
  const send = (messageId: string) =>
    peer.api('POST', `/agents/${peer.id}/messages`, {
      ...{ [field]: messageId, text: 'hi' },
      ...(field === 'forward' && { to: ['bo@example.com'] }),
    })
  const [found, unknown] = [await send(ids.messageId!), await send(randomUUID())]
  expect(found.status).toBeGreaterThanOrEqual(400)
  expect([found.status, found.text]).toEqual([unknown.status, unknown.text])
})

test('agents, usage and the export are without it, and the audit log still names it', async () => {
  expect((await owner.api('GET', '/agents')).body.map(({ id }: { id: string }) => id)).toEqual([peer.id])
  expect((await owner.api('GET', '/workspace')).body.plan.usage).toMatchObject({ agents: 1, webhooks: 0 })
  const archive = await owner.api('GET', '/export')
  expect(archive.status).toBe(200)
  expect(archive.text).toContain(`agents/${peer.id}/`)
  expect(archive.text).not.toContain(`agents/${agent.id}/`)
  const { items } = (await owner.api('GET', '/audit?action=agent.delete')).body
  expect(items).toMatchObject([{ agentId: agent.id, detail: { name: 'Target' } }])
})

test.each([0, 1, 2])('link %i to its mail is dead', async (n) => {
  expect((await fetch(links[n]!)).status).toBe(404)
})

test('MCP refuses its token', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const headers = { Accept: 'application/json, text/event-stream' }
  expect((await agent.api('POST', '/mcp', request, headers)).status).toBe(401)
  expect((await peer.api('POST', '/mcp', request, headers)).status).not.toBe(401)
})

describe('in GraphQL', () => {
  const variables = () =>
    ({ ...ids, agentId: agent.id, listed: owner.email, blocked: owner.email }) as unknown as Target
  const codeOf = async (query: string, given: object = variables()) =>
    (await owner.api('POST', '/graphql', { query, variables: given })).body.errors?.[0]?.extensions.code

  const isAbout = (query: string) => /\$(agentId|messageId)/.test(query)

  test('the thread of its message is none', async () => {
    const given = { query: QUERIES.threadsOf!.query, variables: variables() }
    expect((await owner.api('POST', '/graphql', given)).body.data).toEqual({ threadsOf: [null] })
  })

  test.each(Object.keys(QUERIES).filter((name) => name !== 'threadsOf' && isAbout(QUERIES[name]!.query)))(
    '%s does not find it',
    async (name) => {
      expect(await codeOf(QUERIES[name]!.query)).toBe('not_found')
    },
  )

  test('the traces of its message are none', async () => {
    const query = TYPES.Trace!.reach.replace('%', 'kind')
    const { body } = await owner.api('POST', '/graphql', { query, variables: variables() })
    expect(body.data).toEqual({ workspace: { trace: [] } })
  })

  test.each(
    Object.keys(TYPES).filter(
      (name) => !name.startsWith('Trace') && isAbout(TYPES[name]!.reach) && TYPES[name]!.rule.owner === 'ok',
    ),
  )('no %s of it is found', async (name) => {
    const type = objectTypes().find((one) => one.name === name)!
    const [field] = Object.values(type.getFields())
    expect(await codeOf(TYPES[name]!.reach.replace('%', selectionOf(field!)))).toBe('not_found')
  })

  const onAgent = (name: string) =>
    'agentId' in MUTATIONS[name]!.input(new Proxy({} as Target, { get: () => 'id' }))

  test.each(Object.keys(MUTATIONS).filter(onAgent))('%s does not find it', async (name) => {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${payloadOf(name)} } }`
    expect(await codeOf(query, { input: MUTATIONS[name]!.input(variables()) })).toBe('not_found')
  })

  test.each(Object.keys(SUBSCRIPTIONS).filter((name) => isAbout(SUBSCRIPTIONS[name]!.query)))(
    'the subscription %s does not find it',
    async (name) => {
      const body = { query: SUBSCRIPTIONS[name]!.query, variables: variables() }
      const { text } = await owner.api('POST', '/graphql', body, { Accept: 'text/event-stream' })
      expect(text).toContain('"code":"not_found"')
    },
  )

  test('the lists of the workspace are without it', async () => {
    const page = 'edges { node { id } }'
    const query = `{ agents { id } workspace { messages { ${page} } threads { ${page} }
      waiting: messages(hold: schedule) { ${page} } found: messages(q: "${WORD}") { ${page} } } }`
    const { data, errors } = (await owner.api('POST', '/graphql', { query })).body
    expect(errors ?? []).toEqual([])
    expect(data.agents).toEqual([{ id: peer.id }])
    for (const list of ['messages', 'threads', 'waiting', 'found'])
      expect(data.workspace[list].edges, list).toEqual([])
  })
})

test('mail to it is refused, and what it wanted to send is not sent', async () => {
  const outbox = () => readdirSync(join(service.dataDir, 'outbox'))
  const before = outbox()
  const mail = { from: owner.email, to: agent.address, text: 'hi' }
  await expect(deliver(`${service.smtp.host}:${service.smtp.port}`, mail)).rejects.toMatchObject({
    responseCode: 550,
  })
  clock.advance(2 * HOUR_MS)
  // A mail of another agent goes out after that, and alone.
  const { body } = await peer.api('POST', `/agents/${peer.id}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    text: 'hello',
  })
  await until(async () => {
    clock.advance(1_000)
    return (await peer.api('GET', `/agents/${peer.id}/messages/${body.id}`)).body.status === 'sent'
  })
  const sent = outbox().filter((name) => !before.includes(name))
  expect(sent).toEqual([expect.stringContaining(body.id)])
})
