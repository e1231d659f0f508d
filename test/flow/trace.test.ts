import { beforeAll, expect, test } from 'vitest'
import { asText, type Trace } from '../../src/trace/moment.ts'
import { trace } from '../../src/trace/trace.ts'
import { receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
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

const told = async (what: string): Promise<string> => asText(await trace(service.db, what, new Date()))
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
    expect(text).toMatch(/check: spf none/)
    expect(text).toMatch(/nobody listens to the agent/)
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
  await until(async () => /answered 500/.test(await told(first.id)))
  expect(await told(first.id)).toMatch(
    /event \d+: message\.received\n[\s\S]*webhook Shop: answered 500 after \d+ ms/,
  )
  expect(await told(second.id)).toMatch(
    /webhook Shop waits behind event \d+, which has failed since .*, next attempt at /,
  )
})

test('an address: whose it is, whom it admits, whether anybody listens, and its latest messages', async () => {
  const text = await told(agent.address.toUpperCase())
  expect(text).toMatch(/: agent Support \(\S+\) of workspace Acme\n/)
  expect(text).toMatch(/admits anyone; 0 senders on its list, 0 blocked/)
  expect(text.match(/^Message /gm)!.length).toBeGreaterThan(1)
  // Of somebody else: what was exchanged with them.
  expect(await told('mallory@example.com')).toMatch(/^Message .* from mallory@example\.com/)
})

test('a token: whose it is, and what it did', async () => {
  const made = (await owner.api('POST', `/agents/${agent.id}/tokens`, { name: 'traced' })).body
  const text = await told(made.id)
  expect(text).toMatch(/^Token traced of agent Support\n {2}\S+ {2}created/)
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
  expect(text).toContain('check: spf none')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(text).not.toMatch(/[\u001b\u202e]|^refused/m)
})

test('what is not known is said to be so', async () => {
  for (const what of ['nobody@example.net', '00000000-0000-4000-8000-000000000000'])
    await expect(trace(service.db, what, new Date())).rejects.toThrow('Nothing is stored of it')
  const traces: Trace[] = await trace(service.db, agent.address, new Date())
  expect(traces.length).toBeGreaterThan(0)
})
