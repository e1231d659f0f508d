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
import { expectAccessible, openApp } from '../support/dashboard.ts'
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

const sendHeld = async (text: string): Promise<string> => {
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  const message = { channel: 'email', to: ['ann@example.com'], subject: 'Refund', text }
  return (await agent.api('POST', `/agents/${agent.id}/messages`, message)).body.id
}

browserTest('a held message is approved, edited or rejected', async () => {
  const edited = await sendHeld('You get 100 EUR back.')
  const rejected = await sendHeld('You get nothing.')
  const page = await openApp(await browser.page(), service, owner, '/app/waiting')
  await page.getByText('You get nothing.').waitFor()
  await expectAccessible(page)
  await picture(page, 'waiting')
  const first = page.locator('.held', { hasText: 'You get 100 EUR back.' })
  await first.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Text').fill('You get 10 EUR back.')
  await expectAccessible(page)
  await button(page, 'Approve as edited').click()
  await first.waitFor({ state: 'detached' })
  await expect.poll(async () => (await statusOf(edited)).status).toBe('sent')
  expect((await statusOf(edited)).text).toBe('You get 10 EUR back.')
  await page.locator('.held').getByRole('button', { name: 'Reject' }).click()
  await page.getByLabel('Reason').fill('Be kind.')
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await page.getByText('No message is waiting for approval.').waitFor()
  expect(await statusOf(rejected)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('Be kind.'),
  })
  expect(errorsOf(page)).toEqual([])
})

browserTest('refused messages are let in, one and many, their sender listed or blocked', async () => {
  const mail = (subject: string) =>
    receive(service, agent, { from: 'stranger@example.com', to: agent.address, subject, text: 'Hello' })
  const ids = [(await mail('One')).id, (await mail('Two')).id, (await mail('Three')).id]
  const page = await openApp(await browser.page(PHONE), service, owner, '/app/waiting')
  await page.getByText('Three').waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-waiting')
  const row = (subject: string) => page.locator('.refused', { hasText: subject })
  await row('One').getByRole('button', { name: 'Always let in' }).click()
  await row('One').waitFor({ state: 'detached' })
  expect((await owner.api('GET', `/agents/${agent.id}/access`)).body.email.senders).toContain(
    'stranger@example.com',
  )
  await row('Two').getByRole('checkbox').check()
  await row('Three').getByRole('checkbox').check()
  await button(page, 'Let in 2').click()
  await page.getByText('No message was refused recently.').waitFor()
  for (const id of ids) expect((await statusOf(id)).status).toBe('received')
  expect(errorsOf(page)).toEqual([])
})

browserTest('a webhook is added, tested, looked at, paused, sent again and removed', async () => {
  const page = await openApp(await browser.page(), service, owner, `/app/agents/${agent.id}/webhooks`)
  await page.getByText('No webhooks').waitFor()
  await button(page, 'Add a webhook').click()
  await page.getByLabel('URL').fill(receiver.url)
  await page.getByLabel('Name').fill('Shop')
  await expectAccessible(page)
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
  await button(page, 'Pause').click()
  await page.getByText('Paused').waitFor()
  await button(page, 'Resume').click()
  await button(page, 'More for this webhook').click()
  await button(page, 'Remove').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No webhooks').waitFor()
  expect(errorsOf(page)).toEqual([])
})
