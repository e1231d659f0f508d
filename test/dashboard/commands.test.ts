import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { browserTest, errorsOf, picture, startBrowser, type TestBrowser } from '../support/browser.ts'
import { commandsFor, openCommands } from '../support/commands.ts'
import { expectAccessible, openApp, originOf } from '../support/dashboard.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** The command menu: everything can be done by typing a few words. That it is complete: every-screen.test.ts. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
let support: TestAgent
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  support = await createTestAgent(service, owner, 'Support')
  await createTestAgent(service, owner, 'Billing')
  browser = await startBrowser()
})

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })

/** Runs the first command for these words, by keyboard alone. */
const run = async (page: Page, words: string): Promise<void> => {
  await openCommands(page)
  await page.keyboard.type(words)
  await page.keyboard.press('Enter')
}

browserTest('what is done elsewhere is done from any screen, and the keyboard goes on there', async () => {
  const page = await openApp(await browser.page(), service, owner, '/app/drafts')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const actions: [words: string, title: string, path: string][] = [
    ['new agent', 'New agent', '/agents'],
    ['invite', 'Invite someone', '/workspace/people'],
    ['add domain', 'Add a domain', '/workspace/domains'],
    ['new token supp', 'New token', `/agents/${support.id}/tokens`],
    ['secret supp', 'Set a secret', `/agents/${support.id}/secrets`],
    ['add webh supp', 'Add a webhook', `/agents/${support.id}/webhooks`],
  ]
  for (const [words, title, path] of actions) {
    await run(page, words)
    await dialog(page, title).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/app${path}`)
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('INPUT')
    await page.keyboard.press('Escape')
    await dialog(page, title).waitFor({ state: 'detached' })
  }
  await run(page, 'billing limits')
  await expect
    .poll(() => page.evaluate<string>('document.activeElement.textContent'))
    .toBe('Limits on incoming messages')
  await run(page, 'obey supp')
  expect(errorsOf(page)).toEqual([])
})

browserTest(
  'words are found by their beginnings, in any order, with letters left out, and what was run comes first',
  async () => {
    const page = await openApp(await browser.page(), service, owner, '/app/agents')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await openCommands(page)
    await expectAccessible(page)
    await picture(page, 'commands')
    for (const [words, wanted] of [
      ['webh supp', 'Webhooks Support'],
      ['suprt webhks', 'Webhooks Support'],
      ['log audit', 'Audit log'],
      ['dark', 'Dark Theme'],
      ['deutsch', 'Deutsch Language'],
      ['sign out', 'Sign out'],
      ['suppression', 'Suppression lists'],
    ] as const)
      expect((await commandsFor(page, words))[0]?.replace(/(?<=[a-z])(?=[A-Z])/g, ' '), words).toContain(
        wanted,
      )
    await picture(page, 'commands-found')
    expect(await commandsFor(page, 'xyzzy')).toEqual(['Search the mail for “xyzzy”'])
    await commandsFor(page, 'audit log')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Workspace', level: 1 }).waitFor()
    await openCommands(page)
    await page.getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'Audit log' }).waitFor()
    await page.keyboard.press('Escape')
    await run(page, 'theme dark')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('what the page has is pressed, also in closed menus; fields get the focus', async () => {
  await owner.api('POST', `/agents/${support.id}/webhooks`, { url: 'https://example.com/hook', name: 'Shop' })
  const page = await openApp(await browser.page(), service, owner)
  await page.goto(`${originOf(service)}/app/agents/${support.id}/webhooks`)
  await page.getByText('https://example.com/hook').waitFor()
  await run(page, 'new secret')
  await dialog(page, 'Create a new secret?').waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${originOf(service)}/app/profile`)
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
  await run(page, 'name you')
  await expect
    .poll(() => page.evaluate<string>('document.activeElement.labels?.[0].textContent'))
    .toBe('Name')
  expect(errorsOf(page)).toEqual([])
})
