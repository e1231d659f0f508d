import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { browserTest, errorsOf, startBrowser, type TestBrowser } from '../support/browser.ts'
import { startCells, type TestCells } from '../support/cells.ts'
import { postRpc } from '../support/mcp.ts'
import { begin, type Discovered, discover, publicUrlOf, redeem, register } from '../support/oauth.ts'
import { apiOf, createTestAgent, type Tenant } from '../support/service.ts'

/** Connecting an app through a front with a real browser, which keeps the session's cookie from links on other sites. */

let world: TestCells
let owner: Tenant
let found: Discovered
let browser: TestBrowser
/** The client's site. Its page leads to `target`. */
let site: string
let target = ''
beforeAll(async () => {
  world = await startCells()
  owner = await world.cells[1].workspace('Second')
  await createTestAgent(world.service, { api: apiOf(world.service.http, owner.token) }, 'Bot')
  found = await discover(world.service)
  browser = await startBrowser()
  const client = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<!doctype html><link rel="icon" href="data:,"><a href="${target}">Connect</a>`)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => client.once('listening', resolve))
  afterFile(async () => void client.close())
  site = `http://127.0.0.1:${(client.address() as AddressInfo).port}`
})

browserTest(
  'a member of the second installation connects an app, signing in on the way, and another one',
  async () => {
    const page = await browser.page({ viewport: { width: 390, height: 844 } })
    const redirectUri = `${site}/callback`
    for (const isSignedIn of [false, true]) {
      const client = await register(found, { redirect_uris: [redirectUri] })
      const begun = await begin(found, client, { redirect_uri: redirectUri })
      target = (publicUrlOf(world.service) + begun.path).replaceAll('&', '&amp;')
      await page.goto(site)
      await page.getByRole('link', { name: 'Connect' }).click()
      if (!isSignedIn) {
        await page.getByText('Use a token').click()
        await page.getByLabel('Your member token').fill(owner.token)
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      }
      await page.getByRole('heading', { name: `Connect ${new URL(site).host}?` }).waitFor()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.waitForURL(`${redirectUri}?*`)
      const tokens = await redeem(found, client, begun, new URL(page.url()))
      expect((await postRpc(world.service.http, tokens.access_token, 'tools/list')).status).toBe(200)
    }
    expect(errorsOf(page)).toEqual([])
  },
)
