import type { Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { expectAccessible, openApp, originOf, untilLive } from '../support/dashboard.ts'
import { fakeResolver } from '../support/dns.ts'
import { deliver, dkimKey, type Letter } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** The inbox, threads, and writing, in a real browser. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
let support: TestAgent
let billing: TestAgent

const mail = (agent: TestAgent, letter: Letter) =>
  deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: 'Ann Example <ann@example.com>',
    text: 'It has not arrived yet.',
    ...letter,
    to: agent.address,
  })

const openTo = async (name: string) => {
  const agent = await createTestAgent(service, owner, name)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const key = dkimKey('news.example')
const posted: string[] = []

beforeAll(async () => {
  const postForm = async (url: string) => {
    posted.push(url)
    return 200
  }
  const zone = { [key.name]: { TXT: [key.txt] }, 'news.example': { A: ['192.0.2.1'] } }
  service = await startService({ world: { resolver: fakeResolver(zone), postForm } })
  owner = await service.workspace('Acme')
  support = await openTo('Support')
  billing = await openTo('Billing')
  browser = await startBrowser()
})

const WIDE = { viewport: { width: 1440, height: 900 } }
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const row = (page: Page, name: RegExp) =>
  page.getByRole('list', { name: 'Threads' }).getByRole('link', { name })
const open = async (path = '/app/inbox', options: Parameters<TestBrowser['page']>[0] = WIDE) => {
  const page = await openApp(await browser.page(options), service, owner, path)
  await untilLive(page)
  return page
}

browserTest('the inbox lists the threads of all agents, and finds by words and filters', async () => {
  await mail(support, { subject: 'Where is my order?' })
  await mail(billing, {
    from: 'Bob Builder <bob@example.org>',
    subject: 'Invoice 42',
    text: 'The amount is wrong.',
  })
  const page = await open()
  await row(page, /Where is my order/).waitFor()
  await row(page, /Invoice 42.*Billing.*The amount is wrong\./).waitFor()
  await expectAccessible(page)
  await picture(page, 'inbox')
  await page.keyboard.press('/')
  await page.keyboard.type('amount from:bob@example.org')
  await expect.poll(() => row(page, /.*/).count()).toBe(1)
  await row(page, /Invoice 42/).waitFor()
  expect(new URL(page.url()).searchParams.get('q')).toBe('amount from:bob@example.org')
  await page.reload()
  await expect.poll(() => row(page, /.*/).count()).toBe(1)
  await expectAccessible(page)
  await picture(page, 'search')
  await page.getByLabel('Search', { exact: true }).fill('nothing like this')
  await page.getByText('Nothing found').waitFor()
  await button(page, 'Clear the search').click()
  await row(page, /Where is my order/).waitFor()
  await button(page, 'Failed').click()
  await page.getByText('Nothing found').waitFor()
  await button(page, 'Failed').click()
  await page.getByRole('link', { name: 'Billing' }).first().click()
  await expect.poll(() => row(page, /.*/).count()).toBe(1)
  await mail(billing, { subject: 'Arrives now' })
  await row(page, /Arrives now/).waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('a newsletter is unsubscribed from, and a sent mail shows its HTML', async () => {
  const newsletter = {
    ...{ from: 'News <news@news.example>', subject: 'Weekly news' },
    headers: {
      'List-Unsubscribe': '<https://news.example/u/1>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
    sign: {
      ...key,
      options: {
        ...key.options,
        headerFieldNames:
          'from:to:subject:date:message-id:mime-version:content-type:content-transfer-encoding:list-unsubscribe:list-unsubscribe-post',
      },
    },
  }
  const reader = await openTo('Reader')
  await mail(reader, newsletter)
  const page = await open(`/app/inbox?agent=${reader.id}`)
  await row(page, /Weekly news/).click()
  await button(page, 'Unsubscribe').click()
  await page.getByRole('article').getByText('The sender was asked to stop sending.').waitFor()
  expect(await button(page, 'Unsubscribe').count()).toBe(0)
  expect(posted).toEqual(['https://news.example/u/1'])
  const report = {
    channel: 'email',
    to: ['bo@example.com'],
    subject: 'The report',
    html: '<p>All <b>good</b></p>',
  }
  await owner.api('POST', `/agents/${reader.id}/messages`, report)
  // What only the agent wrote is nothing that is left to do.
  await page.getByRole('link', { name: 'Sent', exact: true }).click()
  await row(page, /The report/).click()
  await page.getByText('HTML', { exact: true }).click()
  await page.frameLocator('iframe').getByText('good', { exact: true }).waitFor()
  await expectAccessible(page)
  expect(errorsOf(page)).toEqual([])
})

browserTest('everything can be done by keyboard alone', async () => {
  await mail(support, { subject: 'First by keyboard' })
  await mail(support, { subject: 'Second by keyboard' })
  const page = await open(`/app/inbox?agent=${support.id}`)
  await row(page, /Second by keyboard/).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Second by keyboard' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'First by keyboard' }).waitFor()
  // It is done, and the next one is opened.
  await page.keyboard.press('e')
  await page.getByRole('heading', { name: 'Where is my order?' }).waitFor()
  await row(page, /First by keyboard/).waitFor({ state: 'detached' })
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'Second by keyboard' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await expectAccessible(page)
  await picture(page, 'keys')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  await page.keyboard.type('bill')
  await expectAccessible(page)
  await picture(page, 'commands')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  const focused = await page.evaluate<string>('document.activeElement.textContent')
  expect(focused).toBe('Agents')
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await row(page, /Second by keyboard/).waitFor()
  await page.keyboard.press('c')
  await page.getByRole('heading', { name: 'New message' }).waitFor()
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('ann@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type('By keyboard')
  await page.getByLabel('Text', { exact: true }).focus()
  await page.keyboard.type('Hello.')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('heading', { name: 'By keyboard', level: 1 }).waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest('several threads are marked at once, and a thread gets labels', async () => {
  await mail(support, { subject: 'Bulk one' })
  await mail(support, { subject: 'Bulk two' })
  const page = await open('/app/inbox?q=is:unread')
  for (const name of ['Bulk one', 'Bulk two']) {
    await page.getByRole('listitem').filter({ hasText: name }).getByRole('checkbox').check()
  }
  await page.getByText('2 selected').waitFor()
  await expectAccessible(page)
  await picture(page, 'bulk')
  await button(page, 'Add label').click()
  await page.getByLabel('Label', { exact: true }).fill('bulk')
  await page.keyboard.press('Enter')
  await page.getByText('2 threads were changed.').waitFor()
  for (const name of ['Bulk one', 'Bulk two']) {
    const item = page.getByRole('listitem').filter({ hasText: name })
    await item.getByText('bulk', { exact: true }).waitFor()
    await item.getByRole('checkbox').check()
  }
  await button(page, 'Mark as read or unread').click()
  // The notice about the labels may still be there, so it says nothing about this change.
  await page.getByRole('toolbar', { name: '2 selected' }).waitFor({ state: 'detached' })
  await page.reload()
  // Without this, there are no rows because they are not loaded yet.
  await row(page, /.*/).first().or(page.getByText('Nothing found')).waitFor()
  await expect.poll(() => row(page, /Bulk/).count()).toBe(0)
  await page.getByLabel('Search', { exact: true }).fill('Bulk one')
  await row(page, /Bulk one/).click()
  await page.getByRole('heading', { name: 'Bulk one' }).waitFor()
  await page.keyboard.press('l')
  await page.getByLabel('Label', { exact: true }).fill('urgent')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Labels' }).getByText('urgent').waitFor()
  await page.getByLabel('Search', { exact: true }).fill('label:urgent')
  await expect.poll(() => row(page, /.*/).count()).toBe(1)
  await button(page, 'Remove the label urgent').click()
  await page.getByText('Nothing found').waitFor()
  expect(errorsOf(page)).toEqual([])
})

describe('a thread', () => {
  browserTest('shows why a mail was let in, its headers, the mail as received, and its files', async () => {
    await mail(support, {
      subject: 'With a file',
      attachments: [{ filename: 'receipt.txt', content: 'paid' }],
      text: 'Thanks.\n\nOn Mon, Nov 16, 2026 at 10:00 AM Bob Builder <bob@example.org> wrote:\n> How are you?',
    })
    const page = await open()
    await row(page, /With a file/).click()
    const message = page.getByRole('article', { name: 'Ann Example' })
    await message.getByText('Thanks.').waitFor()
    expect(await message.getByText('How are you?').count()).toBe(0)
    await button(page, 'Show quoted text').click()
    await message.getByText('How are you?').waitFor()
    await message.getByText('Why it was let in').click()
    await message.getByText('Anyone may write to this agent on this channel.').waitFor()
    await message.getByText('Not proven: nothing confirms').waitFor()
    await message.getByText('Sending server (SPF)').waitFor()
    await expectAccessible(page)
    await picture(page, 'why')
    await message.getByText('Headers', { exact: true }).click()
    await message.getByText('With a file', { exact: true }).waitFor()
    await picture(page, 'headers')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      message.getByRole('button', { name: /receipt\.txt/ }).click(),
    ])
    expect(file.suggestedFilename()).toBe('receipt.txt')
    await message.getByRole('button', { name: 'More' }).click()
    const [raw] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download as received (.eml)').click(),
    ])
    expect(raw.suggestedFilename()).toMatch(/\.eml$/)
    expect(errorsOf(page)).toEqual([])
  })

  browserTest('runs nothing of a hostile mail, and loads nothing before it was asked to', async () => {
    await mail(support, {
      subject: 'Hostile',
      text: 'plain',
      html: `<h1 onclick="parent.hacked=1">Offer</h1><script>parent.hacked=1</script>
        <img src="https://tracker.invalid/one.png"><img src=x onerror="parent.hacked=1">
        <meta http-equiv="refresh" content="0;url=https://tracker.invalid/refresh">
        <style>@import "https://tracker.invalid/style.css"; h1 { background: url(https://tracker.invalid/two.png) }</style>
        <form action="https://tracker.invalid/form"><input autofocus onfocus="parent.hacked=1"></form>
        <a href="javascript:parent.hacked=1">script</a> <a href="https://example.com/">link</a>
        <iframe src="https://tracker.invalid/frame"></iframe><svg onload="parent.hacked=1"></svg>`,
    })
    const page = await open()
    const outside: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(originOf(service)) && !request.url().startsWith('data:'))
        outside.push(request.url())
    })
    await row(page, /Hostile/).click()
    await page.getByText('HTML', { exact: true }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByText('Offer').waitFor()
    await page.getByText(/not shown/).waitFor()
    await expectAccessible(page)
    await picture(page, 'html')
    await frame.getByText('Offer').click()
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(outside).toEqual([])
    expect(errorsOf(page)).toEqual([])
    const popup = page.waitForEvent('popup')
    await frame.getByRole('link', { name: 'link' }).click()
    await (await popup).close()
    await button(page, 'Show images').click()
    await expect.poll(() => outside).toContain('https://tracker.invalid/one.png')
    expect(await page.evaluate('window.hacked')).toBeUndefined()
  })
})

describe('writing', () => {
  browserTest('a new message with a file and a copy goes out', async () => {
    const page = await open('/app/compose')
    await page.getByLabel('From').selectOption({ label: 'Billing' })
    await page.getByLabel('To', { exact: true }).fill('ann@example.com, bob@example.org')
    await page.getByLabel('Subject').fill('Your invoice')
    await button(page, 'Add Cc and Bcc').click()
    await page.getByLabel('Cc', { exact: true }).fill('carol@example.net')
    await page.getByLabel('Bcc').fill('dan@example.net')
    await page.getByLabel('Text', { exact: true }).fill('Please find it attached.')
    await page.locator('input[type=file]').setInputFiles({
      name: 'invoice.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('42 EUR'),
    })
    await page.getByText('invoice.txt').waitFor()
    await expectAccessible(page)
    await picture(page, 'compose')
    await button(page, 'Send').click()
    await page.getByRole('heading', { name: 'Your invoice', level: 1 }).waitFor()
    await page.getByRole('button', { name: /invoice\.txt/ }).waitFor()
    await page.getByText('Captured on this machine, not sent').waitFor()
    expect(errorsOf(page)).toEqual([])
  })

  browserTest('what the API refuses is said beside the field, and nothing is lost', async () => {
    const page = await open('/app/compose')
    await page.getByLabel('To', { exact: true }).fill('nobody')
    await page.getByLabel('Text', { exact: true }).fill('Hello.')
    await button(page, 'Send').click()
    await page.getByRole('alert').filter({ hasText: '“nobody” is not an email address.' }).waitFor()
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Hello.')
    await expectAccessible(page)
    await picture(page, 'compose-refused')
    await button(page, 'Discard').click()
    await page.getByText('Discarded.').waitFor()
  })

  browserTest('a draft is kept, found and sent; a scheduled message is moved and cancelled', async () => {
    const page = await open('/app/compose', { viewport: { width: 390, height: 844 } })
    await page.getByLabel('To', { exact: true }).fill('ann@example.com')
    await page.getByLabel('Subject').fill('Later')
    await page.getByLabel('Text', { exact: true }).fill('Not yet.')
    await expectNarrow(page)
    await picture(page, 'phone-compose')
    await button(page, 'Save draft').click()
    await page.getByRole('heading', { name: 'Drafts', level: 1 }).waitFor()
    await expectAccessible(page)
    await expectNarrow(page)
    await picture(page, 'phone-drafts')
    await page.getByRole('link', { name: 'Later' }).click()
    await button(page, 'Send later').click()
    await page.getByLabel('Send at').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16))
    await button(page, 'Schedule').click()
    await page.getByText('Will be sent later:').waitFor()
    await expectAccessible(page)
    await picture(page, 'phone-scheduled')
    await button(page, 'Move').click()
    await page.getByText('The time was changed.').waitFor()
    await button(page, 'Do not send').click()
    await page
      .getByText(/Cancelled by/)
      .first()
      .waitFor()
    await page.goto(`${originOf(service)}/app/drafts`)
    await page.getByText('No drafts').waitFor()
    expect(errorsOf(page)).toEqual([])
  })
})
