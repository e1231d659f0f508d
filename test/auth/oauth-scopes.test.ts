import { beforeAll, expect, test } from 'vitest'
import { type CookieClient, formTokenIn, signedIn } from '../support/cookie-client.ts'
import { postRpc } from '../support/mcp.ts'
import { begin, type Discovered, decide, discover, openConsent, redeem, register } from '../support/oauth.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** What an app may do: what it asks for, of which the member takes some away. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: CookieClient
let found: Discovered
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  browser = await signedIn(service, owner.token)
  found = await discover(service)
})

const EVERYTHING = ['messages:read', 'messages:write', 'events', 'settings']

/** The scopes that a consent page offers, and those that are chosen. */
const shownOn = (text: string) =>
  [...text.matchAll(/<input type="checkbox" id="[^"]+" name="scope" value="([^"]+)"( checked)?>/g)].map(
    ([, scope, checked]) => (checked ? `+${scope}` : `-${scope}`),
  )

/** Connects a client that asks for a scope; the member chooses one, or sends an older form without any. */
const connectWith = async (scope: string | null, form: Record<string, string> = {}) => {
  const client = await register(found)
  const begun = await begin(found, client, { scope })
  const consent = await openConsent(browser, begun)
  const returned = await decide(browser, consent, { agent: agent.id, decision: 'allow', ...form })
  const tokens = await redeem(found, client, begun, returned)
  const apps = (await owner.api('GET', '/connected-apps')).body
  return { shown: shownOn(consent.page.text), tokens, app: apps.at(-1) }
}

const toolsOf = async (token: string): Promise<string[]> =>
  (await postRpc(service.http, token, 'tools/list')).body.result.tools.map(
    ({ name }: { name: string }) => name,
  )

test('the metadata say the scopes', async () => {
  expect(found.server.scopes_supported).toEqual([
    'agent',
    ...EVERYTHING.slice(0, 3),
    'secrets:reveal',
    'settings',
    'tokens',
  ])
  const resource = await (await fetch(`${service.http}/.well-known/oauth-protected-resource/mcp`)).json()
  expect(resource).toMatchObject({ scopes_supported: ['agent', ...EVERYTHING] })
})

test.each([['agent'], [null], ['openid'], ['agent messages:read']])(
  'who asks for %j asks for everything',
  async (scope) => {
    const { shown, tokens, app } = await connectWith(scope, {
      offered: EVERYTHING.join(' '),
      scope: 'events',
    })
    expect(shown).toEqual(EVERYTHING.map((one) => `+${one}`))
    expect([tokens.scope, app.scopes]).toEqual(['events', ['events']])
    const whole = await connectWith(scope)
    expect([whole.tokens.scope, whole.app.scopes]).toEqual(['agent', null])
  },
)

test('an app gets what it asks for, and its tools are those alone', async () => {
  const { shown, tokens, app } = await connectWith('messages:read events')
  expect(shown).toEqual(['+messages:read', '+events'])
  expect([tokens.scope, app.scopes]).toEqual(['messages:read events', ['messages:read', 'events']])
  const tools = await toolsOf(tokens.access_token)
  expect(tools).toContain('read_message')
  for (const tool of ['reply', 'send_message', 'create_agent', 'list_secrets'])
    expect(tools).not.toContain(tool)
  const call = { name: 'send_message', arguments: { to: ['bo@example.com'], text: 'hi' } }
  expect((await postRpc(service.http, tokens.access_token, 'tools/call', call)).text).toContain(
    'This token does not have the scope messages:write.',
  )
})

test('nobody widens what was asked for, or allows nothing', async () => {
  const client = await register(found)
  const { at, page } = await openConsent(browser, await begin(found, client, { scope: 'events' }))
  const form = { form: formTokenIn(page), agent: agent.id, decision: 'allow', offered: 'events settings' }
  for (const wrong of [{}, { scope: 'settings' }]) {
    const shown = await browser.submit(at, { ...form, ...wrong })
    expect([shown.status, shown.text]).toEqual([
      400,
      expect.stringContaining('Choose at least one thing that it may do.'),
    ])
    expect(shownOn(shown.text)).toEqual(['-events'])
  }
})

test('the audit log names what an app was connected with', async () => {
  await connectWith('messages:read')
  const { body } = await owner.api('GET', '/audit?action=app.connect&limit=1')
  expect(body.items[0].detail).toMatchObject({ scopes: ['messages:read'] })
})
