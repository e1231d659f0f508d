import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { openCommands } from '../support/commands.ts'
import { expectAccessible, openApp, untilLive } from '../support/dashboard.ts'
import { post, receive } from '../support/letter.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** What members see of all agents at once: what needs them, and whether webhooks and mail arrive. */

let service: TestService
let owner: Tenant
let calm: TestAgent
let busy: TestAgent
let stuck: TestAgent
let browser: TestBrowser
const receiver = await createReceiver()
beforeAll(async () => {
  service = await startService({ environment: { WEBHOOK_ALLOW: '127.0.0.1' } })
  owner = await service.workspace('Acme')
  calm = await createTestAgent(service, owner, 'Calm')
  busy = await createTestAgent(service, owner, 'Busy')
  stuck = await createTestAgent(service, owner, 'Stuck')
  browser = await startBrowser()
})

const DARK_PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const mailTo = (agent: TestAgent, subject: string) =>
  receive(service, agent, { from: 'ann@example.com', to: agent.address, subject, text: 'Hello' })
const names = (page: Page) => page.locator('.fleet-name').allTextContents()
const lineOf = (page: Page, agent: string) => page.getByRole('row', { name: agent })

browserTest('the first page lists what needs a person first, and leads to where it is done', async () => {
  await owner.api('PATCH', `/agents/${busy.id}`, { approval: 'all' })
  const held = { channel: 'email', to: ['ann@example.com'], subject: 'Refund', text: 'Hi' }
  await busy.api('POST', `/agents/${busy.id}/messages`, held)
  await mailTo(busy, 'Refused')
  await owner.api('PUT', `/agents/${stuck.id}/access/email`, { admit: 'anyone', senders: [] })
  await mailTo(stuck, 'One')
  const page = await openApp(await browser.page(), service, owner)
  await lineOf(page, 'Stuck').getByText('One message that no program has received').waitFor()
  expect(await names(page)).toEqual(['Stuck', 'Busy', 'Calm'])
  await lineOf(page, 'Calm').getByText('No program is connected yet').waitFor()
  await lineOf(page, 'Busy').getByText('One refused message').waitFor()
  await lineOf(page, 'Stuck')
    .getByRole('img', { name: /^1 message in 24 hours/ })
    .waitFor()
  await page.getByText('An agent does not listen and has missed one message.').waitFor()
  await expectAccessible(page)
  await picture(page, 'home')
  expect(await page.title()).toBe('(1) Home · Acme')
  await page.getByRole('link', { name: 'Waiting for you 1 to decide' }).waitFor()
  // The lines keep their places under the pointer.
  await untilLive(page)
  await page.getByRole('table').hover()
  await owner.api('PUT', `/agents/${calm.id}/access/email`, { admit: 'anyone', senders: [] })
  await mailTo(calm, 'One')
  await mailTo(calm, 'Two')
  await lineOf(page, 'Calm').getByText('2 messages that no program has received').waitFor()
  expect(await names(page)).toEqual(['Stuck', 'Busy', 'Calm'])
  await page.mouse.move(0, 0)
  await expect.poll(() => names(page)).toEqual(['Calm', 'Stuck', 'Busy'])
  await page.getByRole('link', { name: 'One message waits for your approval.' }).click()
  await page.getByRole('article', { name: 'Refund' }).waitFor()
  await page.keyboard.press('a')
  await page.getByText('No message is waiting for approval.').waitFor()
  await expect.poll(() => page.title()).toBe('Waiting for you · Acme')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  expect(errorsOf(page)).toEqual([])
})

/** Lets the page see other numbers in these fields. */
const pretend = (page: Page, counts: Record<string, number>) =>
  page.route('**/graphql', async (route) => {
    if (route.request().headers().accept?.includes('event-stream')) return route.continue()
    const response = await route.fetch()
    const fields = new RegExp(`("(${Object.keys(counts).join('|')})":(?:\\[[\\d,]*)?)\\d+`, 'g')
    const body = (await response.text()).replace(fields, (_, before, field) => `${before}${counts[field]}`)
    return route.fulfill({ response, body })
  })

/** On how many lines the text of an element stands. */
const linesOf = (element: Locator) =>
  element.evaluate((node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    return range.getClientRects().length
  })

browserTest('counts that end at a limit say so', async () => {
  const page = await browser.page()
  await pretend(page, { unheardCount: 100, unreadCount: 1_000, activity: 200 })
  await openApp(page, service, owner)
  const line = lineOf(page, 'Calm')
  await line.getByText('100+ messages that no program has received').waitFor()
  await line.getByText('1,000+ unread').waitFor()
  await line.getByRole('img', { name: /^2\d\d\+ messages in 24 hours, most \(200\+\)/ }).waitFor()
  await page.getByText('3 agents do not listen and have missed 300+ messages.').waitFor()
  expect(await linesOf(line.locator('.sparkline > span'))).toBe(1)
})

browserTest('a number stays on one line on a phone', async () => {
  const page = await browser.page({ ...DARK_PHONE, locale: 'de-DE' })
  await pretend(page, { unreadCount: 260 })
  await openApp(page, service, owner, '/app/agents')
  const cell = page.getByRole('cell', { name: '260' }).first()
  await cell.waitFor()
  expect(await linesOf(cell)).toBe(1)
})

browserTest('a webhook that stands still shows what was answered, and goes on after a skip', async () => {
  receiver.always('/hook', (res, { body }) =>
    body.includes('Poison') ? res.writeHead(500).end('no such column') : res.writeHead(204).end(),
  )
  const hook = { url: `${receiver.url}/hook`, name: 'Shop' }
  await owner.api('POST', `/agents/${stuck.id}/webhooks`, hook)
  await owner.api('POST', `/agents/${calm.id}/webhooks`, { url: `${receiver.url}/fine`, name: 'Fine' })
  await mailTo(stuck, 'Poison')
  await receiver.got('/hook', 1)
  await mailTo(stuck, 'Next')
  const page = await openApp(await browser.page(), service, owner, '/app/health')
  const stands = page.getByRole('region', { name: 'The delivery that the others wait for' })
  await stands.getByText('no such column').waitFor()
  await page.getByText(/^failing since \d+:\d\d/).waitFor()
  await expectAccessible(page)
  await picture(page, 'health')
  await page.goto(page.url().replace('/health', `/agents/${stuck.id}/webhooks`))
  await stands.getByText('no such column').waitFor()
  await expectAccessible(page)
  await picture(page, 'webhook-blocked')
  await stands.getByRole('button', { name: 'Try again now' }).click()
  await page.getByText('It is sent again now.').waitFor()
  await stands.getByRole('button', { name: 'Skip it' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Skip it' }).click()
  await stands.waitFor({ state: 'detached' })
  const received = () => receiver.received.filter(({ path }) => path === '/hook').at(-1)?.body
  await expect.poll(received).toContain('Next')
  // Both webhooks get what they missed.
  await page.goto(page.url().replace(`/agents/${stuck.id}/webhooks`, '/health'))
  await page.getByRole('checkbox', { name: 'All' }).check()
  await button(page, 'Send events again (2)').click()
  await expectAccessible(page)
  await picture(page, 'health-replay')
  await button(page, 'Send events again').click()
  await page.getByText(/^\d+ events are sent again/).waitFor()
  await receiver.got('/fine', 2)
  expect(errorsOf(page)).toEqual([])
})

browserTest('what happened to a message is shown by its Message-ID, from the menu of commands', async () => {
  const messageId = '<order-17@shop.example>'
  await owner.api('PUT', `/agents/${calm.id}/access/email`, { admit: 'list', senders: [] })
  const hidden = { from: 'mallory@example.com', to: calm.address, messageId, text: 'The secret is 4711.' }
  await post(service, hidden)
  const page = await openApp(await browser.page(), service, owner)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await openCommands(page)
  await page.keyboard.type(messageId)
  await page.getByRole('option', { name: `What happened: ${messageId}` }).click()
  const table = page.getByRole('table', { name: 'Message from mallory@example.com to Calm' })
  const rows = table.getByRole('row')
  await table.getByRole('row', { name: /Refused.*not among those who may write/ }).waitFor()
  await table.getByRole('row', { name: /Checked.*\(SPF\).*none/ }).waitFor()
  await expectAccessible(page)
  await picture(page, 'trace-refused')
  expect(await page.locator('main').textContent()).not.toContain('4711')
  // What came in while an agent's webhook failed: in order, with its answers.
  const [message] = (await stuck.api('GET', `/agents/${stuck.id}/messages?limit=1`)).body.items
  await page.getByLabel('Message-ID, address, or id').fill(stuck.address)
  await button(page, 'Show what happened').click()
  await page.getByRole('table', { name: `${stuck.address}, an address of Stuck` }).waitFor()
  const answered = page.getByRole('row', { name: /Webhook answered.*Shop.*204/ })
  await answered.first().waitFor()
  expect(await rows.count()).toBe(0)
  await expectAccessible(page)
  await picture(page, 'trace-address')
  await page.getByRole('link', { name: 'Open the thread' }).first().click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('article').last().getByRole('button', { name: 'More', exact: true }).click()
  await button(page, 'What happened to it').click()
  await expect.poll(() => new URL(page.url()).searchParams.get('of')).toBe(message.id)
  await page.getByRole('row', { name: /Event.*message\.received/ }).waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('a request is shown with who made it, and what is not stored with where to look', async () => {
  const changed = await owner.api('PATCH', '/workspace', { keepRefusedDays: 12 })
  const id = changed.headers.get('x-request-id')
  const page = await openApp(await browser.page(DARK_PHONE), service, owner, `/app/health/trace?of=${id}`)
  await page.getByRole('row', { name: /Audit log.*changed the workspace.*keepRefusedDays 12/ }).waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-trace-request')
  await page.getByLabel('Message-ID, address, or id').fill("it's@nowhere.example")
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is stored of it').waitFor()
  await page.getByText("agent-messaging trace --log FILE 'it'\\''s@nowhere.example'").waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-trace-nothing')
  expect(errorsOf(page)).toEqual([])
})

browserTest('bounces are shown by domain, and captured mail is called so', async () => {
  const [{ id }] = (await busy.api('GET', `/agents/${busy.id}/messages?direction=outbound`)).body.items
  await service.db.prisma.recipient.updateMany({
    where: { messageId: id },
    data: { status: 'failed', detail: '550 5.1.1 The mailbox does not exist' },
  })
  await service.db.prisma.message.updateMany({
    where: { id },
    data: { status: 'failed', error: 'It bounced.' },
  })
  const page = await openApp(await browser.page(DARK_PHONE), service, owner, '/app/health/mail')
  await page.getByText(/Nothing can bounce or be reported/).waitFor()
  await page.getByRole('row', { name: /example\.com.*1 \(100%\)/ }).waitFor()
  await page.getByText('550 5.1.1 The mailbox does not exist').waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-health-mail')
  expect(errorsOf(page)).toEqual([])
})
