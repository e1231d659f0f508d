import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { post as deliver } from '../support/letter.ts'
import { openMcp, postRpc, streamRpc } from '../support/mcp.ts'
import {
  type Begun,
  begin,
  type Discovered,
  discover,
  publicUrlOf,
  redeem,
  register,
} from '../support/oauth.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** The whole way of a hosted client with a real browser: the client is another site. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
let found: Discovered
let browser: TestBrowser
/** The client's site: on 127.0.0.1, while the service is on localhost. Its page leads to `target`. */
let site: string
let target = ''
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  found = await discover(service)
  browser = await startBrowser()
  const client = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(
      `<!doctype html><title>client</title><link rel="icon" href="data:,"><a href="${target}">Connect</a>`,
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => client.once('listening', resolve))
  afterFile(async () => void client.close())
  site = `http://127.0.0.1:${(client.address() as AddressInfo).port}`
})

/** Opens the client's page, whose link begins an authorization request. */
const comeFromElsewhere = async (page: Page, { path }: Begun): Promise<void> => {
  target = (publicUrlOf(service) + path).replaceAll('&', '&amp;')
  await page.goto(site)
  await page.getByRole('link', { name: 'Connect' }).click()
}

browserTest(
  '401, metadata, registration, sign-in, consent, token, tools, event, revocation, 401',
  async () => {
    const page = await browser.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const redirectUri = `${site}/callback`
    const client = await register(found, { client_name: 'Hosted Client', redirect_uris: [redirectUri] })
    const begun = await begin(found, client, { redirect_uri: redirectUri })
    await comeFromElsewhere(page, begun)

    await page.getByText('Use a token').click()
    await page.getByLabel('Your member token').fill(owner.token)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: `Connect ${new URL(site).host}?` }).waitFor()
    await expectNarrow(page)
    await picture(page, 'consent-dark-390')
    // By keyboard alone.
    await page.getByLabel('Which agent will it be?').selectOption({ label: 'Support Bot' })
    await page.getByRole('button', { name: 'Allow' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${redirectUri}?*`)
    const tokens = await redeem(found, client, begun, new URL(page.url()))

    const mcp = await openMcp(service.http, tokens.access_token)
    expect((await mcp.client.listTools()).tools.map(({ name }) => name)).toContain('read_message')
    await mcp.close()
    const args = { name: 'message.received', arguments: {}, cursor: null }
    const stream = await streamRpc(service.http, tokens.access_token, 'events/stream', args)
    await until(() => stream.of('notifications/events/active').length === 1)
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    await deliver(service, { from: owner.email, to: agent.address, text: 'hello' })
    await until(() => stream.of('notifications/events/event').length === 1)

    await page.goto(`${publicUrlOf(service)}/app/profile`)
    const disconnect = page.getByRole('button', { name: 'Disconnect', exact: true })
    await page.getByText('Hosted Client').waitFor()
    await expectNarrow(page)
    await picture(page, 'profile-dark-390')
    await disconnect.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click()
    await page.getByText('No app is connected.').waitFor()
    await stream.ended
    expect((await postRpc(service.http, tokens.access_token, 'tools/list')).status).toBe(401)
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('who is signed in already goes straight to the consent page, and may deny', async () => {
  const page = await browser.page({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false })
  await page.goto(`${publicUrlOf(service)}/app/sign-in`)
  await page.getByText('Use a token').click()
  await page.getByLabel('Your member token').fill(owner.token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/app')

  const redirectUri = `${site}/callback`
  const client = await register(found, { client_name: 'Denied Client', redirect_uris: [redirectUri] })
  await comeFromElsewhere(page, await begin(found, client, { redirect_uri: redirectUri }))
  await page.getByRole('heading', { name: `Connect ${new URL(site).host}?` }).waitFor()
  await picture(page, 'consent-light')
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.waitForURL(`${redirectUri}?error=access_denied*`)
})

browserTest('an invalid request ends on a page that says so', async () => {
  const page = await browser.page({ viewport: { width: 390, height: 844 } })
  const answer = await page.goto(`${publicUrlOf(service)}/oauth/authorize?client_id=unknown`)
  expect(answer?.status()).toBe(400)
  await page.getByRole('heading', { name: 'This app could not be connected' }).waitFor()
  await expectNarrow(page)
  await picture(page, 'oauth-error-390')
})
