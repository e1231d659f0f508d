import { beforeAll, expect } from 'vitest'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { expectAccessible, expectLegible, openApp, untilLive } from '../support/dashboard.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: TestBrowser
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner)
  browser = await startBrowser()
})

browserTest('questions of agents wait for a member, who answers with a button or in words', async () => {
  const path = `/agents/${agent.id}/questions`
  const ask = async (body: object) => (await agent.api('POST', path, body)).body.id
  const answerTo = (id: string) =>
    until(async () => (await agent.api('GET', `${path}/${id}`)).body.answer ?? false)
  const choice = await ask({ text: 'Refund? See https://evil.example/x', options: ['Yes', 'No'] })
  const page = await openApp(await browser.page(), service, owner, '/app/waiting/questions')
  await untilLive(page)
  const first = page.getByRole('article').filter({ hasText: 'Refund?' })
  await expect.poll(() => first.count()).toBe(1)
  expect(await first.getByRole('link').count()).toBe(0)
  await expectAccessible(page)
  const next = await ask({ text: 'And the other one?', options: ['Yes', 'No'] })
  await page.getByText('And the other one?').waitFor()
  await picture(page, 'questions')
  // By keyboard, with one Enter too many: it is not taken for an answer to the next question.
  await first.getByRole('button', { name: 'Yes', exact: true }).focus()
  await page.keyboard.press('Enter')
  await first.getByText('You answered: Yes').waitFor()
  await page.keyboard.press('Enter')
  expect(await answerTo(choice)).toMatchObject({ text: 'Yes', by: owner.email, through: 'app' })
  expect((await agent.api('GET', `${path}/${next}`)).body.status).toBe('open')
  await agent.api('DELETE', `${path}/${next}`)
  await page.getByText('It was answered or withdrawn').waitFor()
  const words = await ask({ text: 'Which street?' })
  const second = page.getByRole('article').filter({ hasText: 'Which street?' })
  await second.getByLabel('Your answer').fill('Main Street')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectLegible(page)
  await picture(page, 'questions-dark-390')
  await expectNarrow(page)
  const long = 'Only after a talk with the bookkeepers, if they are there'
  const wide = await ask({ text: 'When?', options: ['Now', long] })
  const box = await page.getByRole('button', { name: long }).boundingBox()
  expect(box!.x + box!.width).toBeLessThanOrEqual(390)
  await agent.api('DELETE', `${path}/${wide}`)
  await second.getByRole('button', { name: 'Answer', exact: true }).click()
  expect(await answerTo(words)).toMatchObject({ text: 'Main Street', through: 'app' })
  expect(errorsOf(page)).toEqual([])
})
