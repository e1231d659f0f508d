import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { systemClock } from '../../src/core/clock.ts'
import { errorsOf } from './browser.ts'
import type { Tenant, TestService } from './service.ts'

/** Sessions are for the name in PUBLIC_URL, which is localhost unless it is set. */
export const originOf = ({ http }: Pick<TestService, 'http'>): string =>
  http.replace('127.0.0.1', 'localhost')

/**
 * Signs a member in by a link, without the page for it, which takes a browser as long as the application does, and
 * opens a page of the web application.
 */
export const openApp = async (
  page: Page,
  service: Pick<TestService, 'http' | 'db'>,
  tenant: Tenant,
  path = '/app',
): Promise<Page> => {
  const origin = originOf(service)
  // Says which request failed, besides the browser's own line, which does not.
  page.on('response', async (response) => {
    if (response.status() < 400) return
    const answer = await response.text().catch(String)
    errorsOf(page).push([response.status(), response.url(), response.request().postData(), answer].join(' '))
  })
  const deps = { ...service.db, clock: systemClock, publicUrl: () => origin }
  const { url: link } = await createOperatorLink(deps, { email: tenant.email })
  // Signing in ends the browser's session: a page of the application that hears of it goes to the sign-in page, and
  // would interrupt the navigation below. A new page has nothing yet.
  if (page.url() !== 'about:blank') await page.goto('about:blank')
  await page.request.post(`${origin}/app/sign-in/link`, {
    form: { link },
    headers: { Origin: origin },
    maxRedirects: 0,
  })
  await page.goto(origin + path)
  // By its id: its words are in the language of the browser.
  await page.locator('#content').waitFor()
  return page
}

/** Resolves when the page hears changes as they happen. */
export const untilLive = (page: Page): Promise<void> =>
  page.locator('.live.is-live').waitFor({ state: 'attached' })

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** Part of WCAG 2.2 AA, but not enabled by axe itself. */
const ENABLED = { 'target-size': { enabled: true } }

/** Nothing about what passes, and no sounds, which the application has none of: a third less CPU. */
const LESS = { resultTypes: ['violations'], preload: false }

const expectNone = async (page: Page, options: object): Promise<void> => {
  // Evaluated by the debugger, not added as a script, which the page's policy would refuse.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source)
  const found = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify({ ...options, ...LESS })}).then(({ violations }) => violations)`,
  )
  expect(
    found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n')}`),
  ).toEqual([])
}

/** Checks the page as it is now by the rules of WCAG 2.2 AA that a program can check. */
export const expectAccessible = (page: Page): Promise<void> =>
  expectNone(page, { runOnly: RULES, rules: ENABLED })

/** Checks only the contrast, which is what differs in the other theme. */
export const expectLegible = (page: Page): Promise<void> =>
  expectNone(page, { runOnly: { type: 'rule', values: ['color-contrast'] } })
