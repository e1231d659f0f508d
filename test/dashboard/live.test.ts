import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { browserTest, errorsOf, picture, startBrowser, type TestBrowser } from '../support/browser.ts'
import { openApp, originOf, untilLive } from '../support/dashboard.ts'
import { deliver } from '../support/mail.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

/** What the page hears, in one tab and in many, and what it does when it hears nothing. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
let browser: TestBrowser
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  browser = await startBrowser()
})

const mail = (subject: string) =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: 'Ann Example <ann@example.com>',
    to: agent.address,
    subject,
    text: 'Hello.',
  })
const row = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Threads' }).getByRole('link', { name })

browserTest('eight tabs share one stream, and the next tab takes over when its tab is closed', async () => {
  const first = await openApp(await browser.page(), service, owner, '/app/inbox')
  await untilLive(first)
  const context = first.context()
  let streams = 0
  context.on('request', (request) => {
    if (request.postData()?.includes('subscription')) streams++
  })
  const others: Page[] = []
  for (let tab = 1; tab < 8; tab++) {
    const page = await context.newPage()
    await page.goto(`${originOf(service)}/app/inbox`)
    await untilLive(page)
    others.push(page)
  }
  expect(streams).toBe(0)
  await mail('For all tabs')
  await Promise.all([first, ...others].map((page) => row(page, 'For all tabs').waitFor()))
  expect(errorsOf(first)).toEqual([])
  await first.close()
  await expect.poll(() => streams).toBe(1)
  await mail('After the first tab')
  await Promise.all(others.map((page) => row(page, 'After the first tab').waitFor()))
})

browserTest(
  'what arrives after a page has read its list and before its stream is open is shown',
  async () => {
    const page = await browser.page()
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('subscription')) await opened
      await route.continue()
    })
    await mail('Before the page')
    await openApp(page, service, owner, '/app/inbox')
    await row(page, 'Before the page').waitFor()
    await mail('Before the stream')
    open()
    await row(page, 'Before the stream').waitFor()
  },
)

browserTest('a page that was offline says so, and then shows what it missed, once', async () => {
  const page = await openApp(await browser.ownPage(), service, owner, '/app/inbox')
  await untilLive(page)
  await page.context().setOffline(true)
  await page.getByText('You are offline.').waitFor()
  await picture(page, 'offline')
  await mail('While offline')
  await page.context().setOffline(false)
  await row(page, 'While offline').waitFor()
  await expect.poll(() => page.getByText('You are offline.').count()).toBe(0)
  expect(await row(page, 'While offline').count()).toBe(1)
})

browserTest('a page whose service runs on a machine without a network is not offline', async () => {
  const page = await browser.page()
  await page.addInitScript(() => Object.defineProperty(navigator, 'onLine', { get: () => false }))
  await openApp(page, service, owner, '/app/inbox')
  await untilLive(page)
  await page.evaluate(() => dispatchEvent(new Event('offline')))
  await mail('Without a network')
  await row(page, 'Without a network').waitFor()
  await untilLive(page)
  expect(await page.getByText('You are offline.').count()).toBe(0)
})

browserTest('a page that could not read what changed reads it again', async () => {
  const page = await openApp(await browser.page(), service, owner, '/app/inbox')
  await untilLive(page)
  await row(page, 'While offline').waitFor()
  let refused = 0
  await page.route('**/graphql', (route) => {
    if (route.request().postData()?.includes('subscription')) return route.continue()
    refused++
    return route.abort()
  })
  await mail('Not read at first')
  await expect.poll(() => refused).toBeGreaterThan(0)
  await page.unroute('**/graphql')
  await row(page, 'Not read at first').waitFor()
})

browserTest('whose session is ended everywhere is asked to sign in again', async () => {
  const member = await service.workspace('Signed out')
  const page = await openApp(await browser.page(), service, member)
  await page.getByText('Create your first agent').waitFor()
  await untilLive(page)
  const end = 'mutation($id: UUID!) { revokeSessions(input: { memberId: $id }) { count } }'
  await fetch(`${service.http}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${member.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: end, variables: { id: member.member } }),
  })
  await page.waitForURL(/\/app\/sign-in\?to=/)
})

browserTest('a page of an older build loads itself anew when a part of it is gone', async () => {
  const page = await openApp(await browser.page(), service, owner)
  let loads = 0
  page.on('domcontentloaded', () => loads++)
  await page.route(/\/assets\/agents-[^/]+\.js$/, (route) =>
    loads === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  )
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  await expect.poll(() => loads).toBe(1)
})
