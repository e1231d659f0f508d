import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ams, endAms, startAms } from '../../support/ams.ts'
import { type CookieClient, formTokenIn, signedIn } from '../../support/cookie-client.ts'
import { connect, discover, publicUrlOf } from '../../support/oauth.ts'
import { temporaryDir } from '../../support/postgres.ts'
import {
  apiOf,
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Signing in with a browser: the test is the browser that `ams login` opens. */

const home = temporaryDir()
const opened = join(home, 'opened')
const browser = join(home, 'browser')
const credentials = join(home, '.config', 'ams', 'credentials.json')
let env: Record<string, string>
let service: SharedService
let owner: Tenant
let agent: TestAgent
let cookies: CookieClient
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace('Acme')
  agent = await createTestAgent(service, owner)
  cookies = await signedIn(service, owner.token)
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`)
  chmodSync(browser, 0o755)
  env = { HOME: home, BROWSER: browser }
})
afterAll(() => {
  endAms()
  rmSync(home, { recursive: true, force: true })
})

const login = () => startAms(env, ['login', '--url', service.http, '--browser'])

/** The page that the browser was told to open. */
const openedPage = async (): Promise<string> => {
  await until(() => existsSync(opened))
  const { pathname, search } = new URL(readFileSync(opened, 'utf8'))
  rmSync(opened)
  return pathname + search
}

/** Follows the request to the consent page, decides, and goes where the page leads to. */
const decide = async (path: string, form: Record<string, string>): Promise<Response> => {
  const { location } = await cookies.get(path)
  const { pathname } = new URL(location!, service.http)
  const consent = await cookies.get(pathname)
  const decided = await cookies.submit(pathname, { form: formTokenIn(consent), ...form })
  const next = /content="0; url=([^"]+)"/.exec(decided.text)![1]!.replaceAll('&amp;', '&')
  const returned = await cookies.get(next.slice(publicUrlOf(service).length))
  return fetch(returned.location!)
}

test('a member signs in, chooses the agent, and the command line acts as it until it signs out', async () => {
  const process = login()
  const path = await openedPage()
  const shown = await cookies.get(new URL((await cookies.get(path)).location!, service.http).pathname)
  expect(shown.text).toContain('read the values of the agent’s secrets')
  const callback = await decide(path, { agent: agent.id, decision: 'allow' })
  expect(callback.status).toBe(200)
  expect(await callback.text()).toContain('You can close this page')
  const { code, stdout } = await process.exited
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(agent.id) })
  expect(statSync(credentials).mode & 0o777).toBe(0o600)

  await owner.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'hush-hush-hush' })
  const read = 'process.stdout.write(String(process.env.KEY.length))'
  const ran = await ams(env, ['run', '--secrets', 'KEY', '--', globalThis.process.execPath, '-e', read])
  expect(ran).toMatchObject({ code: 0, stdout: '14' })
  const [app] = (await owner.api('GET', '/connected-apps')).body
  expect(app).toMatchObject({ name: 'ams, the command line', clientId: 'ams', agent: { id: agent.id } })

  const { token } = JSON.parse(readFileSync(credentials, 'utf8'))
  const signedOut = await ams(env, ['logout'])
  expect(signedOut).toMatchObject({ code: 0, stderr: `Signed out of ${service.http}.\n` })
  expect(existsSync(credentials)).toBe(false)
  expect((await apiOf(service.http, token)('GET', `/agents/${agent.id}`)).status).toBe(401)
  expect((await owner.api('GET', '/connected-apps')).body).toEqual([])
})

test('a member who denies leaves nothing behind', async () => {
  const process = login()
  await decide(await openedPage(), { decision: 'deny' })
  expect(await process.exited).toMatchObject({ code: 3, stderr: expect.stringContaining('denied') })
  expect(existsSync(credentials)).toBe(false)
})

test('an answer that is not its own is not taken', async () => {
  const process = login()
  const path = await openedPage()
  const redirectUri = new URLSearchParams(path.split('?')[1]).get('redirect_uri')
  const forged = await fetch(`${redirectUri}?code=stolen&state=guessed&iss=${publicUrlOf(service)}`)
  expect(forged.status).toBe(404)
  await decide(path, { agent: agent.id, decision: 'allow' })
  expect((await process.exited).code).toBe(0)
  await ams(env, ['logout'])
})

test('no other client gets a token for more than /mcp, whatever it calls itself', async () => {
  const found = await discover(service)
  const { accessToken } = await connect(found, cookies, agent.id)
  expect((await apiOf(service.http, accessToken)('GET', `/agents/${agent.id}`)).status).toBe(401)
  const elsewhere = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'ams', redirect_uri: 'https://evil.example/callback', state: 's' },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  })
  expect((await cookies.get(`/oauth/authorize?${elsewhere}`)).status).toBe(400)
})
