import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newest, receive } from '../support/letter.ts'
import { type McpClient, openMcp } from '../support/mcp.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * What agents are mostly asked to do, by a scripted model that calls what the instructions and the results name: how
 * many calls it takes, and how many tokens the results cost (four characters each).
 */

let service: SharedService
const opened: McpClient[] = []
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => Promise.all(opened.map((one) => one.close())))

describe.each(['modern', 'legacy'] as const)('a model behind a client of the %s era', (era) => {
  let tenant: Tenant
  let agent: TestAgent
  let mcp: McpClient
  let spent: { calls: number; tokens: number }
  beforeAll(async () => {
    tenant = await service.workspace(era)
  })

  const open = async (name: string) => {
    const made = await createTestAgent(service, tenant, name)
    await tenant.api('PUT', `/agents/${made.id}/access/email`, { admit: 'anyone', senders: [] })
    const client = await openMcp(service.http, made.token, era)
    opened.push(client)
    return { made, client }
  }
  const begin = async () => {
    const { made, client } = await open('Desk')
    spent = { calls: 0, tokens: 0 }
    agent = made
    mcp = client
  }
  const call = async (name: string, args: Record<string, unknown> = {}, by = mcp) => {
    const { text, result, isError } = await by.call(name, args)
    expect({ name, isError, error: result.error }).toEqual({ name, isError: false, error: undefined })
    spent.calls++
    spent.tokens += Math.ceil(text.length / 4)
    return result
  }
  const mail = (subject: string, text: string, more: object = {}) =>
    receive(service, agent, { from: 'ann@example.com', to: agent.address, subject, text, ...more })
  const noise = async (count: number) => {
    for (let n = 0; n < count; n++)
      await mail(`Newsletter ${n}`, `What is new in week ${n}: nothing that matters.`, {
        from: `n${n}@news.test`,
      })
  }
  const expectCost = (calls: number, tokens: number) => {
    expect(spent.calls).toBe(calls)
    expect(spent.tokens).toBeLessThanOrEqual(tokens)
  }
  const today = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

  test('answers a mail that arrives', async () => {
    await begin()
    const waiting = call('wait_for_messages', { seconds: 45 })
    const listeners = async () => (await tenant.api('GET', `/agents/${agent.id}/listeners`)).body
    await until(async () => (await listeners()).length > 0)
    await mail('Order 4711', 'Hello, where is my order?')
    const { events } = await waiting
    const { messageId } = events[0]
    expect((await call('read_message', { messageId })).text).toContain('where is my order?')
    await call('reply', { messageId, text: 'It arrives tomorrow.' })
    expectCost(3, 800)
  })

  test('finds the invoice of last week', async () => {
    await begin()
    await mail('Your invoice', 'Please pay 120.50 EUR to us.')
    await noise(10)
    const { messages } = await call('list_messages', { query: 'invoice', since: today() })
    expect((await call('read_message', { messageId: messages[0].messageId })).text).toContain('120.50')
    expectCost(2, 500)
  })

  test('forwards a mail', async () => {
    await begin()
    await mail('Contract', 'The contract is attached.', {
      attachments: [{ filename: 'c.txt', content: 'terms' }],
    })
    const { messages } = await call('list_messages', { query: 'contract' })
    await call('forward_message', { messageId: messages[0].messageId, to: 'bo@example.com' })
    expect((await newest(agent))[0].attachments).toMatchObject([{ name: 'c.txt' }])
    expectCost(2, 300)
  })

  test('finds a code among noise', async () => {
    await begin()
    await noise(10)
    await mail('Your code', 'Use 493027 to sign in.')
    await noise(9)
    const { previews } = await call('list_messages', {})
    expect(previews).toContain('493027')
    expectCost(1, 1_800)
  })

  test('finds a fact in a thread of fifty', async () => {
    await begin()
    const quotation = '\n\nOn Monday somebody wrote:\n> what was said before\n'.repeat(5)
    const first = await mail('Move', 'When do we move?', { messageId: '<0@example.com>' })
    for (let n = 1; n < 50; n++)
      await mail('Re: Move', `${n === 20 ? 'The lorry is number 7.' : `Thought ${n}.`}${quotation}`, {
        messageId: `<${n}@example.com>`,
        inReplyTo: `<${n - 1}@example.com>`,
      })
    const { texts } = await call('read_thread', { messageId: first.id, query: 'lorry' })
    expect(texts).toContain('The lorry is number 7.')
    await call('read_thread', { messageId: first.id })
    expectCost(2, 2_500)
  })

  test('reads a file whose type is not declared, and passes on a PDF', async () => {
    await begin()
    const contentType = 'application/octet-stream'
    const { id: messageId } = await mail('Files', 'See the files.', {
      attachments: [
        { filename: 'sum.csv', contentType, content: 'item,price\nbook,12' },
        { filename: 'a.pdf', contentType, content: '%PDF-1.4\n%%EOF' },
      ],
    })
    expect((await call('get_attachment', { messageId, attachmentId: 0 })).text).toContain('book,12')
    await call('reply', { messageId, text: 'Back to you.', files: [{ messageId, attachmentId: 1 }] })
    expect((await newest(agent))[0].attachments).toMatchObject([{ name: 'a.pdf' }])
    expectCost(2, 250)
  })

  test('finds what the service has refused', async () => {
    await begin()
    await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'list', senders: [] })
    await mail('Are you there?', 'My mails come back.', { from: 'cy@example.com' }).catch(() => undefined)
    const { messages } = await call('list_messages', { status: 'refused' })
    const read = await call('read_message', { messageId: messages[0].messageId })
    expect(read).toMatchObject({ refusal: 'sender', next: expect.stringContaining('refused') })
    expectCost(2, 500)
  })

  test('talks with another agent', async () => {
    await begin()
    const { made, client } = await open('Scout')
    await tenant.api('PUT', `/agents/${made.id}/access/url`, { admit: 'team', senders: [] })
    const { agents } = await call('whoami')
    const { messageUrl, address } = agents.find(({ name }: { name: string }) => name === 'Scout')
    const waiting = call('wait_for_messages', { seconds: 45 }, client)
    const listeners = async () => (await tenant.api('GET', `/agents/${made.id}/listeners`)).body
    await until(async () => (await listeners()).length > 0)
    await call('send_to_agent', { url: messageUrl, text: 'Is the order ready?' })
    expect((await waiting).events[0].text).toContain('Is the order ready?')
    await call('send_message', { channel: 'email', to: address, subject: 'Order', text: 'Is it ready?' })
    const heard = await call('wait_for_messages', { seconds: 45 }, client)
    expect(heard.events[0]).toMatchObject({ senderIs: 'team', from: agent.address })
    expectCost(5, 1_200)
  })

  test('sends a message later, and not after all', async () => {
    await begin()
    const sendAt = new Date(Date.now() + 86_400_000).toISOString()
    const message = { channel: 'email', to: 'bo@example.com', subject: 'Reminder', text: 'Today!', sendAt }
    const { messageId } = await call('send_message', message)
    expect(await call('update_message', { messageId, cancel: true })).toMatchObject({ cancelled: true })
    expectCost(2, 150)
  })

  test('uses a secret by its name', async () => {
    await begin()
    await tenant.api('PUT', `/agents/${agent.id}/secrets/STRIPE_KEY`, { value: 'sk_live_1' })
    expect((await call('list_secrets')).use).toContain('ams run --secrets STRIPE_KEY -- COMMAND')
    expectCost(1, 60)
  })
})
