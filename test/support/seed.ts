import { type Api, createTestAgent, type TestAgent } from './api.ts'
import type { Zone } from './dns.ts'
import { post } from './letter.ts'
import { dkimKey } from './mail.ts'
import type { Tenant, TestService } from './service.ts'
import { until } from './until.ts'

/** A workspace in which every screen of the web application has something to show, for tests and `npm run dev`. */

const signer = dkimKey('northwind.example')

/** The records with which mail of northwind.example is verified. */
export const NORTHWIND: Zone = {
  [signer.name]: { TXT: [signer.txt] },
  '_dmarc.northwind.example': { TXT: ['v=DMARC1; p=reject'] },
}

const DAY_MS = 86_400_000

/** The API, whose refusals are errors here. */
const strictly =
  (api: Api): Api =>
  async (method, path, body) => {
    const answer = await api(method, path, body)
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer as never
  }

/** The service whose workspace is filled. */
type Place = Pick<TestService, 'http' | 'smtp' | 'db'>
type Owner = Pick<Tenant, 'id' | 'api'>

export interface Seeded {
  support: TestAgent
  /** A thread of several messages, one of which proves its sender. */
  thread: string
}

const fillInbox = async (service: Place, agent: TestAgent): Promise<string> => {
  const anna = 'Anna Northwind <anna@northwind.example>'
  const letters = [
    { from: 'Bob Builder <bob@example.org>', subject: 'Re: the offer', text: 'Could you send it again?' },
    {
      from: 'no-reply@shop.example',
      subject: 'Your receipt',
      text: 'Thank you.',
      html: '<h1>Thank you</h1>',
    },
    { from: 'Zoë Ünal <zoe@example.net>', subject: 'Überweisung für Rechnung 2026-118', text: 'Erledigt.' },
    {
      from: anna,
      subject: 'Where is order 4711?',
      messageId: '<one@northwind.example>',
      text: 'Hello,\n\nI ordered two lamps on the 3rd, and nothing has arrived.\nCould you look into it?\n\nAnna',
      html: '<p>Hello,</p><p>I ordered <b>two lamps</b> on the 3rd.</p><img src="https://img.example/x.png">',
      attachments: [{ filename: 'order-4711.pdf', content: Buffer.alloc(48_213, 1) }],
      sign: signer,
    },
  ]
  for (const letter of letters) await post(service, { ...letter, to: agent.address })
  const [first] = (await agent.api('GET', `/agents/${agent.id}/messages?limit=1`)).body.items
  await agent.api('POST', `/agents/${agent.id}/messages`, {
    replyTo: first.id,
    text: 'Hello Anna,\n\nthe parcel left us yesterday and will be with you on Tuesday.\n\nSupport',
  })
  await agent.api('PATCH', `/agents/${agent.id}/messages/${first.id}`, { labels: ['orders'] })
  // A thread has the id of its first message.
  return first.id
}

const fillOutbox = async ({ db }: Place, owner: Owner, agent: TestAgent): Promise<void> => {
  const send = (message: object) =>
    agent.api('POST', `/agents/${agent.id}/messages`, { channel: 'email', ...message })
  const { body } = await send({
    to: ['lee@example.com'],
    subject: 'Your quote',
    text: 'Please find it below.',
  })
  // What is still queued when approval is asked for waits for it, too.
  const id: string = body.id
  await until(async () => (await db.prisma.message.findFirst({ where: { id } }))?.status === 'sent')
  await send({
    to: ['team@example.com'],
    subject: 'The weekly report',
    text: 'All is well.',
    sendAt: new Date(Date.now() + 2 * DAY_MS).toISOString(),
  })
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  await send({
    to: ['max@example.com'],
    subject: 'Refund for order 4711',
    text: 'Dear Max,\n\nyou get 100 EUR back within three days.\n\nSupport',
  })
  await owner.api('POST', `/agents/${agent.id}/drafts`, {
    to: ['kim@example.com'],
    subject: 'About next week',
    text: 'Dear Kim,',
  })
  await db.prisma.suppression.createMany({
    data: ['gone@example.com', 'full@example.org'].map((recipient) => ({
      agentId: agent.id,
      channel: 'email' as const,
      recipient,
      reason: 'bounce' as const,
      detail: '550 5.1.1 The mailbox does not exist',
    })),
  })
}

const fillCounts = async ({ db }: Place, { id }: Owner): Promise<void> => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const metrics = {
    received: 40,
    sent: 30,
    failed: 2,
    delivery_accepted: 60,
    delivery_failed: 4,
    refused_spam: 6,
  }
  await db.prisma.workspaceDay.createMany({
    data: Object.entries(metrics).flatMap(([metric, most]) =>
      Array.from({ length: 29 }, (_, n) => ({
        workspaceId: id,
        day: new Date(today - (n + 1) * DAY_MS),
        metric,
        count: Math.round(most * Math.abs(Math.sin(n * 2.1))),
      })),
    ),
  })
}

const fillSettings = async (owner: Owner, agent: TestAgent, webhook: string): Promise<void> => {
  await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: webhook, name: 'Shop' })
  await owner.api('PUT', `/agents/${agent.id}/secrets/STRIPE_KEY`, { value: 'sk_live' })
  await owner.api('PUT', `/agents/${agent.id}/secrets/CRM_PASSWORD`, { value: 'hush' })
  await owner.api('POST', '/domains', { name: 'robots.example' })
  await owner.api('POST', '/members/invitations', { email: 'bo@example.com', role: 'member' })
}

/**
 * Fills an empty workspace, whose webhook posts to `webhook`. One sender is proven if the service resolves the names of
 * NORTHWIND. Only what takes time in a real service is written into the database: the counts of past days, and addresses
 * that have bounced.
 */
export const seed = async (service: Place, tenant: Owner, webhook: string): Promise<Seeded> => {
  const owner = { ...tenant, api: strictly(tenant.api) }
  const made = await createTestAgent(service, owner, 'Support')
  const support = { ...made, api: strictly(made.api) }
  await createTestAgent(service, owner, 'Billing')
  await fillSettings(owner, support, webhook)
  const list = { admit: 'list', senders: ['*@example.com'], blocked: ['*@spam.example'] }
  await owner.api('PUT', `/agents/${support.id}/access/email`, list)
  await post(service, {
    from: 'stranger@example.net',
    to: support.address,
    subject: 'Win',
    text: 'Click here',
  })
  await owner.api('PUT', `/agents/${support.id}/access/email`, { ...list, admit: 'anyone' })
  const thread = await fillInbox(service, support)
  await fillOutbox(service, owner, support)
  await fillCounts(service, owner)
  await owner.api('PUT', `/agents/${support.id}/access/email`, list)
  return { support, thread }
}
