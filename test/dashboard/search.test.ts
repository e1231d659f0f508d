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
import { expectAccessible, openApp, untilLive } from '../support/dashboard.ts'
import { deliver, type Letter } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** The inbox's search: what it finds, what it suggests, what it says, and what is kept of it. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
let support: TestAgent

const openTo = async (name: string) => {
  const agent = await createTestAgent(service, owner, name)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const mail = (agent: TestAgent, letter: Letter) =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, { text: 'Hello.', ...letter, to: agent.address })

const WIDE = { viewport: { width: 1440, height: 900 } }
const open = async (query = '', options: Parameters<TestBrowser['page']>[0] = WIDE) => {
  const path = `/app/inbox${query && `?q=${encodeURIComponent(query)}`}`
  const page = await openApp(await browser.page(options), service, owner, path)
  await untilLive(page)
  return page
}
const subjects = (page: Page) =>
  page.locator('.thread-subject').evaluateAll((all) => all.map((one) => one.textContent))
const field = (page: Page) => page.getByRole('combobox', { name: 'Search' })
const search = async (page: Page, query: string) => {
  await field(page).fill(query)
  await page.keyboard.press('Enter')
}

beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  browser = await startBrowser()
  support = await openTo('Support')
  const billing = await openTo('Billing North')
  await mail(support, {
    from: 'Björn Berg <bjorn@example.com>',
    subject: 'Refund of order 7',
    text: 'Please pay the REFUND, or tell me about refunds.',
  })
  await mail(billing, { from: 'Ann Example <ann@example.org>', subject: 'Invoice for March', text: 'Due.' })
  await mail(billing, {
    from: 'Noa <noa@example.net>',
    subject: 'שלום, ההזמנה שלי',
    text: 'איפה החבילה שלי? order 9',
  })
})

browserTest('names, subjects, agents, dates and beginnings of words find without another word', async () => {
  const page = await open()
  await expect.poll(() => subjects(page)).toHaveLength(3)
  const finds = async (query: string, ...found: string[]) => {
    await search(page, query)
    await expect.poll(() => subjects(page), { message: query }).toEqual(found)
  }
  await finds('from:björn', 'Refund of order 7')
  await finds('subject:"invoice for"', 'Invoice for March')
  await finds('refun*', 'Refund of order 7')
  await finds('agent:support', 'Refund of order 7')
  await finds('before:2020-01-01')
  await page.getByText('Nothing found').waitFor()
  await finds('after:today from:ann', 'Invoice for March')
  await finds(`to:${support.address}`, 'Refund of order 7')
  await finds('refund is:open', 'Refund of order 7')
  await finds('refund is:done')
  expect(errorsOf(page)).toEqual([])
})

browserTest('what means nothing is said where it is typed, and the list stays', async () => {
  const page = await open()
  await expect.poll(() => subjects(page)).toHaveLength(3)
  const says = async (query: string, problem: string) => {
    await search(page, query)
    await page.getByRole('alert').filter({ hasText: problem }).waitFor()
    expect(await subjects(page)).toHaveLength(3)
    expect(await field(page).getAttribute('aria-invalid')).toBe('true')
  }
  await says('is:bogus', 'not “bogus”')
  await picture(page, 'search-problem')
  await expectAccessible(page)
  await says('before:someday', '“someday” is not a date.')
  await says('"where is', 'is not closed')
  await says('from:" "', 'Something is missing after from:')
  await says('agent:nobody', 'No agent is called “nobody”.')
  await says('is:failed is:refused', 'exclude each other')
  await field(page).fill('')
  await expect.poll(() => page.getByRole('alert').count()).toBe(0)
  // Of filters that exclude each other, the last one counts.
  await page.getByRole('button', { name: 'Failed', exact: true }).click()
  await page.getByRole('button', { name: 'Scheduled', exact: true }).click()
  await expect.poll(() => field(page).inputValue()).toBe('is:scheduled')
  await page.getByRole('link', { name: 'Refused', exact: true }).click()
  await expect.poll(() => field(page).inputValue()).toBe('is:refused')
  expect(errorsOf(page)).toEqual([])
})

browserTest('filters and their values are suggested, and taken by keyboard', async () => {
  const page = await open()
  await expect.poll(() => subjects(page)).toHaveLength(3)
  await page.keyboard.press('/')
  await page.keyboard.type('fr')
  await page.getByRole('option', { name: 'from:' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.keyboard.type('bj')
  await page.getByRole('option', { name: 'from:"Björn Berg"' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await expectAccessible(page)
  await picture(page, 'search-suggestions')
  await page.keyboard.press('Enter')
  await expect.poll(() => field(page).inputValue()).toBe('from:"Björn Berg" ')
  await expect.poll(() => subjects(page)).toEqual(['Refund of order 7'])
  // The search has run; what follows is another word.
  expect(await field(page).inputValue()).toBe('from:"Björn Berg" ')
  await page.keyboard.type('agent:no')
  await page.getByRole('option', { name: 'agent:"Billing North"' }).waitFor()
  // Escape closes the suggestions first, and then leaves the field.
  await page.keyboard.press('Escape')
  expect(await page.getByRole('option').count()).toBe(0)
  expect(await field(page).evaluate((one) => one === document.activeElement)).toBe(true)
  await page.keyboard.press('Control+A')
  await page.keyboard.type('from:bj')
  await page.keyboard.press('Escape')
  await expect.poll(() => subjects(page)).toEqual(['Refund of order 7'])
  await page.keyboard.press('Escape')
  await page.locator('.thread-row:focus').waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('words are marked in the list and in the opened message', async () => {
  const page = await open('refun*')
  const marks = page.locator('.thread-list mark')
  await expect.poll(() => marks.allTextContents()).toEqual(['Refund', 'REFUND', 'refunds'])
  await page.getByRole('list', { name: 'Threads' }).getByRole('link').click()
  await page.getByRole('heading', { name: 'Refund of order 7', level: 1 }).waitFor()
  const marked = () =>
    page.evaluate<string[]>('[...(CSS.highlights.get("sought") ?? [])].map((range) => range.toString())')
  await expect.poll(async () => (await marked()).includes('refunds')).toBe(true)
  await expectAccessible(page)
  await picture(page, 'search-marked')
  expect(errorsOf(page)).toEqual([])
})

browserTest('a saved view stands in the sidebar until it is removed', async () => {
  const page = await open('from:björn')
  await expect.poll(() => subjects(page)).toHaveLength(1)
  await page.getByRole('button', { name: 'Save this view' }).press('Enter')
  await page.keyboard.type('Björn’s mail')
  await picture(page, 'search-save')
  await page.keyboard.press('Enter')
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Björn’s mail' })
  await link.waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await expect.poll(() => subjects(page)).toHaveLength(3)
  await link.click()
  await expect.poll(() => subjects(page)).toEqual(['Refund of order 7'])
  await expectAccessible(page)
  await picture(page, 'search-saved')
  await page.getByRole('button', { name: 'Remove this view' }).click()
  await link.waitFor({ state: 'detached' })
  expect(errorsOf(page)).toEqual([])
})

browserTest('in dark, on a phone, and with subjects from right to left', async () => {
  const dark = await open('order', { ...WIDE, colorScheme: 'dark' })
  await expect.poll(() => subjects(dark)).toHaveLength(2)
  const preview = dark.locator('.thread-preview').filter({ hasText: 'איפה' })
  expect(await preview.evaluate((one) => getComputedStyle(one).direction)).toBe('rtl')
  await expectAccessible(dark)
  await picture(dark, 'search-dark')
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  const page = await open('from:nobody-at-all is:', phone)
  await page.getByRole('alert').waitFor()
  await expectNarrow(page)
  await picture(page, 'phone-search')
  expect(errorsOf(page)).toEqual([])
})
