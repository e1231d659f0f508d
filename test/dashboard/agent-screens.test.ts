import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
import { temporaryDir } from '../support/postgres.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** The screens of one agent: who may write to it, its tokens, secrets and settings. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: TestBrowser
beforeAll(async () => {
  // Accepts no operations but those of the application.
  const none = join(temporaryDir(), 'operations.json')
  writeFileSync(none, '{}')
  service = await startService({ environment: { PERSISTED_ONLY: none } })
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner)
  browser = await startBrowser()
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

const openTab = async (tab: string, phone = false): Promise<Page> => {
  const options = phone ? ({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const) : {}
  return openApp(await browser.page(options), service, owner, `/app/agents/${agent.id}/${tab}`)
}

const accessOf = async () => (await owner.api('GET', `/agents/${agent.id}/access`)).body

browserTest('the long URL of a webhook stays on the screen of a phone', async () => {
  const url = `https://hooks.example.com/${'c'.repeat(150)}`
  const { body } = await owner.api('POST', `/agents/${agent.id}/webhooks`, { url })
  for (const tab of ['webhooks', 'tokens']) {
    const page = await openTab(tab, true)
    const box = await page.getByText(url).first().boundingBox()
    expect(box!.x + box!.width, tab).toBeLessThanOrEqual(390)
  }
  await owner.api('DELETE', `/agents/${agent.id}/webhooks/${body.id}`)
})

browserTest('access is changed entry by entry, and what others change meanwhile stays', async () => {
  const page = await openTab('access')
  const email = page.locator('section.panel', { has: page.getByRole('heading', { name: 'Email' }) })
  await email.getByLabel('Add to the list').fill('ann@example.com')
  await owner.api('POST', `/agents/${agent.id}/access/email/senders`, { sender: 'bo@example.com' })
  await email.getByRole('button', { name: 'Add', exact: true }).click()
  await email.getByText('ann@example.com').waitFor()
  await email.getByText('bo@example.com').waitFor()
  await email.getByLabel('Block a sender').fill('not an address')
  await email.getByRole('button', { name: 'Block', exact: true }).click()
  await email.getByRole('alert').waitFor()
  await email.getByLabel('Block a sender').fill('*@spam.example')
  await email.getByRole('button', { name: 'Block', exact: true }).click()
  await email.getByText('*@spam.example').waitFor()
  await expectAccessible(page)
  await picture(page, 'access')
  await email.getByRole('button', { name: 'Remove ann@example.com' }).click()
  await page.getByText('ann@example.com was removed.').waitFor()
  await button(page, 'Undo').click()
  await email.getByText('ann@example.com').waitFor()
  await email.getByText('The team and listed senders').click()
  await expect.poll(async () => (await accessOf()).email.admit).toBe('team')
  expect((await accessOf()).email).toEqual({
    admit: 'team',
    senders: expect.arrayContaining(['ann@example.com', 'bo@example.com']),
    blocked: ['*@spam.example'],
  })
  expect(errorsOf(page)).toEqual([])
})

browserTest('a token is shown once, works, and is revoked', async () => {
  const page = await openTab('tokens')
  await button(page, 'New token').click()
  await page.getByLabel('Name').fill('production')
  await page.getByLabel('Valid for').selectOption('30')
  await expectAccessible(page)
  await button(page, 'Create token').click()
  const token = await page.locator('dialog .copyable code').textContent()
  expect(token).toMatch(/^aat_\w{43}$/)
  await picture(page, 'token')
  const me = { headers: { Authorization: `Bearer ${token}` } }
  expect((await fetch(`${service.http}/agents/${agent.id}`, me)).status).toBe(200)
  await button(page, 'Done').click()
  expect(await page.content()).not.toContain(token)
  const row = page.getByRole('row', { name: /production/ })
  await expectAccessible(page)
  await picture(page, 'tokens')
  await row.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await row.waitFor({ state: 'detached' })
  expect((await fetch(`${service.http}/agents/${agent.id}`, me)).status).toBe(401)
  expect(errorsOf(page)).toEqual([])
})

browserTest('a token is for what is chosen, and the list says so', async () => {
  for (const phone of [false, true]) {
    const page = await openTab('tokens', phone)
    const name = phone ? 'phone' : 'reader'
    await button(page, 'New token').click()
    await page.getByLabel('Name').fill(name)
    for (const scope of ['reveal secrets', 'change settings', 'manage tokens', 'send'])
      await page.getByRole('checkbox', { name: new RegExp(scope) }).uncheck()
    await expectAccessible(page)
    await picture(page, `token-scopes-${name}`)
    // By keyboard: nothing chosen cannot be created.
    for (const scope of ['read messages', 'hear of events']) {
      await page.getByRole('checkbox', { name: scope }).focus()
      await page.keyboard.press('Space')
    }
    expect(await button(page, 'Create token').isDisabled()).toBe(true)
    await page.keyboard.press('Space')
    await button(page, 'Create token').click()
    const token = await page.locator('dialog .copyable code').textContent()
    const me = { headers: { Authorization: `Bearer ${token}` } }
    expect((await fetch(`${service.http}/agents/${agent.id}/events`, me)).status).toBe(200)
    expect((await fetch(`${service.http}/agents/${agent.id}/messages`, me)).status).toBe(403)
    await button(page, 'Done').click()
    await page.getByRole('row', { name: new RegExp(`${name}.*hear of events`) }).waitFor()
    await picture(page, `tokens-${name}`)
    expect(errorsOf(page)).toEqual([])
  }
})

browserTest('a token that ends tomorrow says so', async () => {
  const tomorrow = new Date()
  tomorrow.setDate(tomorrow.getDate() + 1)
  tomorrow.setHours(1, 0, 0, 0)
  const ends = { name: 'brief', expiresAt: tomorrow.toISOString() }
  expect((await owner.api('POST', `/agents/${agent.id}/tokens`, ends)).status).toBe(201)
  const page = await openTab('tokens')
  const row = page.getByRole('row', { name: /brief/ })
  const day = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short' }).format(tomorrow)
  expect(await row.getByText(/1:00/).textContent()).toContain(day)
  expect(errorsOf(page)).toEqual([])
})

browserTest('a secret is set, replaced and deleted, and its value never comes back', async () => {
  const page = await openTab('secrets')
  const received: string[] = []
  page.on(
    'response',
    (response) =>
      void response
        .text()
        .then((body) => received.push(body))
        .catch(() => undefined),
  )
  await button(page, 'Set a secret').click()
  await page.getByLabel('Name').fill('STRIPE_KEY')
  await page.getByLabel('Value').fill('sk_live_hush')
  await expectAccessible(page)
  await button(page, 'Save').click()
  const row = page.getByRole('row', { name: /STRIPE_KEY/ })
  await row.waitFor()
  await picture(page, 'secrets')
  await row.getByRole('button', { name: 'Replace' }).click()
  await page.getByLabel('Value').fill('sk_live_other')
  await button(page, 'Save').click()
  await expect
    .poll(async () => (await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, {})).body)
    .toEqual({ STRIPE_KEY: 'sk_live_other' })
  await expectAccessible(page)
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No secrets yet').waitFor()
  expect(received.join('') + (await page.content())).not.toContain('sk_live')
  expect(errorsOf(page)).toEqual([])
})

browserTest('settings: name, rules, addresses, and deletion by typing its name', async () => {
  const page = await openTab('settings', true)
  await page.getByLabel('Name', { exact: true }).fill('Front Desk')
  await button(page, 'Save').first().click()
  await page.getByRole('heading', { name: 'Front Desk' }).waitFor()
  await page.getByLabel(/wait for a member/).selectOption('all')
  const instructors = page.getByLabel('Whose messages may instruct the agent')
  expect(await instructors.inputValue()).toBe('members')
  await instructors.selectOption('Nobody: every message is only information')
  await page.getByLabel('Messages per hour').fill('0')
  await page.getByLabel('Messages per hour').fill('20')
  await button(page, 'Save').last().click()
  const read = async () => (await owner.api('GET', `/agents/${agent.id}`)).body
  await expect
    .poll(read)
    .toMatchObject({ name: 'Front Desk', approval: 'all', instructors: 'none', wakesPerHour: 20 })
  const answers = page.getByLabel(/A question was answered/)
  expect({ on: await answers.isChecked(), fixed: await answers.isDisabled() }).toEqual({
    on: true,
    fixed: true,
  })
  await page.getByLabel(/A message was refused/).click()
  await expect.poll(read).toMatchObject({ eventTypes: ['message.received', 'message.refused'] })
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-settings')
  await button(page, 'Change').click()
  await page.getByRole('textbox', { name: 'New email address' }).fill('front.desk@agents.localhost')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('front.desk@agents.localhost').waitFor()
  await button(page, 'Add').click()
  await button(page, 'A Telegram bot').click()
  await page.getByRole('link', { name: 'Open the page' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await button(page, 'Delete agent').click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete agent' })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel('Type Front Desk to confirm').fill('Front Desk')
  await confirm.click()
  await page.getByText('Front Desk was deleted.').waitFor()
  expect((await owner.api('GET', `/agents/${agent.id}`)).status).toBe(404)
  expect(errorsOf(page)).toEqual([])
})
