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
import { expectCommands } from '../support/commands.ts'
import { expectAccessible, expectLegible, openApp, originOf, untilLive } from '../support/dashboard.ts'
import { fakeResolver } from '../support/dns.ts'
import { createReceiver } from '../support/receiver.ts'
import { NORTHWIND, type Seeded, seed } from '../support/seed.ts'
import { createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

/** Every screen with something in it: by the rules of accessibility, light and dark, on wide and narrow screens. */

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

const WIDE = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

/** Paths by the names of their pictures. */
const screens = ({ support, thread }: Seeded): Record<string, string> => ({
  home: '/home',
  inbox: '/inbox',
  thread: `/inbox/${thread}`,
  waiting: '/waiting',
  refused: '/waiting/refused',
  compose: '/compose',
  drafts: '/drafts',
  outbox: '/outbox',
  suppressed: '/outbox/suppressed',
  health: '/health',
  mail: '/health/mail',
  trace: '/health/trace?of=one@northwind.example',
  agents: '/agents',
  agent: `/agents/${support.id}`,
  access: `/agents/${support.id}/access`,
  tokens: `/agents/${support.id}/tokens`,
  webhooks: `/agents/${support.id}/webhooks`,
  secrets: `/agents/${support.id}/secrets`,
  settings: `/agents/${support.id}/settings`,
  workspace: '/workspace',
  people: '/workspace/people',
  domains: '/workspace/domains',
  numbers: '/workspace/numbers',
  plan: '/workspace/plan',
  audit: '/workspace/audit',
  profile: '/profile',
  missing: '/nowhere',
})

/** Until a screen has read what it shows. */
const untilShown = async (page: Page): Promise<void> => {
  await page.locator('h1').first().waitFor()
  await expect.poll(() => page.locator('.loading').count()).toBe(0)
}

/** Returns how many commands the screen has. */
const lookAt = async (page: Page, name: string, path: string): Promise<number> => {
  await page.setViewportSize(WIDE)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${originOf(service)}/app${path}`)
  await untilLive(page)
  await untilShown(page)
  await expectAccessible(page)
  await picture(page, `${name}-light-wide`)
  const commands = await expectCommands(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectLegible(page)
  await picture(page, `${name}-dark-wide`)
  await page.setViewportSize(PHONE)
  await expectNarrow(page)
  // Among other rules, that fingers hit what they aim at.
  await expectAccessible(page)
  await picture(page, `${name}-dark-phone`)
  await page.emulateMedia({ colorScheme: 'light' })
  await picture(page, `${name}-light-phone`)
  return commands
}

browserTest(
  'every screen is accessible, legible in light and dark, fits a phone, and is in the command menu',
  async () => {
    const page = await openApp(await browser.page({ reducedMotion: 'reduce' }), service, owner)
    let commands = 0
    for (const [name, path] of Object.entries(screens(seeded)))
      commands += await lookAt(page, name, path).catch((error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error })
      })
    expect(commands).toBeGreaterThan(100)
    expect(errorsOf(page)).toEqual([])
  },
)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const message = (page: Page, words: string) => page.getByRole('article').getByText(words)

browserTest('what is printed is dark on white, and has no controls', async () => {
  const path = `/app/inbox/${seeded.thread}`
  const page = await openApp(await browser.page({ colorScheme: 'dark' }), service, owner, path)
  await message(page, 'the parcel left us yesterday').waitFor()
  expect(await page.locator('.button:visible').count()).toBeGreaterThan(0)
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
  await message(page, 'the parcel left us yesterday').waitFor()
  for (const role of ['navigation', 'textbox', 'checkbox'] as const)
    expect(await page.getByRole(role).count(), role).toBe(0)
  expect(await page.locator('.button:visible').count()).toBe(0)
  await expectLegible(page)
  await picture(page, 'thread-print')
  expect(errorsOf(page)).toEqual([])
})

browserTest(
  'the outbox shows how far messages have come, and recipients leave the suppression list',
  async () => {
    const page = await openApp(await browser.page(), service, owner, '/app/outbox')
    await page.getByText(/No mail server for sending is configured/).waitFor()
    await page.getByRole('row', { name: /Your quote.*lee@example\.com.*Captured/ }).waitFor()
    await page.getByRole('row', { name: /Refund.*Waits for approval/ }).waitFor()
    await page.getByText('Queued', { exact: true }).click()
    await page.getByRole('row', { name: /Your quote/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /The weekly report.*Scheduled/ }).waitFor()
    await page.getByRole('link', { name: 'Suppression lists' }).click()
    await button(page, 'Remove gone@example.com').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await button(page, 'Remove gone@example.com').waitFor({ state: 'detached' })
    const { body } = await owner.api('GET', `/agents/${seeded.support.id}/suppressions`)
    expect(body.items.map(({ recipient }: { recipient: string }) => recipient)).toEqual(['full@example.org'])
    await button(page, 'Remove full@example.org').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No suppressed recipients').waitFor()
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('the counts of each day are drawn, and stand in a table', async () => {
  const page = await openApp(await browser.page(), service, owner, '/app/workspace/plan')
  const table = page.getByRole('table', { name: 'Per day' })
  await expect.poll(() => table.getByRole('row').count()).toBe(31)
  await page.getByRole('img', { name: /^Sent: \d+ in all/ }).waitFor()
  await page.getByText('90 days').click()
  await expect.poll(() => table.getByRole('row').count()).toBe(91)
  await page.getByLabel('Counts of').selectOption('Billing')
  await page.getByRole('img', { name: /^Received: 0 in all/ }).waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('longer threads and more drafts than a page are loaded on', async () => {
  await owner.api('POST', `/agents/${seeded.support.id}/drafts`, { subject: 'Another draft', text: 'Hi' })
  const page = await openApp(await browser.page(), service, owner)
  // Pages of one entry stand for long lists.
  await page.route('**/graphql', (route) => {
    const postData = route
      .request()
      .postData()
      ?.replace(/(messages|drafts)\(first: (50|20)/, '$1(first: 1')
    return route.continue({ ...(postData ? { postData } : {}) })
  })
  await page.goto(`${originOf(service)}/app/inbox/${seeded.thread}`)
  await message(page, 'the parcel left us yesterday').waitFor()
  expect(await message(page, 'I ordered two lamps').count()).toBe(0)
  await button(page, 'Show older messages').click()
  await message(page, 'I ordered two lamps').waitFor()
  await button(page, 'Show older messages').waitFor({ state: 'detached' })
  await page.goto(`${originOf(service)}/app/drafts`)
  await page.getByRole('link', { name: 'Another draft' }).waitFor()
  await page.getByRole('link', { name: 'About next week' }).waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('nothing moves for those who do not want it', async () => {
  const page = await openApp(await browser.page(), service, owner, '/app/agents')
  const moves = () =>
    page.evaluate<number>(
      'document.getAnimations().filter(({ effect }) => effect.getComputedTiming().iterations === Infinity).length',
    )
  // The button is busy until the request is answered, which it never is.
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('mutation') ? undefined : route.continue(),
  )
  await button(page, 'New agent').click()
  await page.getByLabel('Name').fill('Never made')
  await button(page, 'Create agent').click()
  await expect.poll(moves).toBe(1)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect.poll(moves).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await expect.poll(moves).toBe(1)
})

/** Lists and heads that are wider than they may be: what their last columns show is out of sight. */
const cut = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(
    '[...document.querySelectorAll("main, .table-frame, .health-line, .thread-head, .thread-tools")]' +
      '.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className || one.tagName)',
  )

browserTest('a name, a subject and a URL of one long word push nothing out of sight', async () => {
  const name = 'Schifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
    .repeat(2)
    .slice(0, 100)
  const agent = await createTestAgent(service, owner, name)
  await owner.api('POST', `/agents/${agent.id}/webhooks`, {
    url: `https://hooks.example.com/${'c'.repeat(300)}`,
    name: 'Hook',
  })
  const letter = { channel: 'email', to: ['ann@example.com'], subject: 'S'.repeat(120), text: 'Hi' }
  await agent.api('POST', `/agents/${agent.id}/drafts`, letter)
  const { body } = await agent.api('POST', `/agents/${agent.id}/messages`, letter)
  const page = await openApp(await browser.page(), service, owner)
  for (const path of ['home', 'agents', 'drafts', 'outbox', 'health', `inbox/${body.threadId}`]) {
    await page.setViewportSize(WIDE)
    await page.goto(`${originOf(service)}/app/${path}`)
    await page.locator('main').getByText(name).first().waitFor()
    expect(await cut(page), path).toEqual([])
    await picture(page, `long-${path.slice(0, 5)}`)
    await page.setViewportSize(PHONE)
    await expectNarrow(page)
  }
})
