import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { expectAccessible, openApp, untilLive } from '../support/dashboard.ts'
import { receive } from '../support/letter.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** What members decide in the web application: approvals, refused messages, and what webhooks are sent again. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: TestBrowser
const receiver = await createReceiver()
beforeAll(async () => {
  service = await startService({ environment: { WEBHOOK_ALLOW: '127.0.0.1' } })
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner)
  browser = await startBrowser()
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
const statusOf = async (id: string) => (await owner.api('GET', `/agents/${agent.id}/messages/${id}`)).body

const sendHeld = async (subject: string, text: string, html?: string): Promise<string> => {
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'strangers' })
  const message = { channel: 'email', to: ['ann@example.com'], subject, text, ...(html ? { html } : {}) }
  return (await agent.api('POST', `/agents/${agent.id}/messages`, message)).body.id
}

/** The subject of the line that has the focus. */
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.querySelector("strong")?.textContent')
const shown = (page: Page, subject: string) => page.getByRole('article', { name: subject })

browserTest(
  'held messages are read, edited, approved and rejected one after the other, by keyboard',
  async () => {
    const ids = [
      await sendHeld('Third', 'You get nothing.'),
      await sendHeld('Second', 'You get 100 EUR back.'),
      await sendHeld('First', 'Hello Ann', '<p>Hello <b>Ann</b></p>'),
    ]
    const page = await openApp(await browser.page(), service, owner, '/app/waiting')
    const first = shown(page, 'First')
    await first.getByText('ann@example.com has never written to').waitFor()
    await first.getByText('It is the first message of its thread.').waitFor()
    await page.frameLocator('.held iframe').getByText('Hello Ann').waitFor()
    await expectAccessible(page)
    await picture(page, 'waiting')
    await page.keyboard.press('a')
    await page.getByText('Approved: it is on its way.').waitFor()
    // The next one is there at once, and where the keys go.
    await shown(page, 'Second').getByText('You get 100 EUR back.').waitFor()
    expect(await focused(page)).toBe('Second')
    await page.keyboard.press('e')
    await page.getByLabel('Text').fill('You get 10 EUR back.')
    await expectAccessible(page)
    await button(page, 'Approve as edited').click()
    await shown(page, 'Third').getByText('You get nothing.').waitFor()
    await expect.poll(() => focused(page)).toBe('Third')
    await expect.poll(async () => (await statusOf(ids[1]!)).status).toBe('sent')
    expect((await statusOf(ids[1]!)).text).toBe('You get 10 EUR back.')
    await page.keyboard.press('r')
    await page.keyboard.type('Be kind.')
    await page.keyboard.press('Enter')
    await page.getByText('No message is waiting for approval.').waitFor()
    expect(await statusOf(ids[0]!)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('Be kind.'),
    })
    // What was decided stays in its place.
    await page.keyboard.press('k')
    await shown(page, 'Second').getByText('Approved by').waitFor()
    await expectAccessible(page)
    await picture(page, 'waiting-decided')
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('what arrives and what others decide moves nothing in the queue', async () => {
  const ids = [await sendHeld('Older', 'One'), await sendHeld('Newer', 'Two')]
  const page = await openApp(await browser.page(), service, owner, '/app/waiting')
  await shown(page, 'Newer').waitFor()
  await page.keyboard.press('j')
  await shown(page, 'Older').waitFor()
  await untilLive(page)
  await sendHeld('Arrived', 'Three')
  const lines = page.locator('.queue-line strong')
  await expect.poll(() => lines.allTextContents()).toEqual(['Newer', 'Older', 'Arrived'])
  await owner.api('POST', `/agents/${agent.id}/messages/${ids[0]}/approve`)
  await shown(page, 'Older').getByText('Approved by').waitFor()
  expect(await shown(page, 'Older').getByRole('button', { name: 'Approve' }).count()).toBe(0)
  expect(await lines.allTextContents()).toEqual(['Newer', 'Older', 'Arrived'])
  expect(await focused(page)).toBe('Older')
  // The others are decided at once, by keyboard.
  await page.keyboard.press('k')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await button(page, 'Approve 2').waitFor()
  await page.keyboard.press('A')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Newer').waitFor()
  await dialog.getByText('Arrived').waitFor()
  await expectAccessible(page)
  await picture(page, 'waiting-bulk')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('2 messages were approved.').waitFor()
  await page.getByText('No message is waiting for approval.').waitFor()
  await expect.poll(async () => (await statusOf(ids[1]!)).status).toBe('sent')
  expect(errorsOf(page)).toEqual([])
})

browserTest('refused messages are let in, one and many, their sender listed or blocked', async () => {
  const mail = (subject: string) =>
    receive(service, agent, { from: 'stranger@example.com', to: agent.address, subject, text: 'Hello' })
  const ids = [(await mail('One')).id, (await mail('Two')).id, (await mail('Three')).id]
  const page = await openApp(await browser.page(PHONE), service, owner, '/app/waiting/refused')
  await page.getByText('Three').waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-waiting')
  const row = (subject: string) => page.locator('.refused', { hasText: subject })
  await row('One').getByRole('button', { name: 'Always let in' }).click()
  await row('One').waitFor({ state: 'detached' })
  // It was not proven, and would be refused again.
  await page.getByText('The message was let in. The sender is listed now, but later mail').waitFor()
  expect((await owner.api('GET', `/agents/${agent.id}/access`)).body.email.senders).toContain(
    'stranger@example.com',
  )
  await page.keyboard.press('* a'[0]!)
  await page.keyboard.press('a')
  await button(page, 'Let in 2').click()
  await page.getByText('No message was refused recently.').waitFor()
  for (const id of ids) expect((await statusOf(id)).status).toBe('received')
  expect(errorsOf(page)).toEqual([])
})

browserTest('refused messages are let in by keyboard, each where the focus is', async () => {
  const mail = async (from: string, subject: string) =>
    (await receive(service, agent, { from, to: agent.address, subject, text: 'Hello' })).id
  const [third, second, first] = [
    await mail('third@example.com', 'Third'),
    await mail('אבי <second@example.com>', 'Second'),
    await mail('first@example.com', 'First'),
  ]
  const page = await openApp(await browser.page(), service, owner, '/app/waiting/refused')
  const row = (subject: string) => page.locator('.refused', { hasText: subject })
  // Who writes from right to left stands below the subject as well.
  const left = async (words: string) =>
    (await row('Second').getByText(words, { exact: true }).boundingBox())!.x
  expect(await left('אבי <second@example.com>')).toBe(await left('Second'))
  await page.keyboard.press('j')
  await page.locator('.refused.current', { hasText: 'First' }).waitFor()
  // With Tab, over the buttons of the first.
  await row('Third').getByRole('checkbox').focus()
  await page.keyboard.press('A')
  await row('Third').waitFor({ state: 'detached' })
  expect((await statusOf(third!)).status).toBe('received')
  expect((await statusOf(first!)).status).toBe('refused')
  await page.keyboard.press('k')
  await page.keyboard.press('a')
  await expect.poll(async () => (await statusOf(first!)).status).toBe('received')
  expect((await statusOf(second!)).status).toBe('refused')
  expect(errorsOf(page)).toEqual([])
})

browserTest('a webhook is added, tested, looked at, paused, sent again and removed', async () => {
  const page = await openApp(await browser.page(), service, owner, `/app/agents/${agent.id}/webhooks`)
  await page.getByText('No webhooks').waitFor()
  await button(page, 'Add a webhook').click()
  await page.getByLabel('URL').fill(receiver.url)
  await page.getByLabel('Name', { exact: true }).fill('Shop')
  await page.getByText('Headers and body').click()
  await page.getByLabel('Headers', { exact: true }).fill('Authorization: Bearer 0123456789abcd')
  await page.getByLabel('Body', { exact: true }).fill('{"from": "{{data.nobody}}"}')
  await expectAccessible(page)
  await button(page, 'Add').click()
  await page.getByText('`{{data.nobody}}` names no value of an event').waitFor()
  await page.getByLabel('Body', { exact: true }).fill('{"from": "{{data.from}}"}')
  await picture(page, 'webhook-format')
  await button(page, 'Add').click()
  expect(await page.locator('dialog .copyable code').textContent()).toMatch(/^whsec_/)
  await picture(page, 'webhook-secret')
  await button(page, 'Done').click()
  await button(page, 'Send a test').click()
  await page.getByRole('cell', { name: 'Delivered' }).waitFor()
  await expectAccessible(page)
  await picture(page, 'webhooks')
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await receive(service, agent, { from: 'ann@example.com', to: agent.address, subject: 'Hi', text: 'Hello' })
  await button(page, 'Send a test').click()
  const delivered = page.getByRole('cell', { name: 'Delivered' })
  await expect.poll(() => delivered.count()).toBe(3)
  await page.getByRole('button', { name: 'Show the delivery of evt' }).click()
  await page.getByRole('heading', { name: 'Request' }).waitFor()
  await expectAccessible(page)
  await picture(page, 'delivery')
  await button(page, 'Send again').click()
  await expect.poll(() => delivered.count()).toBe(4)
  await button(page, 'More for this webhook').click()
  await button(page, 'Headers and body').click()
  const headers = page.getByLabel('Headers', { exact: true })
  expect(await headers.inputValue()).toBe('Authorization: …abcd')
  await headers.fill('Authorization: …abcd\nno colon')
  await button(page, 'Save').click()
  await page.getByText('Each line must be a name, a colon and a value.').waitFor()
  await headers.fill('Authorization: …abcd\nX-Shop: an own value')
  await expectAccessible(page)
  await button(page, 'Save').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await agent.api('GET', `/agents/${agent.id}/webhooks`)).body[0]).toMatchObject({
    headers: { Authorization: '…abcd', 'X-Shop': '…alue' },
    body: { from: '{{data.from}}' },
  })
  await button(page, 'Pause').click()
  await page.getByText('Paused').waitFor()
  await button(page, 'Resume').click()
  await button(page, 'More for this webhook').click()
  await button(page, 'Remove').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No webhooks').waitFor()
  expect(errorsOf(page)).toEqual([])
})
