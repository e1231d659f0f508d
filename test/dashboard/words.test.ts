import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { expectAccessible, openApp, originOf } from '../support/dashboard.ts'
import { fakeResolver } from '../support/dns.ts'
import { createReceiver } from '../support/receiver.ts'
import { NORTHWIND, type Seeded, seed } from '../support/seed.ts'
import { startService, type Tenant, type TestService } from '../support/service.ts'

/** The language of the web application. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
let seeded: Seeded
beforeAll(async () => {
  service = await startService({ world: { resolver: fakeResolver(NORTHWIND) } })
  owner = await service.workspace('Northwind', 'olivia@northwind.example')
  seeded = await seed(service, owner, (await createReceiver()).url)
  browser = await startBrowser()
})

const languageOf = (page: Page) => page.evaluate<string>('document.documentElement.lang')

const SOURCES = join(import.meta.dirname, '..', '..', 'src', 'dashboard')

test('every folder has its words in German; that none is missing is checked by their types', () => {
  const files = readdirSync(SOURCES)
    .map((folder) => join(SOURCES, folder, 'strings.ts'))
    .filter((file) => existsSync(file))
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/= words\('([^']+)'/g)].map(([, name]) => name),
  )
  expect(named.length).toBeGreaterThan(20)
  const german = readFileSync(join(SOURCES, 'german.ts'), 'utf8')
  const translated = [...german.matchAll(/^export \* from '(.+)'$/gm)].flatMap(([, file]) =>
    [...readFileSync(join(SOURCES, file!), 'utf8').matchAll(/^export const (\w+)/gm)].map(([, name]) => name),
  )
  expect(translated.sort()).toEqual(named.sort())
})

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

browserTest(
  'all screens are in German, also on a phone, with dates and numbers as they are written there',
  async () => {
    const { support, thread } = seeded
    const page = await openApp(await browser.page({ locale: 'de-DE' }), service, owner)
    const screens: [path: string, title: string | RegExp][] = [
      ['/home', 'Start'],
      ['/inbox', /Posteingang/],
      [`/inbox/${thread}`, /order 4711/],
      ['/waiting', 'Wartet auf Sie'],
      ['/compose', 'Neue Nachricht'],
      ['/outbox', 'Postausgang'],
      [`/agents/${support.id}`, 'Support'],
      [`/agents/${support.id}/access`, 'Support'],
      [`/agents/${support.id}/webhooks`, 'Support'],
      [`/agents/${support.id}/settings`, 'Support'],
      ['/health/trace?of=one@northwind.example', 'Zustellung'],
      ['/workspace', 'Arbeitsbereich'],
      ['/workspace/plan', 'Arbeitsbereich'],
      ['/workspace/audit', 'Arbeitsbereich'],
      ['/profile', 'Ihr Konto'],
    ]
    for (const [path, title] of screens) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(`${originOf(service)}/app${path}`)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await expect.poll(() => page.locator('.loading').count()).toBe(0)
      const name = `german${path
        .replace(/\?.*/, '')
        .replaceAll('/', '-')
        .replace(/-[0-9a-f-]{36}/, '')}`
      await picture(page, name)
      await page.setViewportSize({ width: 390, height: 844 })
      await expectNarrow(page)
      await expectAccessible(page)
      await picture(page, `${name}-phone`)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`${originOf(service)}/app/agents/${support.id}/tokens`)
    // Day before month, as in German.
    expect(await page.locator('time').first().getAttribute('title')).toMatch(/^[A-Z]\w+, \d+\. \p{L}+ \d{4}/u)
    expect(errorsOf(page)).toEqual([])
  },
)

/** How much wider the tables of a page are than their place, in which they could be scrolled. */
const EXCESS =
  '[...document.querySelectorAll(".table-frame")].reduce((sum, one) => sum + one.scrollWidth - one.clientWidth, 0)'

browserTest('the tables of what is sent need no scrolling sideways on the narrowest screen', async () => {
  const { prisma } = service.db
  // The longest words and dates.
  const where = { agentId: seeded.support.id, direction: 'outbound' } as const
  await prisma.message.updateMany({ where, data: { status: 'failed', createdAt: new Date('2025-09-28') } })
  await prisma.suppression.updateMany({ data: { createdAt: new Date('2025-09-28') } })
  const page = await openApp(await browser.page({ locale: 'de-DE' }), service, owner)
  await page.setViewportSize({ width: 320, height: 800 })
  for (const path of ['/outbox', '/outbox/suppressed']) {
    await page.goto(`${originOf(service)}/app${path}`)
    await page.getByText('28. Sept. 2025').first().waitFor()
    await expectNarrow(page)
    await picture(page, `german-narrow${path.replaceAll('/', '-')}`)
    expect(await page.evaluate<number>(EXCESS), path).toBe(0)
  }
})
