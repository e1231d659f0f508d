import { afterAll, expect } from 'vitest'
import { browserTest, picture, startBrowser } from '../support/browser.ts'
import { untilLive } from '../support/dashboard.ts'
import { deliver } from '../support/mail.ts'
import { freePort } from '../support/port.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run } from '../support/process.ts'
import { apiOf } from '../support/service.ts'

const dataDir = preparedDataDir()
afterAll(() => cleanUp(dataDir))

browserTest(
  'a page survives kill -9 of the service: it says so, and then shows everything once',
  async () => {
    const PORT = String(await freePort())
    const start = () => run({ DATA_DIR: dataDir, PORT, OWNER_TOKEN: 'the token of the owner of this test' })
    let service = start()
    let { http, smtp } = await service.ready()
    const owner = apiOf(http, 'the token of the owner of this test')
    const { id } = (await owner('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body
    await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
    const to: string = (await owner('GET', `/agents/${id}/addresses`)).body[0].value
    const write = (subject: string) => deliver(smtp, { from: 'ann@example.com', to, subject, text: 'Hello.' })

    const page = await (await startBrowser()).page()
    await page.goto(`http://localhost:${PORT}/app/inbox`)
    await page.getByText('Use a token').click()
    await page.getByLabel('Your member token').fill('the token of the owner of this test')
    await page.getByRole('button', { name: 'Sign in', exact: true }).last().click()
    await untilLive(page)
    const row = (subject: string) =>
      page.getByRole('list', { name: 'Threads' }).getByRole('link', { name: subject })
    await write('Before')
    await row('Before').waitFor()
    await row('Before').click()
    await page.getByLabel(/^Answer to/).fill('Half an answer')

    service.kill('SIGKILL')
    await service.exited
    await page.getByText('Not live').waitFor()
    await picture(page, 'not-live')
    service = start()
    ;({ http, smtp } = await service.ready())
    await write('After')
    await row('After').waitFor()
    await expect.poll(() => page.getByText('Not live').count()).toBe(0)
    expect([await row('Before').count(), await row('After').count()]).toEqual([1, 1])
    expect(await page.getByLabel(/^Answer to/).inputValue()).toBe('Half an answer')
  },
)
