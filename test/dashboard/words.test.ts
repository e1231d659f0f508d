import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { browserTest, errorsOf, startBrowser, type TestBrowser } from '../support/browser.ts'
import { openApp } from '../support/dashboard.ts'
import { startService, type Tenant, type TestService } from '../support/service.ts'

/** The language of the web application. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  browser = await startBrowser()
})

const languageOf = (page: Page) => page.evaluate<string>('document.documentElement.lang')

/** The files of the application that a page has loaded. */
const loaded = (page: Page) =>
  page.evaluate<string>('performance.getEntriesByType("resource").map(({ name }) => name).join("\\n")')

browserTest('the language is that of the browser until a member chooses another one', async () => {
  const page = await openApp(await browser.page({ locale: 'de-AT' }), service, owner, '/app/agents')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await languageOf(page)).toBe('de')
  expect(await loaded(page)).toMatch(/\/german-/)
  await page.locator('.sidebar-foot button').first().press('Enter')
  await page.getByRole('radio', { name: 'English' }).press('Space')
  await expect.poll(() => languageOf(page)).toBe('en')
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  expect(await loaded(page)).not.toMatch(/\/german-/)
  expect(errorsOf(page)).toEqual([])
})

browserTest('words in English need no other file', async () => {
  const page = await openApp(await browser.page({ locale: 'fr-FR' }), service, owner, '/app/agents')
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  expect(await languageOf(page)).toBe('en')
  expect(await loaded(page)).not.toMatch(/\/german-/)
  expect(errorsOf(page)).toEqual([])
})
