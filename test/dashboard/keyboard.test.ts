import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { browserTest, errorsOf, startBrowser, type TestBrowser } from '../support/browser.ts'
import { openApp, originOf, untilLive } from '../support/dashboard.ts'
import { fakeResolver } from '../support/dns.ts'
import { createReceiver } from '../support/receiver.ts'
import { NORTHWIND, type Seeded, seed } from '../support/seed.ts'
import { startService, type Tenant, type TestService } from '../support/service.ts'

/** Dialogs by keyboard alone: what is typed lands in the field, and the focus returns. */

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

const open = async (path: string, options?: Parameters<TestBrowser['page']>[0]): Promise<Page> => {
  const page = await openApp(await browser.page(options), service, owner, `/app${path}`)
  await untilLive(page)
  return page
}

/** What has the focus: its tag and its name. */
const focused = (page: Page): Promise<string> =>
  page
    .locator(':focus')
    .evaluate((one: { tagName: string; ariaLabel: string | null; textContent: string | null }) =>
      [one.tagName, one.ariaLabel ?? one.textContent].join(' '),
    )

interface Asked {
  path(seeded: Seeded): string
  /** The button that opens the dialog. */
  button: string
  /** Where it is, if several have the name. */
  within?: string
  /** The label of the field that has the focus, or the name of the button. */
  focus: { field: string } | { button: string }
}

const ofAgent =
  (tab: string) =>
  ({ support }: Seeded): string =>
    `/agents/${support.id}/${tab}`

const DIALOGS: Asked[] = [
  { path: () => '/agents', button: 'New agent', focus: { field: 'Name' } },
  { path: ofAgent('tokens'), button: 'New token', focus: { field: 'Name' } },
  { path: ofAgent('webhooks'), button: 'Add a webhook', focus: { field: 'URL' } },
  { path: ofAgent('secrets'), button: 'Set a secret', focus: { field: 'Name' } },
  { path: ofAgent('secrets'), button: 'Replace', focus: { field: 'Value' } },
  { path: ofAgent('secrets'), button: 'Delete', focus: { button: 'Cancel' } },
  { path: ofAgent('settings'), button: 'Delete agent', focus: { field: 'Type Support to confirm' } },
  { path: () => '/workspace', button: 'Delete workspace', focus: { field: 'Type Northwind to confirm' } },
  { path: () => '/workspace/people', button: 'Invite someone', focus: { field: 'Email address' } },
  { path: () => '/workspace/domains', button: 'Add a domain', focus: { field: 'Domain' } },
  { path: () => '/workspace/domains', button: 'Remove', focus: { button: 'Cancel' } },
  { path: () => '/outbox/suppressed', button: 'Remove gone@example.com', focus: { button: 'Cancel' } },
  { path: ({ thread }) => `/inbox/${thread}`, button: 'Add label', focus: { field: 'Label' } },
]

const expectFocus = async (page: Page, dialog: Locator, focus: Asked['focus']): Promise<void> => {
  if ('button' in focus) return expect.poll(() => focused(page)).toBe(`BUTTON ${focus.button}`)
  await page.keyboard.type('abc')
  expect(await dialog.getByLabel(focus.field, { exact: true }).inputValue()).toBe('abc')
}

browserTest('every dialog has the focus in its first field, and returns it', async () => {
  const page = await open('/agents')
  for (const { path, button, focus } of DIALOGS) {
    const target = `${originOf(service)}/app${path(seeded)}`
    if (page.url() !== target) await page.goto(target)
    const opener = page.getByRole('main').getByRole('button', { name: button, exact: true }).first()
    await opener.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await expectFocus(page, dialog, focus)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await opener.and(page.locator(':focus')).waitFor()
  }
  expect(errorsOf(page)).toEqual([])
})

browserTest('a label is added to a thread with l, its name and Enter', async () => {
  const page = await open(`/inbox/${seeded.thread}`)
  await page.getByRole('article').first().waitFor()
  await page.keyboard.press('l')
  await page.keyboard.type('urgent')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Labels' }).getByText('urgent').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(errorsOf(page)).toEqual([])
})

browserTest(
  'on a phone, the command menu, the drawer and a dialog take the keyboard and give it back',
  async () => {
    const page = await open('/agents', { viewport: { width: 390, height: 844 } })
    const opener = page.getByRole('button', { name: 'New agent', exact: true }).first()
    await opener.focus()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Billing')
    expect(await page.getByRole('combobox').inputValue()).toBe('Billing')
    await page.keyboard.press('Escape')
    await opener.and(page.locator(':focus')).waitFor()
    const menu = page.getByRole('button', { name: 'Open the menu' })
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await menu.and(page.locator(':focus')).waitFor()
    await opener.tap().catch(() => opener.click())
    await page.keyboard.type('Typed')
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Typed')
  },
)

browserTest('a press that begins in a dialog and ends beside it does not close it', async () => {
  const page = await open('/agents')
  await page.getByRole('button', { name: 'New agent', exact: true }).click()
  const field = page.getByRole('dialog').getByLabel('Name')
  await field.fill('Selected with the mouse')
  const { x, y } = (await field.boundingBox())!
  await page.mouse.move(x + 5, y + 5)
  await page.mouse.down()
  await page.mouse.move(5, 5)
  await page.mouse.up()
  expect(await field.inputValue()).toBe('Selected with the mouse')
  await page.mouse.click(5, 5)
  await field.waitFor({ state: 'detached' })
})

browserTest('the focus goes to the next line when its own disappears', async () => {
  const page = await open('/outbox/suppressed')
  const first = page.getByRole('button', { name: /^Remove / }).first()
  const next = page.getByRole('button', { name: /^Remove / }).nth(1)
  const name = (await next.getAttribute('aria-label'))!
  await first.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await first.and(page.getByRole('button', { name })).waitFor()
  await expect.poll(() => focused(page)).toBe(`BUTTON ${name}`)
})
