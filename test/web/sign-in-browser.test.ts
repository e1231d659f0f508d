import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { systemClock } from '../../src/core/clock.ts'
import { afterFile } from '../support/after-file.ts'
import {
  browserTest,
  errorsOf,
  expectNarrow,
  picture,
  startBrowser,
  type TestBrowser,
} from '../support/browser.ts'
import { signedIn as signedInSurfer } from '../support/cookie-client.ts'
import { expectAccessible } from '../support/dashboard.ts'
import { startService, type Tenant, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Signing in and the pages of signed-in members, in a real browser. */

let service: TestService
let owner: Tenant
let browser: TestBrowser
let origin: string
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace('Acme')
  origin = service.http.replace('127.0.0.1', 'localhost')
  browser = await startBrowser()
})

const link = async (tenant = owner) => {
  const deps = { ...service.db, clock: systemClock, publicUrl: () => origin }
  return (await createOperatorLink(deps, { email: tenant.email })).url
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** Waits for the start page after signing in, then opens the one of the member's account. */
const toAccount = async (page: Page): Promise<void> => {
  await page.waitForURL(/\/app(\/inbox)?$/)
  await page.goto(`${origin}/app/profile`)
  await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor()
}
/** Signs out on the page of the service that can do it without JavaScript. */
const signOut = async (page: Page): Promise<void> => {
  await page.goto(`${origin}/app/passkeys`)
  await button(page, 'Sign out').click()
  await page.waitForURL(`${origin}/app/sign-in`)
}
/** Signs in by a link; returns the page, which shows the member's account. */
const enter = async (page: Page, tenant = owner): Promise<Page> => {
  await page.goto(await link(tenant))
  await button(page, 'Sign in').click()
  await toAccount(page)
  return page
}
const PHONE = { viewport: { width: 390, height: 844 } }

browserTest('a link leaves the address bar at once and signs in on a click', async () => {
  const page = await browser.page(PHONE)
  await page.goto(await link())
  expect(page.url()).toBe(`${origin}/app/sign-in`)
  const focused = await page.evaluate<string>('document.activeElement.textContent')
  expect(focused).toBe('Sign in')
  await picture(page, 'link')
  await page.keyboard.press('Enter')
  await toAccount(page)
  await page.goBack()
  expect(page.url()).not.toContain('asl_')
  await page.goto(`${origin}/app/sign-in`)
  // The same page, to which only the fragment is added.
  await page.evaluate(`location.hash = ${JSON.stringify(new URL(await link()).hash)}`)
  await button(page, 'Sign in').click()
  await toAccount(page)
  expect(errorsOf(page)).toEqual([])
})

browserTest('without JavaScript, a pasted link signs in, and a form signs out', async () => {
  const page = await browser.page({ ...PHONE, javaScriptEnabled: false })
  await page.goto(`${origin}/app`)
  expect(page.url()).toBe(`${origin}/app/sign-in`)
  await page.getByText('Use a link to sign in').click()
  await page.getByLabel(/The link/).fill(await link())
  await button(page, 'Sign in').first().click()
  await page.waitForURL(`${origin}/app`)
  await page.getByRole('link', { name: '/app/passkeys' }).click()
  await button(page, 'Sign out').click()
  expect(page.url()).toBe(`${origin}/app/sign-in`)
})

browserTest('a token is exchanged, and is nowhere in the browser afterwards', async () => {
  const page = await browser.page()
  await page.goto(`${origin}/app`)
  await page.getByText('Use a token').click()
  await page.getByLabel('Your member token').fill(owner.token)
  await picture(page, 'token')
  await button(page, 'Sign in').last().click()
  await toAccount(page)
  const stored = await page.evaluate<string>(
    'JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie',
  )
  expect(stored).toBe('{}')
  const cookies = await page.context().cookies()
  expect(cookies).toMatchObject([
    { name: expect.stringMatching(/^__Host-ams-\d+$/), httpOnly: true, secure: true, sameSite: 'Strict' },
  ])
  expect(JSON.stringify(cookies)).not.toContain(owner.token)
  expect(errorsOf(page)).toEqual([])
})

describe('passkeys', () => {
  /** A device that confirms everything, as a person with a fingerprint would. */
  const addDevice = async (page: Page): Promise<CDPSession> => {
    const session = await page.context().newCDPSession(page)
    await session.send('WebAuthn.enable')
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return session
  }

  const removePasskey = async (page: Page): Promise<void> => {
    await button(page, 'Remove').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  }

  browserTest('are registered after signing in, sign in, and can be removed', async () => {
    const tenant = await service.workspace('Keys')
    const page = await browser.page(PHONE)
    await addDevice(page)
    await enter(page, tenant)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name').fill('My <b>phone</b>')
    await picture(page, 'passkey')
    await button(page, 'Add').click()
    await page.waitForURL(`${origin}/app/profile`)
    await page.getByRole('cell', { name: 'My <b>phone</b>' }).waitFor()
    await expectNarrow(page)
    await expectAccessible(page)
    await picture(page, 'passkeys')
    const outbox = join(service.dataDir, 'outbox')
    await until(() =>
      readdirSync(outbox).some((name) =>
        readFileSync(join(outbox, name), 'utf8').includes('A passkey was added'),
      ),
    )
    await signOut(page)
    await page.goto(`${origin}/app/sign-in?to=/app/profile?x=1`)
    const replayed = page.waitForRequest((request) => request.url().endsWith('/app/sign-in/passkey'))
    await button(page, 'Sign in with a passkey').click()
    await page.waitForURL(`${origin}/app/profile?x=1`)
    // The same answer of the passkey once more, from the same origin, counts for nothing.
    const body = (await replayed).postData()!
    const again = await fetch(`${origin}/app/sign-in/passkey`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: origin, 'Content-Type': 'application/x-www-form-urlencoded' },
      body,
    })
    expect([again.status, again.headers.getSetCookie()]).toEqual([401, []])
    await removePasskey(page)
    await page.getByRole('cell', { name: 'My <b>phone</b>' }).waitFor({ state: 'detached' })
    await signOut(page)
    await button(page, 'Sign in with a passkey').click()
    await page.getByText('This passkey was not accepted').waitFor()
    const { items } = (await tenant.api('GET', '/audit')).body
    expect(items.map(({ action }: { action: string }) => action).reverse()).toEqual([
      'session.link',
      'session.create',
      'passkey.add',
      'session.revoke',
      'session.create',
      'session.refuse',
      'passkey.remove',
      'session.revoke',
    ])
    expect(errorsOf(page).filter((text) => !text.includes('401'))).toEqual([])
  })

  browserTest(
    'that a workspace requires are registered first, and are the only way from then on',
    async () => {
      const tenant = await service.workspace('Strict')
      const set = await tenant.api('PATCH', '/workspace', { requirePasskeys: true })
      expect(set.body.settings.requirePasskeys).toBe(true)
      const page = await browser.page(PHONE)
      await addDevice(page)
      await page.goto(await link(tenant))
      await button(page, 'Sign in').click()
      await page.getByText('This workspace requires a passkey').waitFor()
      const graphql = await page.evaluate<number>(
        `fetch('/graphql', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Requested-By': 'test' }, body: '{"query":"{ viewer { id } }"}' }).then(({ status }) => status).catch(() => 0)`,
      )
      // The page's own policy allows no requests; the session would not count either.
      expect(graphql).toBe(0)
      await page.goto(`${origin}/app`)
      expect(page.url()).toBe(`${origin}/app/passkeys?to=%2Fapp`)
      await button(page, 'Add').click()
      await toAccount(page)
      await removePasskey(page)
      await page.getByText('This workspace requires a passkey: add another one first').waitFor()
      await page.goto(`${origin}/app/sign-in`)
      await page.getByText('Use a token').click()
      await page.getByLabel('Your member token').fill(tenant.token)
      await button(page, 'Sign in').last().click()
      await page.getByText('This workspace requires your passkey').waitFor()
      await button(page, 'Sign in with a passkey').click()
      await toAccount(page)
    },
  )
})

describe('another site', () => {
  /** Serves a page on another port of the same host, to which browsers send SameSite cookies too. */
  const attack = async (html: string): Promise<string> => {
    const server = createServer((_, response) =>
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(`<!doctype html><meta charset=utf-8>${html}`),
    ).listen(0, '127.0.0.1')
    afterFile(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise((resolve) => server.once('listening', resolve))
    return `http://localhost:${(server.address() as AddressInfo).port}/`
  }
  const CREATE = 'mutation { createAgent(input: { name: "forged", icon: bot }) { agent { id } } }'
  const agents = async () => (await owner.api('GET', '/agents')).body.length as number
  /** Runs a script on the other site in a browser in which the owner is signed in; returns what it reports. */
  // None of the scripts ends the session, so they share one.
  let signedIn: Promise<Page> | undefined
  const run = async (script: string) => {
    signedIn ??= browser.keptPage().then((page) => enter(page))
    const page = await (await signedIn).context().newPage()
    const before = await agents()
    await page.goto(
      await attack(`<body><script>
      const url = ${JSON.stringify(origin)}
      const query = ${JSON.stringify(CREATE)}
      const json = JSON.stringify({ query })
      const report = (text) => { document.title = text }
      const outcome = (promise) => promise.then(async (r) => report('got ' + r.type + ' ' + r.status + ' ' + await r.text()), () => report('blocked'))
      ${script}
    </script>`),
    )
    await page.waitForFunction('document.title !== ""')
    const title = await page.title()
    expect(await agents()).toBe(before)
    await page.goto(`${origin}/app/passkeys`)
    expect(page.url()).toBe(`${origin}/app/passkeys`)
    await page.close()
    return title
  }

  const headers = `{ 'Content-Type': 'application/json', 'X-Requested-By': 'evil' }`
  browserTest.each([
    [
      'a fetch with credentials',
      `outcome(fetch(url + '/graphql', { method: 'POST', credentials: 'include', headers: ${headers}, body: json }))`,
      'blocked',
    ],
    [
      'a fetch without credentials',
      `outcome(fetch(url + '/graphql', { method: 'POST', credentials: 'omit', headers: ${headers}, body: json }))`,
      'blocked',
    ],
    [
      'a fetch that needs no preflight',
      `outcome(fetch(url + '/graphql', { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'text/plain' }, body: json }))`,
      'blocked',
    ],
    [
      'a fetch without CORS',
      `outcome(fetch(url + '/graphql', { method: 'POST', mode: 'no-cors', credentials: 'include', body: json }))`,
      'got opaque 0',
    ],
    ['a fetch that reads a page', `outcome(fetch(url + '/app', { credentials: 'include' }))`, 'blocked'],
    [
      'a fetch that reads a page without CORS',
      `outcome(fetch(url + '/app', { mode: 'no-cors', credentials: 'include' }))`,
      'blocked',
    ],
    [
      'a fetch of the event stream',
      `outcome(fetch(url + '/graphql/stream', { method: 'PUT', credentials: 'include', headers: ${headers} }))`,
      'blocked',
    ],
    [
      'an event source',
      `const source = new EventSource(url + '/graphql?query=' + encodeURIComponent('subscription { x }'), { withCredentials: true }); source.onopen = () => report('open'); source.onerror = () => report('blocked')`,
      'blocked',
    ],
    [
      'an image',
      `const image = new Image(); image.onload = () => report('loaded'); image.onerror = () => report('blocked'); image.src = url + '/graphql?query=' + encodeURIComponent(query)`,
      'blocked',
    ],
    [
      'a script',
      `const tag = document.createElement('script'); tag.onload = () => report('loaded'); tag.onerror = () => report('blocked'); tag.src = url + '/app'; document.body.append(tag)`,
      'blocked',
    ],
    [
      'a WebSocket',
      `const socket = new WebSocket(url.replace('http', 'ws') + '/graphql', 'graphql-transport-ws'); socket.onopen = () => report('open'); socket.onerror = () => report('blocked')`,
      'blocked',
    ],
    [
      'a frame',
      `const frame = document.createElement('iframe'); frame.src = url + '/app'; frame.onload = () => { try { report('read ' + frame.contentDocument.body.innerText) } catch { report('blocked') } }; document.body.append(frame)`,
      'blocked',
    ],
  ])('cannot use a session with %s', async (_, script, expected) => {
    expect(await run(script)).toBe(expected)
  })

  const form = (action: string, fields: Record<string, string>, type = 'application/x-www-form-urlencoded') =>
    `<form method="post" action="${origin}${action}" enctype="${type}">${Object.entries(fields)
      .map(([name, value]) => `<input name='${name}' value='${value}'>`)
      .join('')}<button>Go</button></form>`

  browserTest.each([
    ['GraphQL', '/graphql', { query: CREATE.replaceAll('"', '&quot;') }, 'application/x-www-form-urlencoded'],
    ['GraphQL as text', '/graphql', { '{"query":"mutation { x }", "a': '":1}' }, 'text/plain'],
    ['signing out', '/app/sign-out', { form: '' }, 'application/x-www-form-urlencoded'],
    ['exporting the workspace', '/app/export', {}, 'application/x-www-form-urlencoded'],
    [
      'signing in as someone else',
      '/app/sign-in/token',
      { token: 'TOKEN' },
      'application/x-www-form-urlencoded',
    ],
    ['adding a passkey', '/app/passkeys', { name: 'x', answer: '{}' }, 'application/x-www-form-urlencoded'],
  ])('cannot submit a form for %s', async (_, action, fields, type) => {
    const victim = await service.workspace('Victim')
    const page = await enter(await browser.page(), victim)
    const given = 'token' in fields ? { token: owner.token } : fields
    await page.goto(await attack(form(action, given, type)))
    const answered = page.waitForResponse((response) => response.url() === `${origin}${action}`)
    await button(page, 'Go').click()
    expect((await answered).status()).toBeGreaterThanOrEqual(400)
    await page.goto(`${origin}/app/profile`)
    await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe(victim.email)
    expect((await victim.api('GET', '/agents')).body).toEqual([])
  })

  browserTest('cannot sign anyone in with a cookie of its own', async () => {
    const { cookies } = await signedInSurfer(service, owner.token)
    const [token] = cookies.values()
    const { port } = new URL(origin)
    const planted = ['', '/app', '/app/passkeys'].map((path) => `ams-${port}=${token}; path=${path || '/'}`)
    const page = await browser.page()
    await page.goto(
      await attack(`<script>for (const one of ${JSON.stringify(planted)}) document.cookie = one</script>`),
    )
    expect(await page.evaluate<string>('document.cookie')).toContain(token)
    await page.goto(`${origin}/app/passkeys`)
    expect(page.url()).toContain('/app/sign-in')
  })

  browserTest('that links here shows the page that was asked for to a signed-in member', async () => {
    const page = await enter(await browser.page())
    await page.goto(
      (await attack(`<a href="${origin}/app/passkeys?x=1">Go</a>`)).replace('localhost', '127.0.0.1'),
    )
    await page.getByRole('link', { name: 'Go' }).click()
    await page.getByText('A passkey stays on your device').waitFor()
    expect(page.url()).toBe(`${origin}/app/passkeys?x=1`)
  })
})

browserTest('a page of our own uses the session: GraphiQL', async () => {
  const page = await enter(await browser.page())
  await page.goto(`${origin}/graphql`)
  const answer = await page.evaluate<{ data: { viewer: { email: string } } }>(
    `fetch('/graphql', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Requested-By': 'graphiql' }, body: JSON.stringify({ query: '{ viewer { email } }' }) }).then((r) => r.json())`,
  )
  expect(answer.data.viewer.email).toBe(owner.email)
  await page.getByText('X-Requested-By').first().waitFor()
})

browserTest.each(['light', 'dark'] as const)(
  'the pages fit on a narrow screen in the %s scheme',
  async (scheme) => {
    const page = await browser.page({ ...PHONE, colorScheme: scheme })
    await page.goto(`${origin}/app/sign-in`)
    await button(page, 'Sign in with a passkey').waitFor()
    await expectNarrow(page)
    await picture(page, `sign-in-${scheme}`)
    await page.getByLabel('Email address').fill(owner.email)
    await page.keyboard.press('Enter')
    await page.getByText('Look at your mail').waitFor()
    await expectNarrow(page)
    await picture(page, `mail-${scheme}`)
    await enter(page)
    await enter(await browser.page())
    await page.reload()
    await expectNarrow(page)
    await picture(page, `home-${scheme}`)
    expect(errorsOf(page)).toEqual([])
  },
)

browserTest('the page to sign in is usable by keyboard, in the order in which it is read', async () => {
  const page = await browser.page()
  await page.goto(`${origin}/app/sign-in`)
  await button(page, 'Sign in with a passkey').waitFor()
  const order: string[] = []
  for (let turn = 0; turn < 5; turn++) {
    await page.keyboard.press('Tab')
    order.push(await page.evaluate<string>('document.activeElement.id || document.activeElement.textContent'))
  }
  expect(order).toEqual([
    'Sign in with a passkey',
    'email',
    'Email me a link',
    'Use a link to sign in',
    'Use a token',
  ])
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await until(async () => (await page.evaluate('document.activeElement.id')) === 'token')
})
