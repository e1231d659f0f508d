import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createMemberToken } from '../../src/workspace/workspace.ts'
import { browserTest, errorsOf, picture, startBrowser, type TestBrowser } from '../support/browser.ts'
import { expectAccessible, openApp, originOf, untilLive } from '../support/dashboard.ts'
import { post } from '../support/letter.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** What the web application does on the device: notifications, and installation. */

let service: TestService
let owner: Tenant
let support: TestAgent
let browser: TestBrowser
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme', 'olivia@example.com')
  support = await createTestAgent(service, owner, 'Support')
  await owner.api('PATCH', '/members/me', { name: 'Olivia Owner' })
  await owner.api('PUT', `/agents/${support.id}/access/email`, { admit: 'anyone', senders: [] })
  browser = await startBrowser()
})

/** Stands for the browser's notifications, of which it keeps what would be shown. Nobody looks at the page. */
const STUB = `
  globalThis.told = []
  globalThis.asked = 0
  globalThis.Notification = class extends EventTarget {
    static permission = sessionStorage.getItem('permission') ?? 'default'
    static async requestPermission() {
      asked += 1
      sessionStorage.setItem('permission', 'granted')
      return (Notification.permission = 'granted')
    }
    constructor(title, options) {
      super()
      told.push({ title, options, click: () => this.dispatchEvent(new Event('click')) })
    }
    close() {}
  }
  document.hasFocus = () => false`

const toldOn = (page: Page) => page.evaluate<string[]>('told.map(({ title }) => title)')

const sendHeld = (subject: string) =>
  support.api('POST', `/agents/${support.id}/messages`, {
    channel: 'email',
    to: ['lee@example.com'],
    subject,
    text: 'Secret words',
  })

browserTest(
  'notifications are off until somebody switches them on, and say who waits, not what is written',
  async () => {
    await owner.api('PATCH', `/agents/${support.id}`, { approval: 'all' })
    await sendHeld('Before')
    const context = await browser.ownPage()
    await context.addInitScript(STUB)
    const page = await openApp(context, service, owner, '/app/profile')
    await untilLive(page)
    const setting = page.getByRole('checkbox', { name: 'Notify me in this browser' })
    expect(await setting.isChecked()).toBe(false)
    expect(await page.evaluate('asked')).toBe(0)
    await expectAccessible(page)
    const started = page.waitForResponse(
      (response) => response.request().postData()?.includes('WaitingForMember') ?? false,
    )
    await setting.press('Space')
    await started
    await expect.poll(() => setting.isChecked()).toBe(true)
    expect(await page.evaluate('asked')).toBe(1)
    await picture(page, 'profile-notifications')

    await sendHeld('Refund')
    await expect.poll(() => toldOn(page)).toEqual(['Support asks for your approval'])
    expect(await page.evaluate('JSON.stringify(told)')).not.toMatch(/Refund|Secret|lee/)
    await page.evaluate('told[0].click()')
    await expect.poll(() => new URL(page.url()).pathname).toBe('/app/waiting')
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('assignments and mentions are told once, by one tab', async () => {
  const member = { workspaceId: owner.id, email: 'bo@example.com', name: 'Bo', role: 'member' as const }
  await service.db.prisma.member.create({ data: member })
  const { token } = await createMemberToken({ ...service.db, clock: systemClock }, member.email)
  const bo = { api: apiOf(service.http, token) }
  await post(service, { from: 'ann@example.com', to: support.address, subject: 'Help', text: 'Please' })
  const [message] = (await owner.api('GET', `/agents/${support.id}/messages?direction=inbound&limit=1`)).body
    .items
  const of = { agentId: support.id, threadId: message.threadId }
  const act = async (query: string, input: object) => {
    const { body } = await bo.api('POST', '/graphql', { query, variables: { input } })
    expect(body.errors).toBeUndefined()
  }
  const note = (text: string) =>
    act('mutation ($input: AddThreadNoteInput!) { addThreadNote(input: $input) { note { id } } }', {
      ...of,
      text,
    })
  const first = await browser.ownPage()
  await first.context().addInitScript(STUB)
  await first
    .context()
    .addInitScript(`localStorage.setItem('ams-notifications', 'on'); Notification.permission = 'granted'`)
  const started = first.waitForResponse(
    (response) => response.request().postData()?.includes('WaitingForMember') ?? false,
  )
  const page = await openApp(first, service, owner)
  await untilLive(page)
  await started
  const second = await first.context().newPage()
  await second.goto(`${originOf(service)}/app/drafts`)
  await untilLive(second)
  await act('mutation ($input: UpdateThreadsInput!) { updateThreads(input: $input) { threads { id } } }', {
    threads: [of],
    assignedTo: owner.member,
  })
  await expect.poll(() => toldOn(page)).toEqual(['A thread of Support was assigned to you'])
  await note('Nobody in particular')
  await note('Could you look, @olivia?')
  await expect
    .poll(() => toldOn(page).then((all) => all.at(-1)))
    .toMatch(/mentioned you in a thread of Support$/)
  expect((await toldOn(page)).slice(1)).toEqual([expect.stringMatching(/^Bo mentioned/)])
  expect(await toldOn(second)).toEqual([])
  await page.evaluate('told[1].click()')
  await expect.poll(() => page.url()).toContain(`/app/inbox/${message.threadId}`)
})

browserTest('Chromium finds everything that it installs an application by', async () => {
  const page = await openApp(await browser.page(), service, owner)
  const devtools = await page.context().newCDPSession(page)
  const { errors, manifest } = await devtools.send('Page.getAppManifest')
  expect([errors, JSON.stringify(manifest)]).toEqual([[], expect.stringContaining('/app')])
  expect(errorsOf(page)).toEqual([])
})
