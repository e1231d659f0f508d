import type { Page, Route } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { browserTest, errorsOf, picture, startBrowser, type TestBrowser } from '../support/browser.ts'
import { openApp, untilLive } from '../support/dashboard.ts'
import { deliver } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** What a page asks for while mail comes in, and that nothing of it vanishes when something fails. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: TestBrowser
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner, 'Support')
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  browser = await startBrowser()
})

let sent = 0
const mail = (subject: string, to = agent.address) => {
  if (to === agent.address) sent++
  return deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: 'Ann Example <ann@example.com>',
    to,
    subject,
    text: 'Hello.',
  })
}
const row = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Threads' }).getByRole('link', { name: new RegExp(`\\b(?<!after )${name}`) })

const WIDE = { viewport: { width: 1440, height: 900 } }

/** What a request of the page asks for; null for its stream. */
const askedBy = (body: string | null): 'mutation' | 'query' | null => {
  if (!body || body.includes('subscription')) return null
  return /"query":"\s*mutation/.test(body) ? 'mutation' : 'query'
}

/** Counts the requests of a page, without its stream. */
const countRequests = (page: Page): { count: number } => {
  const counted = { count: 0 }
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql') && askedBy(request.postData())) counted.count++
  })
  return counted
}

/** Opens the inbox with a thread, and waits until everything is read. */
const openThread = async (subject: string, open = browser.page): Promise<Page> => {
  await mail(subject)
  const page = await openApp(await open(WIDE), service, owner, '/app/inbox')
  await untilLive(page)
  await row(page, subject).click()
  await page.getByRole('article').waitFor()
  // What the page reads when it begins to listen has been read before this one.
  await mail(`Read after ${subject}`)
  await row(page, `Read after ${subject}`).waitFor()
  return page
}

/** Answers queries of the page with a failure until it is told to stop. */
const failQueries = async (page: Page, answer: Parameters<Route['fulfill']>[0]) => {
  const failed = { count: 0 }
  await page.route('**/graphql', (route) => {
    if (askedBy(route.request().postData()) !== 'query') return route.continue()
    failed.count++
    return route.fulfill(answer)
  })
  return failed
}

const failureOf = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify({ errors: [{ message: 'Not now.', extensions: { code } }] }),
})
const UNAVAILABLE = failureOf(503, 'unavailable', { 'Retry-After': '1' })

/** Nothing of a thread, the list and the frame is gone or red. */
const expectWhole = async (page: Page, subject: string): Promise<void> => {
  await row(page, subject).first().waitFor()
  await page.getByRole('article').first().waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByText('Support').first().waitFor()
  expect(await page.locator('.failed').count()).toBe(0)
}

const see = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });` +
      "document.dispatchEvent(new Event('visibilitychange'))",
  )

browserTest('one mail is read with one request, and fifty with at most six', async () => {
  const page = await openThread('Stays open')
  const counted = countRequests(page)
  await mail('A single one')
  await row(page, 'A single one').waitFor()
  await page.locator('.sidebar-agents .count', { hasText: '3' }).waitFor()
  expect(counted.count).toBe(1)
  await Promise.all(Array.from({ length: 50 }, (_, n) => mail(`One of fifty: ${n}`)))
  await page.locator('.sidebar-agents .count', { hasText: '53' }).waitFor()
  await page.locator('.thread-item[aria-setsize="53"]').first().waitFor()
  expect(counted.count).toBeLessThanOrEqual(1 + 6)
  await expectWhole(page, 'Stays open')
  expect(errorsOf(page)).toEqual([])
})

browserTest('a failure takes nothing away; the page says so quietly, and catches up', async () => {
  const page = await openThread('Before the failure')
  const failed = await failQueries(page, UNAVAILABLE)
  await mail('During the failure')
  const word = page.getByRole('status').getByText('Could not refresh; trying again.')
  await word.waitFor()
  await picture(page, 'could-not-refresh')
  // More often than a request is tried by itself.
  await expect.poll(() => failed.count).toBeGreaterThan(3)
  await word.waitFor()
  await expectWhole(page, 'Before the failure')
  await page.unroute('**/graphql')
  await row(page, 'During the failure').waitFor()
  await word.waitFor({ state: 'detached' })
})

browserTest('a page that is opened during a failure shows its frame and content afterwards', async () => {
  const page = await openThread('Opened too early')
  await failQueries(page, UNAVAILABLE)
  await page.reload()
  await page.getByText('Not now.').waitFor()
  await page.unroute('**/graphql')
  await expectWhole(page, 'Opened too early')
})

browserTest('a page that asked too often waits as long as it is told to, and says until when', async () => {
  const page = await openThread('Before the limit', browser.ownPage)
  await page.clock.install()
  const failed = await failQueries(page, failureOf(429, 'rate_limited', { 'Retry-After': '600' }))
  await mail('During the limit')
  const word = page
    .getByRole('status')
    .getByText(/^Too many requests; what changes is shown again at \d+:\d\d:\d\d/)
  await word.waitFor()
  await picture(page, 'too-many-requests')
  await page.unroute('**/graphql')
  const counted = countRequests(page)
  await mail('Also during the limit')
  await page.getByRole('link', { name: 'Agents', exact: true }).click()
  await word.waitFor()
  expect([failed.count, counted.count]).toEqual([1, 0])
  await page.clock.fastForward('10:00')
  await page.getByRole('main').getByText('Support').first().waitFor()
  await page.goBack()
  await row(page, 'Also during the limit').waitFor()
  await row(page, 'During the limit').first().waitFor()
  await word.waitFor({ state: 'detached' })
})

browserTest('what is done too soon is done after a short wait', async () => {
  const page = await openThread('To be labelled')
  let refused = 0
  await page.route('**/graphql', (route) => {
    if (askedBy(route.request().postData()) !== 'mutation' || refused > 0) return route.continue()
    refused++
    return route.fulfill(failureOf(429, 'rate_limited', { 'Retry-After': '1' }))
  })
  await page.keyboard.press('l')
  await page.keyboard.type('later')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Labels' }).getByText('later').waitFor()
  expect(refused).toBe(1)
})

browserTest('a page that nobody sees reads nothing until it is seen again', async () => {
  const page = await openThread('In the background')
  await see(page, 'hidden')
  const counted = countRequests(page)
  const seen = await openApp(await browser.page(), service, owner, '/app/inbox')
  await untilLive(seen)
  await mail('While hidden')
  await row(seen, 'While hidden').waitFor()
  expect(counted.count).toBe(0)
  await see(page, 'visible')
  await row(page, 'While hidden').waitFor()
})

browserTest('what is too much to be read in one request is read in several', async () => {
  // Strangers may send an agent 300 mails a minute.
  const other = await createTestAgent(service, owner, 'Sales')
  await owner.api('PUT', `/agents/${other.id}/access/email`, { admit: 'anyone', senders: [] })
  const page = await openThread('Behind other windows')
  const refused: string[] = []
  page.on('response', async (response) => {
    if (response.url().endsWith('/graphql') && askedBy(response.request().postData()))
      refused.push(...((await response.text()).match(/requests too much at once/g) ?? []))
  })
  await see(page, 'hidden')
  for (let n = 0; n < 250; n += 25)
    await Promise.all(Array.from({ length: 25 }, (_, m) => mail(`Behind ${n + m}`, other.address)))
  await see(page, 'visible')
  await page.locator('.sidebar-agents .count', { hasText: '250' }).waitFor()
  await page.locator('.inbox-scroll').evaluate((list: { scrollTop: number }) => {
    list.scrollTop = 0
  })
  await row(page, 'Behind 24\\d').first().waitFor()
  await expect.poll(() => refused.length).toBeGreaterThan(0)
  expect(await page.locator('.failed').count()).toBe(0)
})

browserTest('hundreds of mails in a row leave the page whole and current', async () => {
  const page = await openThread('Through the storm')
  const counted = countRequests(page)
  const began = Date.now()
  for (let n = 0; n < 200; n += 20)
    await Promise.all(Array.from({ length: 20 }, (_, m) => mail(`Storm ${n + m}`)))
  await mail('The last one')
  await page.locator('.sidebar-agents .count', { hasText: String(sent) }).waitFor()
  // The open thread stays where it can be seen, further down.
  await page.locator('.inbox-scroll').evaluate((list: { scrollTop: number }) => {
    list.scrollTop = 0
  })
  await row(page, 'The last one').waitFor()
  const minutes = (Date.now() - began) / 60_000
  expect(counted.count).toBeLessThanOrEqual(Math.ceil(minutes * 60) + 2)
  await expectWhole(page, 'The last one')
  expect(errorsOf(page)).toEqual([])
})

browserTest('a long list that is read again stays as long as it was', async () => {
  const page = await openApp(await browser.page(WIDE), service, owner, '/app/inbox?q=hello')
  await untilLive(page)
  const scroller = page.locator('.inbox-scroll')
  const length = async () => Number(await page.locator('.thread-item').first().getAttribute('aria-setsize'))
  await page.locator('.thread-item').first().waitFor()
  await expect
    .poll(async () => {
      await scroller.evaluate((list: { scrollTop: number; scrollHeight: number }) => {
        list.scrollTop = list.scrollHeight
      })
      return page.locator('.inbox-scroll .more').count()
    })
    .toBe(0)
  // More than are read again.
  expect(await length()).toBeGreaterThan(350)
  const before = await length()
  await mail('Found as well')
  await expect.poll(length).toBe(before + 1)
  await scroller.evaluate((list: { scrollTop: number }) => {
    list.scrollTop = 0
  })
  await row(page, 'Found as well').waitFor()
})
