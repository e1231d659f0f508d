import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect } from 'vitest'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { expectAccessible, openApp, originOf, untilLive } from '../support/dashboard.ts'
import { deliver, type Letter } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** An inbox that gets empty: what is done with threads, by keyboard, in bulk and by touch. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
let agent: TestAgent
let agents = 0

beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  browser = await startBrowser()
})

/** Each test has an agent of its own, so that it knows which threads there are. */
beforeEach(async () => {
  agent = await createTestAgent(service, owner, `Agent ${++agents}`)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const mail = (letter: Letter) =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: 'Ann Example <ann@example.com>',
    text: 'It has not arrived yet.',
    ...letter,
    to: agent.address,
  })

/** The last one is the first row. */
const mails = async (...subjects: string[]) => {
  for (const subject of subjects) await mail({ subject })
}

const WIDE = { viewport: { width: 1440, height: 900 } }
const open = async (query = '', options: Parameters<TestBrowser['page']>[0] = WIDE) => {
  const path = `/app/inbox?agent=${agent.id}${query && `&q=${encodeURIComponent(query)}`}`
  const page = await openApp(await browser.page(options), service, owner, path)
  await untilLive(page)
  return page
}
const rows = (page: Page) => page.getByRole('list', { name: 'Threads' }).getByRole('link')
const row = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Threads' }).getByRole('link', { name })
const toolbar = (page: Page, name: string) => page.getByRole('toolbar', { name })
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent')
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
const subjectFocused = (page: Page, subject: string) => expect.poll(() => focused(page)).toContain(subject)
const subjects = (page: Page) =>
  page.locator('.thread-subject').evaluateAll((all) => all.map((one) => one.textContent))

describe('by keyboard', () => {
  browserTest('moving does not open, and Escape leads back to the row', async () => {
    await mails('One', 'Two', 'Three')
    const page = await open()
    await row(page, 'Three').waitFor()
    await press(page, 'j', 'j')
    await subjectFocused(page, 'Two')
    expect(new URL(page.url()).pathname).toBe('/app/inbox')
    await press(page, 'Enter')
    await page.getByRole('heading', { name: 'Two', level: 1 }).waitFor()
    // In an open thread, the same keys lead to the next one.
    await press(page, 'j')
    await page.getByRole('heading', { name: 'One', level: 1 }).waitFor()
    // The focus goes with it: Enter does not open the thread before again.
    await subjectFocused(page, 'One')
    await press(page, 'Enter')
    await page.getByRole('heading', { name: 'One', level: 1 }).waitFor()
    // A choice between text and HTML takes no letters.
    await page.getByRole('radio', { name: 'Text' }).focus()
    await press(page, 'k')
    await page.getByRole('heading', { name: 'Two', level: 1 }).waitFor()
    await press(page, 'j')
    await page.getByRole('heading', { name: 'One', level: 1 }).waitFor()
    await press(page, 'Escape')
    await subjectFocused(page, 'One')
    await press(page, 'k')
    await subjectFocused(page, 'Two')
    await press(page, 'Home')
    await subjectFocused(page, 'Three')
    // Tab leads from the list's one row to what comes after it, not through all rows.
    await press(page, 'Tab')
    expect(await page.evaluate('document.activeElement.closest(".thread-list")')).toBe(null)
    expect(errorsOf(page)).toEqual([])
  })

  browserTest('e is done, goes on to the next row and empties the inbox; z undoes it', async () => {
    await mails('One', 'Two', 'Three')
    const page = await open()
    await row(page, 'Three').waitFor()
    await press(page, 'j', 'j', 'e')
    await row(page, 'Two').waitFor({ state: 'detached' })
    await subjectFocused(page, 'One')
    await page.getByText('Done.', { exact: true }).waitFor()
    await picture(page, 'triage-done')
    await press(page, 'z')
    await row(page, 'Two').waitFor()
    await subjectFocused(page, 'One')
    // Typed without a pause, each is for another row.
    await press(page, 'Home', 'e', 'e', 'e')
    await page.getByText('Nothing is left to do').waitFor()
    expect(await page.evaluate('document.activeElement === document.body')).toBe(false)
    await expectAccessible(page)
    await picture(page, 'triage-empty')
    await page.getByRole('link', { name: 'Done', exact: true }).click()
    await expect.poll(() => rows(page).count()).toBe(3)
    // Done again is open again.
    await press(page, 'j', 'e')
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.getByRole('link', { name: 'Open', exact: true }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    await mail({ subject: 'Four' })
    await row(page, 'Four').waitFor()
    expect(errorsOf(page)).toEqual([])
  })

  browserTest('h puts a thread away until a time, # marks spam and offers to block', async () => {
    await mails('Keep', 'Spammy', 'Later')
    const page = await open()
    await row(page, 'Later').waitFor()
    await press(page, 'j', 'h')
    await page.getByRole('dialog', { name: 'Snooze' }).waitFor()
    await expectAccessible(page)
    await picture(page, 'triage-snooze')
    await press(page, 'ArrowDown', 'Enter')
    await row(page, 'Later').waitFor({ state: 'detached' })
    await subjectFocused(page, 'Spammy')
    await press(page, '#')
    await row(page, 'Spammy').waitFor({ state: 'detached' })
    await page.getByText('Should mail from ann@example.com be refused').waitFor()
    await picture(page, 'triage-spam')
    await page.getByRole('button', { name: 'Block', exact: true }).click()
    await page.getByText('ann@example.com is blocked.').waitFor()
    const { body } = await owner.api('GET', `/agents/${agent.id}/access`)
    expect(JSON.stringify(body)).toContain('ann@example.com')
    await page.getByRole('link', { name: 'Snoozed', exact: true }).click()
    await row(page, 'Later').waitFor()
    await row(page, 'Snoozed until').waitFor()
    await picture(page, 'triage-snoozed')
    await page.getByRole('link', { name: 'Done', exact: true }).click()
    await page.getByText('spam', { exact: true }).waitFor()
    expect(errorsOf(page)).toEqual([])
  })

  browserTest('x, shift+x and * a select, and the keys are for the selection', async () => {
    await mails('One', 'Two', 'Three', 'Four')
    const page = await open()
    await row(page, 'Four').waitFor()
    await press(page, 'j', 'x', 'j', 'j', 'Shift+X')
    await toolbar(page, '3 selected').waitFor()
    await expectAccessible(page)
    await picture(page, 'triage-bulk')
    await press(page, 'l')
    await page.keyboard.type('orders')
    await press(page, 'Enter')
    await expect.poll(() => page.getByText('orders', { exact: true }).count()).toBe(3)
    await press(page, '*', 'a')
    await toolbar(page, '4 selected').waitFor()
    await press(page, 'Escape')
    await toolbar(page, '4 selected').waitFor({ state: 'detached' })
    await press(page, 'Home', 'x', 'j', 'x', 'e')
    await expect.poll(() => subjects(page)).toEqual(['Two', 'One'])
    await subjectFocused(page, 'Two')
    await page.getByText('2 threads are done.').waitFor()
    await press(page, 'z')
    await expect.poll(() => rows(page).count()).toBe(4)
    expect(errorsOf(page)).toEqual([])
  })
})

browserTest('the list stays where it is under the pointer, the cursor and a dialog', async () => {
  await mails(...Array.from({ length: 14 }, (_, index) => `Mail ${index}`))
  const page = await open()
  await row(page, 'Mail 13').waitFor()
  const topOf = async (name: string) => (await row(page, name).boundingBox())!.y
  await row(page, 'Mail 11').hover()
  const pointed = await topOf('Mail 11')
  await mail({ subject: 'Under the pointer' })
  await page.getByRole('button', { name: '1 new above' }).waitFor()
  expect(await topOf('Mail 11')).toBe(pointed)
  await page.getByRole('button', { name: '1 new above' }).click()
  await page.getByRole('button', { name: '1 new above' }).waitFor({ state: 'detached' })
  await page.mouse.move(1_000, 500)
  await press(page, 'j', 'j', 'h')
  await page.getByRole('dialog', { name: 'Snooze' }).waitFor()
  const before = await topOf('Mail 13')
  await mail({ subject: 'Under a dialog' })
  await row(page, 'Under a dialog').waitFor()
  expect(await topOf('Mail 13')).toBe(before)
  await press(page, 'Escape')
  // What somebody else did stays in its place, and says so.
  const threadId = (await row(page, 'Mail 12').getAttribute('href'))!.match(/inbox\/([\w-]+)/)![1]
  const update = 'mutation($input: UpdateThreadsInput!) { updateThreads(input: $input) { threads { id } } }'
  const input = { threads: [{ agentId: agent.id, threadId }], done: true }
  await fetch(`${service.http}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${owner.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: update, variables: { input } }),
  })
  await row(page, 'Mail 12').getByText('Done', { exact: true }).waitFor()
  expect(await topOf('Mail 13')).toBe(before)
  expect(errorsOf(page)).toEqual([])
})

browserTest(
  'a phone shows what can be selected, a tap goes on selecting, and the bar is at the bottom',
  async () => {
    await mails('One', 'Two', 'Three')
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
    const page = await open('', phone)
    await row(page, 'Three').waitFor()
    const box = page.getByRole('checkbox', { name: 'Select the thread with Ann Example' }).first()
    expect(await box.evaluate((one) => getComputedStyle(one).opacity)).toBe('1')
    await box.tap()
    await row(page, 'One').tap()
    await toolbar(page, '2 selected').waitFor()
    expect(new URL(page.url()).pathname).toBe('/app/inbox')
    const bar = (await toolbar(page, '2 selected').boundingBox())!
    expect(bar.y + bar.height).toBeGreaterThan(800)
    await expectAccessible(page)
    await expectNarrow(page)
    await picture(page, 'phone-triage')
    await toolbar(page, '2 selected').getByRole('button', { name: 'Done, or open again' }).tap()
    await expect.poll(() => subjects(page)).toEqual(['Two'])
    await picture(page, 'phone-triage-done')
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('the address of an agent that does not exist says so', async () => {
  await mails('Of an agent')
  const page = await open()
  await row(page, 'Of an agent').waitFor()
  await page.goto(`${originOf(service)}/app/inbox?agent=00000000-0000-4000-8000-000000000000`)
  await page.getByText('This agent does not exist').waitFor()
  await expectAccessible(page)
  expect(await page.getByText('Of an agent').count()).toBe(0)
  await page.getByRole('link', { name: 'Inbox of all agents' }).click()
  await row(page, 'Of an agent').waitFor()
  expect(errorsOf(page)).toEqual([])
})
