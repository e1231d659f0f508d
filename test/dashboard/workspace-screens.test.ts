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
import { openCompany } from '../support/company.ts'
import { signedIn } from '../support/cookie-client.ts'
import { expectAccessible, openApp, originOf } from '../support/dashboard.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { ownDomain } from '../support/own-domain.ts'
import { createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

/** The screens of the workspace, and of the member who is signed in. */

const zone: Zone = {}
let service: TestService
let owner: Tenant
let browser: TestBrowser
beforeAll(async () => {
  service = await startService({ world: { resolver: fakeResolver(zone) } })
  owner = await service.workspace('Acme')
  browser = await startBrowser()
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const open = async (path: string, options = {}) =>
  openApp(await browser.page(options), service, owner, `/app${path}`)
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const

browserTest('the name and the settings of the workspace are changed', async () => {
  const page = await open('/workspace')
  await page.getByLabel('Name').fill('Acme Robots')
  await button(page, 'Save').first().click()
  await page.locator('.sidebar-workspace', { hasText: 'Acme Robots' }).waitFor()
  await page.getByLabel('Create other agents').uncheck()
  await expect
    .poll(async () => (await owner.api('GET', '/workspace')).body)
    .toMatchObject({ name: 'Acme Robots', settings: { agentsMayCreateAgents: false } })
  await expectAccessible(page)
  await picture(page, 'workspace')
  expect(errorsOf(page)).toEqual([])
})

browserTest('a member signs in with the account of the company, which an owner has set', async () => {
  const company = await openCompany()
  const tenant = await service.workspace('Company')
  const domain = await ownDomain(tenant, zone, 'company.example')
  const page = await openApp(await browser.page(PHONE), service, tenant, '/app/workspace')
  const form = page.locator('form', { has: page.getByLabel('Issuer') })
  await form.getByLabel('Issuer').fill(company.issuer)
  await form.getByLabel('Client ID').fill(company.clientId)
  await form.getByLabel('Client secret').fill(company.clientSecret)
  await form.getByLabel('Email domains').fill('elsewhere.example')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('elsewhere.example is not a verified domain').waitFor()
  await form.getByLabel('Email domains').fill(domain.name)
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Empty keeps the one that is set').waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'company-sign-in')

  company.claims = { email: `ann@${domain.name}`, email_verified: true, name: 'Ann Arbor' }
  const other = await browser.page(PHONE)
  await other.goto(`${originOf(service)}/app/workspace/people`)
  await other.getByLabel('Email address').fill(`ann@${domain.name}`)
  await picture(other, 'sign-in-company')
  await button(other, 'Use my company’s account').click()
  await other.waitForURL(/\/app\/workspace\/people$/)
  await other.locator('main').getByText('Ann Arbor').waitFor()
  expect(errorsOf(other)).toEqual([])
})

browserTest('how long messages are kept is changed, after a question if that deletes some', async () => {
  const page = await open('/workspace')
  const settings = async () => (await owner.api('GET', '/workspace')).body.settings
  const keeping = page.locator('form', { has: page.getByLabel('Refused messages') })
  await keeping.getByLabel('Refused messages').fill('60')
  await keeping.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(settings)
    .toMatchObject({ keepRefusedDays: 60, keepMessagesDays: null, keepRawDays: null })
  await keeping.getByLabel('Originals of received emails').fill('90')
  await keeping.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('What is older than that is deleted now').waitFor()
  await expectAccessible(page)
  expect(await settings()).toMatchObject({ keepRawDays: null })
  await dialog.getByRole('button', { name: 'Delete older messages' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await expect.poll(settings).toMatchObject({ keepRefusedDays: 60, keepMessagesDays: null, keepRawDays: 90 })
  await keeping.getByLabel('Originals of received emails').fill('')
  await keeping.getByRole('button', { name: 'Save' }).click()
  await expect.poll(settings).toMatchObject({ keepRefusedDays: 60, keepRawDays: null })
  expect(errorsOf(page)).toEqual([])
})

browserTest('what is typed into a form remains while something else of it is changed elsewhere', async () => {
  const page = await open('/workspace')
  const keeping = page.locator('form', { has: page.getByLabel('Refused messages') })
  await keeping.getByLabel('Messages', { exact: true }).fill('400')
  await owner.api('PATCH', '/workspace', { keepRefusedDays: 45 })
  await expect.poll(() => keeping.getByLabel('Refused messages').inputValue()).toBe('45')
  expect(await keeping.getByLabel('Messages', { exact: true }).inputValue()).toBe('400')
  expect(errorsOf(page)).toEqual([])
})

browserTest('people are invited, get another role, are signed out, and removed', async () => {
  const page = await open('/workspace/people')
  await button(page, 'Invite someone').click()
  await page.getByLabel('Email address').fill('bo@example.com')
  await expectAccessible(page)
  await button(page, 'Send invitation').click()
  const link = (await page.locator('dialog .copyable code').textContent())!
  await button(page, 'Done').click()
  await page.getByRole('row', { name: /bo@example\.com/ }).waitFor()
  await expectAccessible(page)
  await picture(page, 'people')

  const guest = await browser.page()
  await guest.goto(link)
  await guest.getByRole('button').first().click()
  await guest.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await button(guest, 'Copy the token').click()
  await button(guest, 'Copied').waitFor()
  const token = await guest.evaluate(() => navigator.clipboard.readText())
  expect(token).toBe(await guest.locator('code').textContent())
  await page.reload()
  const bo = page.getByRole('row', { name: /bo@example\.com/ })
  await bo.getByRole('combobox').selectOption('owner')
  await expect
    .poll(async () => (await owner.api('GET', '/members')).body)
    .toContainEqual(expect.objectContaining({ email: 'bo@example.com', role: 'owner' }))
  await bo.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await bo.waitFor({ state: 'detached' })
  expect(errorsOf(page)).toEqual([])
})

browserTest('the workspace is exported, and deleted in a day unless an owner keeps it', async () => {
  const page = await open('/workspace')
  await page.getByRole('link', { name: 'Export everything' }).click()
  const downloading = page.waitForEvent('download')
  await button(page, 'Download the archive').click()
  expect((await downloading).suggestedFilename()).toBe('workspace.tar')
  await page.getByRole('link', { name: 'Back' }).click()

  const { name } = (await owner.api('GET', '/workspace')).body
  await button(page, 'Delete workspace').click()
  const dialog = page.getByRole('dialog')
  await expectAccessible(page)
  expect(await dialog.getByRole('button', { name: 'Delete workspace' }).isDisabled()).toBe(true)
  await dialog.getByLabel(/to confirm/).fill(name)
  await dialog.getByRole('button', { name: 'Delete workspace' }).click()
  await page.getByText('It will be deleted at').waitFor()
  const deletesAt = async () => (await owner.api('GET', '/workspace')).body.deletesAt
  expect(await deletesAt()).not.toBeNull()
  await expectAccessible(page)
  await button(page, 'Keep the workspace').click()
  await button(page, 'Delete workspace').waitFor()
  expect(await deletesAt()).toBeNull()
  expect(errorsOf(page)).toEqual([])
})

browserTest('a domain shows the records to publish, and what was found', async () => {
  const page = await open('/workspace/domains')
  await page.getByText('No domains of your own').waitFor()
  await button(page, 'Add a domain').click()
  await page.getByLabel('Domain', { exact: true }).fill('robots.example')
  await button(page, 'Add').click()
  await page.getByRole('heading', { name: 'robots.example' }).waitFor()
  await button(page, 'Check now').click()
  await page.getByText('Not found').first().waitFor()
  await expectAccessible(page)
  await picture(page, 'domains')
  await button(page, 'Remove').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No domains of your own').waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('plan, numbers and the audit log can be read on a phone', async () => {
  await createTestAgent(service, owner)
  const page = await open('/workspace/plan', PHONE)
  await page.getByRole('row', { name: /Agents/ }).waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-plan')
  await page.goto(`${originOf(service)}/app/workspace/numbers`)
  await page.getByText('No phone numbers').waitFor()
  await expectAccessible(page)
  await page.goto(`${originOf(service)}/app/workspace/audit`)
  await page.getByRole('cell', { name: 'created a token' }).first().waitFor()
  // Who signed in is named, and every value can be read whole, also here.
  const session = page.getByRole('row', { name: /signed in/ }).first()
  await session.getByRole('cell', { name: owner.email }).waitFor()
  await session.getByText(/^[0-9a-f-]{36}$/).waitFor()
  const token = page.getByRole('row', { name: /created a token/ }).first()
  await token.getByText('not set').first().waitFor()
  await expectNarrow(page)
  await expectAccessible(page)
  await picture(page, 'phone-audit')
  await page.getByLabel('Action').selectOption('domain_add')
  await page.getByRole('cell', { name: 'created a token' }).first().waitFor({ state: 'detached' })
  expect(errorsOf(page)).toEqual([])
})

browserTest('members see their sessions, and end them one by one and all at once', async () => {
  const page = await open('/profile')
  await signedIn(service, owner.token)
  await page.reload()
  await page.getByLabel('Name').fill('Olivia')
  await button(page, 'Save').click()
  await page.locator('.account-name', { hasText: 'Olivia' }).waitFor()
  const others = page.getByRole('table', { name: 'Your sessions' }).getByRole('button', { name: 'End' })
  await others.first().waitFor()
  await expectAccessible(page)
  await picture(page, 'profile')
  const before = await others.count()
  await others.first().click()
  await expect.poll(() => others.count()).toBe(before - 1)
  await button(page, 'Sign out everywhere').click()
  await page.getByRole('heading', { name: /sign in/i }).waitFor()
})

browserTest('a member makes a token for one thing only, and hears of questions only here', async () => {
  for (const [name, options] of [
    ['laptop', {}],
    ['phone', PHONE],
  ] as const) {
    const page = await open('/profile', options)
    await button(page, 'New token').click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await page.getByLabel('Valid for').selectOption('30')
    for (const scope of await page.getByRole('dialog').getByRole('checkbox').all())
      if ((await scope.locator('..').textContent()) !== 'read the audit log') await scope.uncheck()
    await expectAccessible(page)
    await expectNarrow(page)
    await picture(page, `own-token-${name}`)
    await button(page, 'Create token').click()
    const token = await page.locator('dialog .copyable code').textContent()
    await picture(page, `own-token-made-${name}`)
    await button(page, 'Done').click()
    await page.getByRole('row', { name: new RegExp(`${name}.*read the audit log`) }).waitFor()
    const me = { headers: { Authorization: `Bearer ${token}` } }
    expect(await (await fetch(`${service.http}/viewer`, me)).json()).toMatchObject({
      ...{ kind: 'member', email: owner.email, scopes: ['audit'], expiresAt: expect.any(String) },
    })
    expect((await fetch(`${service.http}/audit`, me)).status).toBe(200)
    expect((await fetch(`${service.http}/members`, me)).status).toBe(403)
    await page.getByLabel('Tell me of questions outside').click()
    const isOn = async () => (await owner.api('PATCH', '/members/me', {})).body.questionMails
    await expect.poll(isOn).toBe(name === 'phone')
    await expectAccessible(page)
    await picture(page, `profile-${name}`)
    expect(errorsOf(page)).toEqual([])
  }
})
