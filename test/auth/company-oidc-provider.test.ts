import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { beforeAll, expect, test } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { cookieClient } from '../support/cookie-client.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { ownDomain } from '../support/own-domain.ts'
import { startService, type Tenant, type TestService } from '../support/service.ts'

/** Signing in with the account of a company, at an OpenID provider that others have written (certified by the OpenID Foundation). */

const zone: Zone = {}
let service: TestService
let owner: Tenant
let issuer: string

/** Signs everybody in as Ann, and consents. */
const interact = async (provider: Provider, request: IncomingMessage, response: ServerResponse) => {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId: 'ann' } })
  const grant = new provider.Grant({ accountId: session!.accountId, clientId: String(params.client_id) })
  grant.addOIDCScope('openid email profile')
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

beforeAll(async () => {
  service = await startService({ world: { resolver: fakeResolver(zone) } })
  owner = await service.workspace()
  const domain = await ownDomain(owner, zone, 'company.example')
  let provider: Provider
  const server = createServer((request, response) =>
    request.url?.startsWith('/interaction/')
      ? void interact(provider, request, response)
      : void provider.callback()(request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { body } = await owner.api('PATCH', '/workspace', {
    signIn: { issuer, clientId: 'ams', clientSecret: 'a-secret-of-the-client', domains: [domain.name] },
  })
  const { redirectUrl } = body.settings.signIn
  provider = new Provider(issuer, {
    clients: [{ client_id: 'ams', client_secret: 'a-secret-of-the-client', redirect_uris: [redirectUrl] }],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the test'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@company.example`, email_verified: true, name: 'Ann' }),
    }),
  })
})

/** Follows redirects at the provider, as a browser would; returns the URL on another origin. */
const follow = async (url: string): Promise<URL> => {
  const cookies = new Map<string, string>()
  let at = new URL(url)
  while (at.origin === issuer) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    expect(location, await response.text()).not.toBeNull()
    at = new URL(location!, at)
  }
  return at
}

test('a person signs in, and is told apart by what the userinfo endpoint says', async () => {
  const browser = cookieClient(service)
  const begun = await browser.submit('/app/sign-in/company', { email: 'ann@company.example' })
  const url = /content="0; url=([^"]+)"/.exec(begun.text)![1]!.replaceAll('&amp;', '&')
  const back = await follow(url)
  const page = await browser.get(back.pathname + back.search)
  expect(page.text).toContain('Continue')
  expect(await (await browser.ask('{ viewer { name email role } }')).json()).toEqual({
    data: { viewer: { name: 'Ann', email: 'ann@company.example', role: 'member' } },
  })
})
