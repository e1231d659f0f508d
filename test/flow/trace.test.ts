import { beforeAll, expect, test } from 'vitest'
import { asText } from '../../src/trace/moment.ts'
import { trace } from '../../src/trace/trace.ts'
import { receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { openMcp } from '../support/mcp.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** What an operator is told about one message, address or token. */

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner, 'Support')
})

const told = async (what: string): Promise<string> => {
  const now = new Date()
  return asText(await trace(service.db, what, { scope: null, now }), now)
}
const mail = (from: string, more: object = {}) =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from,
    to: agent.address,
    subject: 'Hello',
    text: 'The secret is 4711.',
    ...more,
  })

test('why a mail was refused, by its Message-ID', async () => {
  await mail('mallory@example.com', { messageId: '<refused-1@example.com>' })
  for (const what of ['<refused-1@example.com>', 'refused-1@example.com']) {
    const text = await told(what)
    expect(text).toMatch(
      /^Message \S+ \(email\) from mallory@example\.com to agent Support of workspace Acme/,
    )
    expect(text).toMatch(/refused: sender/)
    expect(text).toMatch(/Z {2}check spf: none/)
    expect(text).toMatch(/Z {2}not listening$/m)
    expect(text).not.toContain('4711')
  }
})

test('why an agent did not wake: each attempt of its webhook, and what waits behind', async () => {
  const receiver = await createReceiver()
  receiver.answer('/', 500)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: receiver.url, name: 'Shop' })
  const first = await receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'one' })
  const second = await receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'two' })
  await until(async () => /answered Shop: 500/.test(await told(first.id)))
  expect(await told(first.id)).toMatch(
    /event \d+: message\.received\n[\s\S]*webhook answered Shop: 500, \d+ ms/,
  )
  // The second waits behind the event of the first.
  const [, event] = /event (\d+): message/.exec(await told(first.id))!
  expect(await told(second.id)).toMatch(
    new RegExp(`Z {2}webhook failing Shop: ${event}\n[\\s\\S]*Z {2}webhook next Shop$`, 'm'),
  )
})

test('an address: whose it is, whom it admits, whether anybody listens, and its latest messages', async () => {
  const text = await told(agent.address.toUpperCase())
  expect(text).toMatch(/: agent Support \(\S+\) of workspace Acme\n/)
  expect(text).toMatch(/^ {2}now {23}admits: anyone\n {2}now .*senders: 0\n {2}now .*blocked: 0$/m)
  expect(text.match(/^Message /gm)!.length).toBeGreaterThan(1)
  // Of somebody else: what was exchanged with them.
  expect(await told('mallory@example.com')).toMatch(/^Message .* from mallory@example\.com/)
})

test('a token: whose it is, and what it did', async () => {
  const made = (await owner.api('POST', `/agents/${agent.id}/tokens`, { name: 'traced' })).body
  const text = await told(made.id)
  expect(text).toMatch(/^Token traced of agent Support\n {2}\S+ {2}token created/)
  expect(text).not.toContain(made.token)
})

test('what comes from outside changes no line, and is obeyed by no terminal', async () => {
  await mail('mallory@example.com', { messageId: '<outside@example.com>' })
  const { prisma } = service.db
  const found = await prisma.message.findFirstOrThrow({ where: { internetMessageId: 'outside@example.com' } })
  const hostile = '\u001b[2J\u202eno\nrefused: nothing'
  await prisma.message.update({
    where: { id_agentId: { id: found.id, agentId: found.agentId } },
    data: { internetMessageId: hostile, checks: [{ name: 'spf', verdict: 'none', detail: hostile }] },
  })
  const text = await told(found.id)
  expect(text).toContain('check spf: none')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(text).not.toMatch(/[\u001b\u202e]|^refused/m)
})

test('of what is not known there is nothing', async () => {
  for (const what of ['nobody@example.net', '00000000-0000-4000-8000-000000000000'])
    expect(await trace(service.db, what, { scope: null, now: new Date() })).toEqual([])
})

test('which clients and calls heard of a message', async () => {
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'bot', machine: 'lab' })
  const headers = { Authorization: `Bearer ${agent.token}` }
  const url = `${service.http}/agents/${agent.id}/connections/${body.id}/events`
  const stream = await fetch(url, { headers })
  const heard = await receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'three' })
  const mcp = await openMcp(service.http, agent.token)
  await mcp.call('wait_for_messages', { cursor: '0' })
  await mcp.close()
  const text = await until(async () => {
    const now = await told(heard.id)
    return /wait ended/.test(now) && /stream began/.test(now) && now
  })
  const [, event] = /event (\d+): message/.exec(text)!
  expect(text).toMatch(
    new RegExp(
      `stream began bot, lab\n[\\s\\S]*event ${event}: message.received\n[\\s\\S]*wait ended: ${event}$`,
      'm',
    ),
  )
  await stream.body!.cancel()
  await until(async () => /stream ended bot, lab/.test(await told(heard.id)))
})

test('what was sent: by whom, what it waits for, and what became of its recipients', async () => {
  const send = (more: object) =>
    owner.api('POST', `/agents/${agent.id}/messages`, {
      ...{ channel: 'email', to: ['lee@example.com'], subject: 'Quote', text: 'The secret is 4711.' },
      ...more,
    })
  const sent = await send({})
  await until(async () => /recipient lee@example\.com: sent/.test(await told(sent.body.id)))
  const text = await told(sent.body.id)
  expect(text).toMatch(/^Message \S+ \(email\) to lee@example\.com from agent Support/)
  expect(text).toContain(`accepted ${owner.email}`)
  expect(text).toMatch(/audit message\.send: owner-.*@example\.com · message /)
  expect(text).toMatch(/^ {2}now {23}status: sent$/m)
  expect(text).not.toContain('4711')
  const later = await send({ sendAt: new Date(Date.now() + 3_600_000).toISOString() })
  expect(await told(later.body.id)).toMatch(/held: schedule\n[\s\S]*held until$/m)
})

test('events of a message among thousands of newer ones', async () => {
  const old = await receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'old' })
  // As after 6,000 more messages.
  await service.db.pool.query('update event_log set last_id = last_id + 6000 where agent_id = $1', [agent.id])
  expect(await told(old.id)).toMatch(/event \d+: message\.received/)
})

test('when an agent hears of a message that waits for others of its thread', async () => {
  const slow = await createTestAgent(service, owner, 'Slow')
  await owner.api('PUT', `/agents/${slow.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('PATCH', `/agents/${slow.id}`, { wakeAfterSeconds: 300 })
  const { id } = await receive(service, slow, { from: 'ann@example.com', to: slow.address, text: 'one' })
  expect(await told(id)).toMatch(/Z {2}event delayed$/m)
  await owner.api('PATCH', `/agents/${slow.id}`, { wakeAfterSeconds: 0 })
  const text = await told(id)
  expect(text).toMatch(/Z {2}event 1: message\.received$/m)
  expect(text).not.toContain('event delayed')
})
