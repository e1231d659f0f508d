import type { Page } from 'playwright-core'
import { v7 as newId } from 'uuid'
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
import { receive } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** Words that were typed and not sent: they are lost nowhere, go to nobody by mistake, and never twice. */

let service: TestService
let owner: Tenant
let colleague: Tenant
let browser: TestBrowser

beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  colleague = { ...owner, email: 'carol@example.com', member: newId() }
  const { member: id, email, id: workspaceId } = colleague
  await service.db.prisma.member.create({ data: { id, workspaceId, email, name: 'Carol', role: 'member' } })
  browser = await startBrowser()
})

const openAgent = async (name: string): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner, name)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const ANN = 'Ann Example <ann@example.com>'
const mail = (agent: TestAgent, subject: string, more: object = {}) =>
  receive(service, agent, { from: ANN, to: agent.address, subject, text: 'Hello?', ...more })
const draftsOf = async (agent: TestAgent) => (await owner.api('GET', `/agents/${agent.id}/drafts`)).body.items
const sentOf = async (agent: TestAgent) =>
  (await owner.api('GET', `/agents/${agent.id}/messages?direction=outbound`)).body.items
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const text = (page: Page) => page.getByLabel('Text', { exact: true })
const answer = (page: Page) => page.getByLabel('Answer to Ann Example')
const saved = (page: Page) => page.getByText('Saved', { exact: true }).waitFor()
const WIDE = { viewport: { width: 1440, height: 900 } }
const open = async (path: string, who = owner, options: Parameters<TestBrowser['page']>[0] = WIDE) => {
  const page = await openApp(await browser.page(options), service, who, path)
  await untilLive(page)
  return page
}

describe('unsent words', () => {
  browserTest('survive a reload in the middle of a word, and become one draft', async () => {
    const agent = await openAgent('Reload')
    const { threadId } = await mail(agent, 'Where is it?')
    const page = await open(`/app/inbox/${threadId}`)
    await answer(page).waitFor()
    await page.keyboard.press('r')
    await page.keyboard.type('It is on its w')
    await page.reload()
    await expect.poll(() => answer(page).inputValue()).toBe('It is on its w')
    await page.keyboard.press('r')
    await page.keyboard.press('End')
    await page.keyboard.type('ay.')
    await page.getByText('Not saved yet').waitFor()
    await saved(page)
    await picture(page, 'answer-saved')
    await expectAccessible(page)
    expect(await draftsOf(agent)).toMatchObject([{ text: 'It is on its way.', replyTo: expect.any(String) }])
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    await page.reload()
    await expect.poll(() => answer(page).inputValue()).toBe('It is on its way.')
    // Twice, as impatient people do.
    await button(page, 'Send').dblclick()
    await page.getByText('The message is on its way.').waitFor()
    expect(await answer(page).inputValue()).toBe('')
    expect(await sentOf(agent)).toHaveLength(1)
    expect(await draftsOf(agent)).toEqual([])
    expect(errorsOf(page)).toEqual([])
  })

  browserTest('are one draft although the answers of the service are lost, and are saved later', async () => {
    const agent = await openAgent('Lost answers')
    const page = await open(`/app/compose?agent=${agent.id}`)
    let lost = 0
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('SaveDraft') || lost >= 2) return route.fallback()
      lost += 1
      await route.fetch()
      return route.abort()
    })
    await text(page).click()
    await page.keyboard.type('Written once')
    await page.getByText('Not saved yet, but kept on this device: The service does not answer.').waitFor()
    await picture(page, 'compose-not-saved')
    await page.reload()
    await saved(page)
    expect(lost).toBe(2)
    expect(await draftsOf(agent)).toMatchObject([{ text: 'Written once' }])
  })

  browserTest('are back after the session was ended and the member signed in again', async () => {
    const agent = await openAgent('Session')
    const page = await open(`/app/compose?agent=${agent.id}`)
    await text(page).click()
    await page.keyboard.type('Before the end of the session')
    const end = 'mutation($id: UUID!) { revokeSessions(input: { memberId: $id }) { count } }'
    await owner.api('POST', '/graphql', { query: end, variables: { id: owner.member } })
    await page.waitForURL(/\/app\/sign-in\?to=/)
    await openApp(page, service, owner, `/app/compose?agent=${agent.id}`)
    await expect.poll(() => text(page).inputValue()).toBe('Before the end of the session')
    await saved(page)
    expect(await draftsOf(agent)).toHaveLength(1)
    // Another member of the same browser does not get to see them.
    await openApp(page, service, colleague, `/app/compose?agent=${agent.id}`)
    await text(page).waitFor()
    expect(await text(page).inputValue()).toBe('')
  })

  browserTest('are in the draft, with their files, when the browser is gone', async () => {
    const agent = await openAgent('Crash')
    const { threadId } = await mail(agent, 'Please answer')
    const page = await open(`/app/inbox/${threadId}`)
    await answer(page).fill('Almost done')
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('1, 2') })
    await saved(page)
    await page.reload()
    // The file is on this device too, so that another can be added.
    await button(page, 'Remove list.txt').waitFor()
    await page.context().close()
    const other = await open(`/app/inbox/${threadId}`)
    await expect.poll(() => answer(other).inputValue()).toBe('Almost done')
    await other.getByText('In the draft: list.txt.').waitFor()
    await answer(other).fill('Done')
    await button(other, 'Send').click()
    await other.getByText('The message is on its way.').waitFor()
    expect(await sentOf(agent)).toMatchObject([{ text: 'Done', attachments: [{ name: 'list.txt' }] }])
    expect(await draftsOf(agent)).toEqual([])
    expect(errorsOf(other)).toEqual([])
  })

  browserTest('are the same in two tabs, and go when they were sent in one', async () => {
    const agent = await openAgent('Tabs')
    const { threadId } = await mail(agent, 'Two tabs')
    const one = await open(`/app/inbox/${threadId}`)
    const two = await one.context().newPage()
    await two.goto(`${originOf(service)}/app/inbox/${threadId}`)
    await answer(one).fill('From the first')
    await expect.poll(() => answer(two).inputValue()).toBe('From the first')
    await answer(two).fill('From the second')
    await expect.poll(() => answer(one).inputValue()).toBe('From the second')
    await saved(one)
    expect(await draftsOf(agent)).toHaveLength(1)
    await button(two, 'Send').click()
    await one.getByText('It was sent or discarded in another tab.').waitFor()
    expect(await answer(one).inputValue()).toBe('')
    expect(await sentOf(agent)).toHaveLength(1)
  })

  browserTest('of a draft that was changed elsewhere are offered, whichever were newer', async () => {
    const agent = await openAgent('Elsewhere')
    const { body } = await agent.api('POST', `/agents/${agent.id}/drafts`, {
      ...{ channel: 'email', to: ['ann@example.com'], subject: 'Offer', text: 'By the agent' },
    })
    const page = await open(`/app/compose?agent=${agent.id}&draft=${body.id}`)
    await expect.poll(() => text(page).inputValue()).toBe('By the agent')
    await agent.api('PATCH', `/agents/${agent.id}/drafts/${body.id}`, { text: 'Changed by the agent' })
    await page.getByText('This draft was changed elsewhere.').waitFor()
    expect(await text(page).inputValue()).toBe('Changed by the agent')
    await button(page, 'Show the other version').click()
    expect(await text(page).inputValue()).toBe('By the agent')
    await expectAccessible(page)
    await picture(page, 'draft-elsewhere')
    await agent.api('DELETE', `/agents/${agent.id}/drafts/${body.id}`)
    await page.getByText('This draft was sent or discarded elsewhere.').waitFor()
    expect(await text(page).inputValue()).toBe('By the agent')
  })

  browserTest('are discarded with a way back also for a file that only the draft has', async () => {
    const agent = await openAgent('Discard a file')
    const { threadId } = await mail(agent, 'The list?')
    const page = await open(`/app/inbox/${threadId}`)
    await answer(page).fill('Attached')
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('1, 2') })
    await saved(page)
    await page.context().close()
    const other = await open(`/app/inbox/${threadId}`)
    await other.getByText('In the draft: list.txt.').waitFor()
    await button(other, 'Discard').click()
    await button(other, 'Undo').click()
    await other.getByText('In the draft: list.txt.').waitFor()
    expect(await answer(other).inputValue()).toBe('Attached')
    await button(other, 'Discard').click()
    await expect.poll(() => answer(other).inputValue()).toBe('')
    // It comes back neither here nor on the service, once nobody can change their mind.
    await expect.poll(() => draftsOf(agent)).toEqual([])
    expect(await answer(other).inputValue()).toBe('')
  })

  browserTest('are sent as their writer sees them, whatever is put there while they are sent', async () => {
    const agent = await openAgent('Meddler')
    const page = await open(`/app/compose?agent=${agent.id}`)
    await page.getByLabel('To', { exact: true }).fill('ann@example.com')
    await text(page).fill('By the member')
    await saved(page)
    const [draft] = await draftsOf(agent)
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation SendDraft'))
        await agent.api('PATCH', `/agents/${agent.id}/drafts/${draft.id}`, { text: 'By the agent' })
      await route.continue()
    })
    await button(page, 'Send').click()
    await page.getByText('This draft was changed elsewhere.').waitFor()
    expect(await text(page).inputValue()).toBe('By the agent')
    expect(await sentOf(agent)).toEqual([])
    await page.unroute('**/graphql')
    await button(page, 'Show the other version').click()
    await saved(page)
    await button(page, 'Send').click()
    await expect.poll(() => sentOf(agent)).toMatchObject([{ text: 'By the member' }])
  })

  browserTest('are discarded with a way back, and forgotten when the member signs out', async () => {
    const agent = await openAgent('Discard')
    const page = await open(`/app/compose?agent=${agent.id}`)
    await text(page).fill('Perhaps not')
    await saved(page)
    await button(page, 'Discard').click()
    await expect.poll(() => draftsOf(agent)).toEqual([])
    expect(await text(page).inputValue()).toBe('')
    await button(page, 'Undo').click()
    expect(await text(page).inputValue()).toBe('Perhaps not')
    await page.getByRole('button', { name: /^Account/ }).click()
    await button(page, 'Sign out').click()
    await expect.poll(() => page.url()).toMatch(/\/app\/sign-in/)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // Also no agent and no command, which may be a saved search.
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([])
    expect(await draftsOf(agent)).toMatchObject([{ text: 'Perhaps not' }])
  })
})

browserTest('a letter belongs to its agent, which is in the address', async () => {
  const [first, second] = [await openAgent('First agent'), await openAgent('Second agent')]
  const page = await open(`/app/compose?agent=${first.id}`)
  await page.getByLabel('To', { exact: true }).fill('ann@example.com')
  await text(page).fill('Written as the first')
  await page.getByLabel('From').selectOption({ label: 'Second agent' })
  await page.waitForURL(`**/compose?agent=${second.id}`)
  expect(await text(page).inputValue()).toBe('')
  expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('')
  expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('From')
  await text(page).fill('Written as the second')
  await page.goBack()
  await expect.poll(() => text(page).inputValue()).toBe('Written as the first')
  // Without an agent in the address, the last one is put there.
  await page.goto(`${originOf(service)}/app/compose`)
  await page.waitForURL(`**/compose?agent=${first.id}`)
  expect(await text(page).inputValue()).toBe('Written as the first')
  await button(page, 'Send').click()
  await page.getByText('The message is on its way.').waitFor()
  expect(await sentOf(first)).toMatchObject([{ text: 'Written as the first' }])
  expect(await sentOf(second)).toEqual([])
  await page.goto(`${originOf(service)}/app/compose?agent=${newId()}`)
  await page.getByText('There is no such agent').waitFor()
  expect(errorsOf(page)).toEqual([])
})

browserTest(
  'what is missing or wrong is said beside its field, and names with addresses are taken',
  async () => {
    const agent = await openAgent('Recipients')
    const page = await open(`/app/compose?agent=${agent.id}`, owner, {
      viewport: { width: 390, height: 844 },
    })
    await text(page).focus()
    await page.keyboard.press('Control+Enter')
    await page.getByText('Enter a recipient.').waitFor()
    await page.getByText('Write the text.').waitFor()
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('To')
    await expectAccessible(page)
    await expectNarrow(page)
    await picture(page, 'phone-compose-missing')
    await page.keyboard.type('Ann Example <ann@example.com>, nobody; "Builder, Bob" <bob@example.org>')
    await text(page).fill('To all of you.')
    await button(page, 'Send').click()
    await page.getByText('“nobody” is not an email address.').waitFor()
    await page
      .getByLabel('To', { exact: true })
      .fill(
        'Ann Example <ann@example.com>, "Builder, Bob" <bob@example.org>; carol@example.net dora@example.net',
      )
    await page.keyboard.press('Control+Enter')
    await page.getByText('The message is on its way.').waitFor()
    expect(await sentOf(agent)).toMatchObject([
      { to: ['ann@example.com', 'bob@example.org', 'carol@example.net', 'dora@example.net'] },
    ])
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('a message is forwarded to whom is written there', async () => {
  const agent = await openAgent('Forward')
  const { threadId } = await mail(agent, 'Pass it on', {
    attachments: [{ filename: 'plan.txt', content: 'the plan' }],
  })
  const page = await open(`/app/inbox/${threadId}`)
  await page.getByRole('article').getByText('Hello?').waitFor()
  await page.keyboard.press('f')
  await page
    .getByText('Forwards “Pass it on” from Ann Example, below your text. With its files: plan.txt.')
    .waitFor()
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('Bob <bob@example.org>')
  await text(page).fill('For you')
  await page.keyboard.press('Control+Enter')
  await page.getByText('The message is on its way.').waitFor()
  const [sent] = await sentOf(agent)
  expect(sent).toMatchObject({ to: ['bob@example.org'], attachments: [{ name: 'plan.txt' }] })
  expect(sent.text).toMatch(/^For you\n[\s\S]*Hello\?/)
  expect(errorsOf(page)).toEqual([])
})

browserTest(
  'a reply to all shows whom it goes to; a newer message and an answer of others are told',
  async () => {
    const agent = await openAgent('Group')
    const { threadId, id } = await mail(agent, 'For all', {
      to: `${agent.address}, bob@example.org`,
      cc: 'carol@example.net',
      messageId: '<group@example.com>',
    })
    const page = await open(`/app/inbox/${threadId}`)
    await page.getByText('Goes to ann@example.com.').waitFor()
    await page.getByLabel('Reply to all 3').waitFor()
    await page.keyboard.press('R')
    await page.getByText('Goes to ann@example.com, bob@example.org, in copy to carol@example.net.').waitFor()
    await page.keyboard.type('Hello all')
    await expectAccessible(page)
    await picture(page, 'answer-all')
    await agent.api('POST', `/agents/${agent.id}/messages`, { replyTo: id, text: 'The agent was faster.' })
    await page.getByRole('article').getByText('The agent was faster.').waitFor()
    await mail(agent, 'Re: For all', {
      from: 'Bob <bob@example.org>',
      headers: { 'In-Reply-To': '<group@example.com>' },
    })
    await page.getByText('Bob wrote after you began.').waitFor()
    await button(page, 'Send').dblclick()
    await page.getByText('sent an answer after you began: “The agent was faster.”').waitFor()
    await picture(page, 'answer-meanwhile')
    expect(await sentOf(agent)).toHaveLength(1)
    await expect
      .poll(async () => {
        // Not within the time of a double click, after which it is another button.
        await button(page, 'Send anyway')
          .click({ timeout: 1_000 })
          .catch(() => undefined)
        return (await sentOf(agent)).length
      })
      .toBe(2)
    expect((await sentOf(agent))[0]).toMatchObject({
      ...{ to: ['ann@example.com', 'bob@example.org'], cc: ['carol@example.net'], text: 'Hello all' },
    })
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest(
  'an approval’s edit stays while mails arrive and the list is read again, and over a reload',
  async () => {
    const agent = await openAgent('Approval')
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
    const hold = async (subject: string): Promise<string> => {
      const message = { channel: 'email', to: ['ann@example.com'], subject, text: `${subject}: 100 EUR` }
      return (await agent.api('POST', `/agents/${agent.id}/messages`, message)).body.id
    }
    const id = await hold('Refund')
    const page = await open(`/app/waiting?message=${id}`)
    await button(page, 'Edit').click()
    const dialog = page.getByRole('dialog')
    await page.getByLabel('Text').focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(', not')
    await mail(agent, 'Arrives meanwhile')
    // Pushes it to the second page.
    for (let count = 0; count < 21; count++) await hold(`Other ${count}`)
    await page.getByText('Other 20').first().waitFor()
    expect(await dialog.getByLabel('Text').inputValue()).toBe('Refund: 100 EUR, not')
    await page.keyboard.type(' 1000')
    expect(await dialog.getByLabel('Text').inputValue()).toBe('Refund: 100 EUR, not 1000')
    await page.reload()
    await button(page, 'Go on editing').click()
    expect(await dialog.getByLabel('Text').inputValue()).toBe('Refund: 100 EUR, not 1000')
    await expectAccessible(page)
    await picture(page, 'edit-kept')
    await owner.api('POST', `/agents/${agent.id}/messages/${id}/reject`, { reason: 'No.' })
    await dialog.getByText('Somebody else decided meanwhile').waitFor()
    expect(await dialog.getByLabel('Text').inputValue()).toBe('Refund: 100 EUR, not 1000')
    expect(await button(page, 'Approve as edited').isDisabled()).toBe(true)
    await picture(page, 'edit-decided')
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('two members see each other write in one thread, and open the other’s draft', async () => {
  const agent = await openAgent('Two members')
  const { threadId } = await mail(agent, 'Who answers?')
  const page = await open(`/app/inbox/${threadId}`)
  const hers = await open(`/app/inbox/${threadId}`, colleague)
  await answer(hers).fill('Carol answers')
  await page.getByText('Carol is writing an answer.').waitFor()
  await saved(hers)
  expect(await answer(page).inputValue()).toBe('')
  await expectAccessible(page)
  await picture(page, 'answer-presence')
  await answer(page).fill('Me too')
  await hers.getByText(/is writing an answer\./).waitFor()
  // As after a minute.
  const [{ id }] = (await draftsOf(agent)).filter((draft: { text: string }) => draft.text === 'Carol answers')
  const updatedAt = new Date(Date.now() - 3_600_000)
  await service.db.prisma.draft.updateMany({ where: { id }, data: { updatedAt } })
  await page.reload()
  await page.getByText('Carol has an unsent answer.').waitFor()
  await page.getByRole('link', { name: 'Open it' }).click()
  await expect.poll(() => text(page).inputValue()).toBe('Carol answers')
  await page.goBack()
  await button(hers, 'Send').click()
  await page.getByRole('article').getByText('Carol answers').waitFor()
  expect(await page.getByText('Carol has an unsent answer.').count()).toBe(0)
  await button(page, 'Send').click()
  await page.getByText('Carol sent an answer after you began: “Carol answers”').waitFor()
  expect(await sentOf(agent)).toHaveLength(1)
  expect(errorsOf(page)).toEqual([])
})

browserTest('a letter for later is not sent at once while its time is not complete', async () => {
  const agent = await openAgent('Later')
  const page = await open(`/app/compose?agent=${agent.id}`)
  await page.getByLabel('To', { exact: true }).fill('ann@example.com')
  await page.getByLabel('Subject').fill('Not yet')
  await text(page).fill('Wait.')
  await button(page, 'Send later').click()
  const when = page.getByLabel('Send at')
  await when.focus()
  await page.keyboard.type('12312099')
  await page.keyboard.press('Control+Enter')
  expect(await when.evaluate((one) => one === document.activeElement)).toBe(true)
  expect(await sentOf(agent)).toEqual([])
  await when.fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16))
  await button(page, 'Schedule').click()
  await page.getByText('The message is scheduled.').waitFor()
  expect(await sentOf(agent)).toMatchObject([{ status: 'sending', subject: 'Not yet' }])
  expect(errorsOf(page)).toEqual([])
})

browserTest('an agent’s signature and templates are used in what is written as it', async () => {
  const agent = await openAgent('Signed')
  const page = await open(`/app/agents/${agent.id}/settings`)
  await page.getByLabel('Signature').fill('Support, Acme')
  await page
    .locator('form', { has: page.getByLabel('Signature') })
    .getByRole('button', { name: 'Save' })
    .click()
  await page.getByText('Saved.').waitFor()
  await button(page, 'Add a template').click()
  await page.keyboard.type('Delay')
  await page.keyboard.press('Tab')
  await page.keyboard.type('We are sorry for the delay.')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'Delay', exact: true }).waitFor()
  await expectAccessible(page)
  await picture(page, 'agent-writing')
  await page.goto(`${originOf(service)}/app/compose?agent=${agent.id}`)
  await expect.poll(() => text(page).inputValue()).toBe('\n\nSupport, Acme')
  await text(page).focus()
  await page.keyboard.type('Hello. ')
  await button(page, 'Templates').click()
  await button(page, 'Delay').click()
  expect(await text(page).inputValue()).toBe('Hello. We are sorry for the delay.\n\nSupport, Acme')
  // One goes on writing behind it.
  await page.keyboard.type(' It')
  expect(await text(page).inputValue()).toBe('Hello. We are sorry for the delay. It\n\nSupport, Acme')
  await picture(page, 'compose-signed')
  await page.goto(`${originOf(service)}/app/agents/${agent.id}/settings`)
  await button(page, 'Remove Delay').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('cell', { name: 'Delay', exact: true }).waitFor({ state: 'detached' })
  expect(errorsOf(page)).toEqual([])
})
