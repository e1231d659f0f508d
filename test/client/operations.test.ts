import { expect, test } from 'vitest'
import { type Agent, Workspace } from '../../src/client/index.ts'
import { operationsOf } from '../../src/rest/documentation/openapi.ts'
import { printedDocument } from '../../src/rest/print.ts'

const first = async <Item>(list: AsyncIterable<Item>) => {
  for await (const item of list) return item
  return undefined
}

/** One call of each function of the package. */
const everything = (workspace: Workspace, agent: Agent): (() => Promise<unknown>)[] => [
  () => workspace.viewer(),
  () => workspace.read(),
  () => workspace.update({ keepRefusedDays: 3 }),
  () => workspace.delete(),
  () => workspace.restore(),
  () => workspace.export(),
  () => agent.export(),
  () => first(workspace.audit()),
  () => workspace.counts(),
  () => agent.counts(),
  () => first(workspace.messages({ unread: true })),
  () => workspace.members.list(),
  () => workspace.members.updateOwn({ approvalMails: true }),
  () => workspace.members.changeRole('x', 'owner'),
  () => workspace.members.remove('x'),
  () => workspace.connectedApps.list(),
  () => workspace.connectedApps.disconnect('x'),
  () => workspace.invitations.list(),
  () => workspace.invitations.create({ email: 'a@example.com' }),
  () => workspace.invitations.revoke('x'),
  () => workspace.tokens.list(),
  () => workspace.tokens.create({ name: 'x' }),
  () => workspace.tokens.revoke('x'),
  () => workspace.identities.list(),
  () => workspace.identities.claim({ channel: 'sms', value: '+15551234567' }),
  () => workspace.identities.verify({ channel: 'sms', code: '123456' }),
  () => workspace.identities.linkTelegram(),
  () => workspace.identities.remove('sms', '+15551234567'),
  () => workspace.phoneNumbers.list(),
  () => workspace.phoneNumbers.search({ country: 'US' }),
  () => workspace.phoneNumbers.buy('+15551234567'),
  () => workspace.phoneNumbers.release('x'),
  () => workspace.domains.list(),
  () => workspace.domains.add('example.com'),
  () => workspace.domains.read('x'),
  () => workspace.domains.verify('x'),
  () => workspace.domains.update('x', { catchAllAgentId: null }),
  () => workspace.domains.remove('x'),
  () => workspace.agents.list().page(),
  () => workspace.agents.create({ name: 'Bot', icon: 'bot' }),
  () => agent.read(),
  () => agent.update({ name: 'Bot' }),
  () => agent.delete(),
  () => agent.addresses.list(),
  () => agent.addresses.change('x', { value: 'a@example.com' }),
  () => agent.addresses.remove('x'),
  () => agent.addresses.setUp('telegram'),
  () => agent.ask('x', { options: ['a', 'b'], seconds: 0 }),
  () => first(agent.questions.list({ status: 'open' })),
  () => agent.questions.read('x', { seconds: 0 }),
  () => agent.questions.answer('x', 'y'),
  () => agent.questions.withdraw('x'),
  () => agent.code({ from: 'github.com', seconds: 0 }),
  () => agent.access.read(),
  () => agent.access.set('email', { senders: [] }),
  () => agent.access.allow('email', 'a@example.com'),
  () => agent.access.disallow('email', 'a@example.com'),
  () => agent.access.block('email', 'a@example.com'),
  () => agent.access.unblock('email', 'a@example.com'),
  () => agent.tokens.list(),
  () => agent.tokens.create({ name: 'x' }),
  () => agent.tokens.revoke('x'),
  () => agent.listeners(),
  () => first(agent.log()),
  () => first(agent.events({ after: 0 })), // connects, and opens the stream
  () => agent.send({ channel: 'email', to: ['a@example.com'], text: 'x' }),
  () => first(agent.list()),
  () => agent.mark(['x'], { addLabels: ['a'] }),
  () => agent.release(['x']),
  () => agent.import('Subject: x\n\nx', { type: 'message/rfc822' }),
  () => agent.deleteMessages(['x']),
  async () => {
    const message = await agent.message('m')
    await message.recipients()
    await message.mark({ read: true })
    await message.release({ listSender: true })
    await message.approve({ text: 'x' })
    await message.reject('no')
    await message.cancel()
    await message.unsubscribe()
    await message.delete()
    await message.raw()
    await message.html()
    await message.headers()
    await message.hiddenText()
    await message.htmlLink()
    await message.rawLink()
    await message.attachments[0]?.open()
    await message.attachments[0]?.link()
    await message.attachment(0).text()
  },
  () => first(agent.suppressions.list()),
  () => agent.suppressions.remove('a@example.com'),
  () => first(agent.drafts.list()),
  () => agent.drafts.create({ text: 'x' }),
  () => agent.drafts.read('x'),
  () => agent.drafts.update('x', { text: null }),
  () => agent.drafts.delete('x'),
  () => agent.drafts.send('x'),
  () => first(agent.threads.list({ state: 'open' })),
  () => agent.threads.read('x'),
  () => agent.threads.transcript('x', { tokens: 500 }),
  () => agent.threads.update('x', { done: true }),
  () => agent.threads.updateMany(['x'], { snoozedUntil: null }),
  () => agent.threads.notes('x'),
  () => agent.threads.addNote('x', 'hi'),
  () => agent.threads.deleteNote('x', 'y'),
  () => agent.secrets.list(),
  () => agent.secrets.reveal(),
  () => agent.secrets.set('A', 'x'),
  () => agent.secrets.delete('A'),
  () => agent.sendToUrl('x', 'hi'),
  () => agent.sendToUrl('http://x.example/a/x', 'hi'),
  () => agent.webhooks.list(),
  () => agent.webhooks.add('https://x.example'),
  () => agent.webhooks.update('x', { paused: true }),
  () => agent.webhooks.remove('x'),
  () => agent.webhooks.delivery('x', 'y'),
  () => agent.webhooks.resendGivenUp('x', new Date()),
  () => first(agent.webhooks.deliveries('x')),
  () => agent.webhooks.rotate('x'),
  () => agent.webhooks.test('x'),
  () => agent.webhooks.resend('x', 'y'),
  () => agent.webhooks.unblock('x', 'y', { skip: true }),
  () => agent.webhooks.replay('x', { after: 1 }),
]

const operations = operationsOf(printedDocument())
const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
/** The more literal path wins: /members/invitations is no member. */
const operationOf = (method: string, path: string): string | undefined =>
  operations
    .filter((one) => one.method === method && patternOf(one.path).test(path))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]?.operation.operationId

/** Fits whatever reads it. */
const ANSWER = { id: 'x', items: [], nextCursor: null, attachments: [{ name: 'a', type: 't', size: 1 }] }

test('every operation of the API is reached by a function of the package', async () => {
  const called = new Set<string>()
  const fetch = async (url: URL | RequestInfo, init: RequestInit = {}) => {
    const { pathname } = new URL(String(url))
    const id = operationOf((init.method ?? 'GET').toLowerCase(), pathname)
    expect(id, `${init.method} ${pathname}`).toBeDefined()
    called.add(String(id))
    if (id === 'streamEvents') return new Response(null, { status: 204 })
    return new Response(JSON.stringify(ANSWER), { status: 200 })
  }
  const options = { url: 'http://x.example', token: 't', fetch: fetch as typeof globalThis.fetch }
  const workspace = new Workspace(options)
  for (const call of everything(workspace, workspace.agent('x'))) await call()
  const missing = operations
    .map(({ operation }) => operation.operationId)
    .filter((id) => !called.has(String(id)))
  expect(missing).toEqual([])
})

test('bodies, parameters and answers have the types of the API', () => {
  const check = async (workspace: Workspace, agent: Agent) => {
    // @ts-expect-error: there is no such icon
    await workspace.agents.create({ name: 'Bot', icon: 'unicorn' })
    // @ts-expect-error: the text is missing
    await agent.send({ channel: 'email', to: ['a@example.com'] })
    // @ts-expect-error: there is no such channel
    await agent.access.set('fax', { senders: [] })
    const { status } = await agent.message('x')
    // @ts-expect-error: there is no such status
    return status === 'lost'
  }
  expect(check).toBeTypeOf('function') // the compiler does the rest
})
