import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
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
import { expectAccessible, openApp, originOf, untilLive } from '../support/dashboard.ts'
import { deliver } from '../support/mail.ts'
import { apiOf, createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

/** From an empty workspace to an answered mail, in a real browser. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  browser = await startBrowser()
})

const BUILT = join(import.meta.dirname, '..', '..', 'dist', 'dashboard', 'assets')

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

const mailTo = (address: string, subject: string, text = 'It has not arrived yet.') =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: 'Ann Example <ann@example.com>',
    to: address,
    subject,
    text,
  })

/** Bytes of everything that the page has loaded so far, compressed with gzip. */
const firstLoad = async (page: Page): Promise<number> => {
  const urls = await page.evaluate<string[]>(
    'performance.getEntriesByType("resource").map(({ name }) => name)',
  )
  const assets = urls.filter((url) => url.includes('/app/assets/')).map((url) => basename(url))
  expect(assets.some((name) => name.endsWith('.js'))).toBe(true)
  return assets.reduce((sum, name) => sum + statSync(join(BUILT, `${name}.gz`)).size, 0)
}

browserTest('an agent is made, and the first mail to it appears while one looks', async () => {
  const page = await openApp(await browser.page(), service, owner)
  await untilLive(page)
  await page.getByText('Create your first agent').waitFor()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await expectAccessible(page)
  await picture(page, 'first-agent')
  await button(page, 'New agent').press('Enter')
  await page.getByRole('dialog').waitFor()
  // The dialog has the focus in the field.
  await page.keyboard.type('Support')
  await page.getByLabel('headphones').check({ force: true })
  await expectAccessible(page)
  await picture(page, 'new-agent')
  await button(page, 'Create agent').click()

  await page.getByRole('heading', { name: 'Support', level: 1 }).waitFor()
  const address = (await page.locator('.address code').textContent()) ?? ''
  expect(address).toMatch(/@/)
  await expect
    .poll(() => page.locator('.snippet pre').first().textContent())
    .toContain(`smtp://${service.smtp.host}:${service.smtp.port}`)
  await page.getByText('Latest messages').waitFor()
  await expectAccessible(page)
  await picture(page, 'overview-empty')

  await mailTo(address, 'Too early')
  await page.getByText('Too early').waitFor()
  await page.getByText('Refused', { exact: true }).waitFor()
  await button(page, 'Let anyone write to it').click()
  await page.getByText('Anyone may write to it.').waitFor()
  await mailTo(address, 'Where is my order?')
  await page.getByText('Where is my order?').first().waitFor()
  await picture(page, 'overview-arrived')

  await page.getByRole('link', { name: 'Open its inbox' }).click()
  await page.getByRole('link', { name: /Where is my order/ }).click()
  await page.getByRole('article').getByText('It has not arrived yet.').waitFor()
  await expectAccessible(page)
  await picture(page, 'thread')
  await page.keyboard.press('r')
  await page.keyboard.type('It is out for delivery today.')
  await page.keyboard.press('Control+Enter')
  await page.getByText('The message is on its way.').waitFor()
  await page.locator('.message.outbound', { hasText: 'It is out for delivery today.' }).waitFor()
  await picture(page, 'answered')
  expect(errorsOf(page)).toEqual([])
})

browserTest('an agent is connected: a token is made, and its first use is seen', async () => {
  const agent = await createTestAgent(service, owner, 'Helper')
  const page = await openApp(await browser.page(), service, owner, `/app/agents/${agent.id}`)
  await untilLive(page)
  const panel = page.getByRole('region', { name: 'Connect your agent' })
  const code = () => panel.locator('.snippet pre').textContent()
  for (const host of ['Claude Code', 'Codex', 'Cursor', 'ChatGPT', 'curl', 'JavaScript'])
    await panel.getByRole('radio', { name: host }).waitFor({ state: 'attached' })
  await panel.getByRole('radio', { name: 'Claude Code' }).press('ArrowRight')
  await expect.poll(code).toContain('[mcp_servers.inbox]')
  await button(page, 'Create a token and fill it in').press('Enter')
  await panel.getByText('The token is shown only now').waitFor()
  await panel.getByText('Waiting for it to connect.').waitFor()
  await expectAccessible(page)
  await picture(page, 'connect-waiting')
  const token = /AMS_TOKEN=(\S+)/.exec((await code()) ?? '')?.[1] ?? ''
  for (const host of ['Cursor', 'curl', 'JavaScript']) {
    await panel.getByRole('radio', { name: host }).press('Space')
    await expect.poll(code).toContain(token)
  }
  await apiOf(service.http, token)('GET', `/agents/${agent.id}/messages`)
  await panel.getByText('It is connected').waitFor()
  await picture(page, 'connect-connected')
  await panel.getByRole('radio', { name: 'ChatGPT' }).press('Space')
  await expect.poll(code).toBe(`${originOf(service)}/mcp`)
  await panel.getByText('ChatGPT must be able to reach this service').waitFor()
  expect(await button(page, 'Create a token and fill it in').count()).toBe(0)
  await page.setViewportSize({ width: 390, height: 844 })
  await expectNarrow(page)
  await picture(page, 'connect-phone')
  expect(errorsOf(page)).toEqual([])
})

browserTest('every page can be opened by its address, on a phone and in the dark', async () => {
  const agent = await createTestAgent(service, owner)
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await mailTo(agent.address, 'Deep link')
  const phone = await browser.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  const page = await openApp(phone, service, owner, `/app/inbox?agent=${agent.id}`)
  await page.getByText('Deep link').waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-inbox')
  expect(await firstLoad(page)).toBeLessThanOrEqual(150 * 1024)
  await page.getByText('Deep link').click()
  await page.getByRole('article').getByText('It has not arrived yet.').waitFor()
  const address = page.url()
  await page.goto(address)
  await page.getByRole('article').getByText('It has not arrived yet.').waitFor()
  await expectNarrow(page)
  await picture(page, 'phone-thread')
  await page.goto(`${originOf(service)}/app/agents`)
  await page.getByRole('link', { name: 'Support Bot' }).waitFor()
  await expectNarrow(page)
  await picture(page, 'phone-agents')
  await button(page, 'Open the menu').click()
  await picture(page, 'phone-menu')
  await page.goto(`${originOf(service)}/app/nowhere/at/all`)
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  expect(errorsOf(page)).toEqual([])
})
