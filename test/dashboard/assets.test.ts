import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { browserTest, startBrowser } from '../support/browser.ts'
import { type CookieClient, cookieClient, signedIn } from '../support/cookie-client.ts'
import { openApp } from '../support/dashboard.ts'
import { startService, type TestService } from '../support/service.ts'

/** How the web application is served. */

const ROOT = join(import.meta.dirname, '..', '..')

let service: TestService
let member: CookieClient
let script: string
beforeAll(async () => {
  service = await startService()
  member = await signedIn(service, (await service.workspace()).token)
  const page = await member.get('/app/inbox')
  script = /src="(\/app\/assets\/app-[^"]+\.js)"/.exec(page.text)?.[1] ?? 'no script'
})

/** Without `fetch`, which decodes by itself. */
const load = (path: string, encoding?: string) =>
  new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const headers = encoding === undefined ? {} : { 'Accept-Encoding': encoding }
    get(service.http + path, { headers }, async (response) => {
      const bytes = Buffer.concat(await response.toArray())
      resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes })
    }).on('error', reject)
  })

test('every address of the application is its page, without caching and with a strict policy', async () => {
  for (const path of [
    '/app',
    '/app/',
    '/app/inbox/00000000-0000-0000-0000-000000000000?agent=x',
    '/app/nowhere',
  ]) {
    const page = await member.get(path)
    expect([path, page.status, page.headers.get('cache-control')]).toEqual([path, 200, 'no-cache'])
    expect(page.text).toContain('<div id="app"></div>')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/default-src 'none'/)
    expect(policy).toMatch(/require-trusted-types-for 'script'; trusted-types 'none'/)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  }
})

test('who is not signed in is asked to, and returns to the address', async () => {
  const { status, location } = await cookieClient(service).get('/app/inbox/x?agent=y')
  expect([status, location]).toEqual([303, `/app/sign-in?to=${encodeURIComponent('/app/inbox/x?agent=y')}`])
})

test('nothing is painted in the colours of another theme than the one that was chosen', async () => {
  const { text } = await member.get('/app/inbox')
  expect(text).toMatch(/<script type="module" blocking="render"[^>]* src="\/app\/assets\//)
})

test('the pages for signing in and the application have the same colours', async () => {
  const style = readFileSync(join(ROOT, 'src', 'dashboard', 'parts', 'style.css'), 'utf8')
  const { text } = await cookieClient(service).get('/app/sign-in')
  const colours = [...text.matchAll(/(--[a-z-]+): (light-dark\([^)]*\))/g)].map(([, name, value]) => [
    name,
    value,
  ])
  expect(colours.length).toBeGreaterThan(7)
  for (const [name, value] of colours) expect(style).toContain(`${name}: ${value};`)
})

test('without JavaScript the page says what is needed', async () => {
  const { text } = await member.get('/app/inbox')
  expect(text).toMatch(/<noscript>[\s\S]*needs JavaScript[\s\S]*\/app\/passkeys[\s\S]*<\/noscript>/)
})

test('assets are compressed as the browser likes, and kept for ever', async () => {
  const plain = await load(script)
  expect(plain.status).toBe(200)
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
    'x-content-type-options': 'nosniff',
  })
  const brotli = await load(script, 'gzip, deflate, br')
  expect(brotli.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
  const gzip = await load(script, 'gzip, br;q=0')
  expect(gzip.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true)
  expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 3)
  expect((await load(script, 'gzip;q=0, br;q=0')).headers['content-encoding']).toBeUndefined()
})

test('what every screen needs comes in few files, and at once', async () => {
  const { text } = await member.get('/app/inbox')
  const scripts = [...text.matchAll(/<(?:script|link)[^>]*\/app\/assets\/[^"]+\.js"[^>]*>/g)].map(
    ([tag]) => tag,
  )
  expect(scripts.length).toBeLessThanOrEqual(3)
  // None paints before the theme is known.
  for (const tag of scripts) expect(tag).toContain('blocking="render"')
})

test('browsers can install the application, with icons of its own', async () => {
  const { text, headers } = await member.get('/app')
  expect(headers.get('content-security-policy')).toContain("manifest-src 'self'")
  const path = /<link rel="manifest" href="([^"]+)"/.exec(text)?.[1] ?? 'none'
  const manifest = await load(path)
  expect(manifest.headers['content-type']).toBe('application/manifest+json; charset=utf-8')
  const { icons, ...rest } = JSON.parse(manifest.bytes.toString())
  expect(rest).toMatchObject({ id: '/app', start_url: '/app', scope: '/app', display: 'standalone' })
  expect(icons.map(({ purpose }: { purpose: string }) => purpose)).toEqual(['any', 'maskable'])
  for (const { src, type } of icons) {
    const icon = await load(src)
    expect([icon.status, icon.headers['content-type']]).toEqual([200, type])
  }
})

test('an asset of another build is not found, nor is anything else of the machine', async () => {
  const names = ['index-0ldBu1ld.js', '..%2findex.html', '..%5c..%5cpackage.json', '.br', 'index.html', '%00']
  for (const name of names) {
    const { status, bytes } = await load(`/app/assets/${name}`)
    expect([name, status === 404 || status === 303]).toEqual([name, true])
    expect(bytes.toString()).not.toMatch(/dependencies|<script/)
  }
  const { status, headers } = await load('/app/assets/index-0ldBu1ld.js')
  expect([status, headers['cache-control']]).toEqual([404, 'no-store'])
})

/** A first visit may transfer this much for a screen, in bytes with gzip. */
const MOST_AT_FIRST = 150_000

browserTest.each(['home', 'inbox', 'waiting'])('the first load of /app/%s is light', async (screen) => {
  const browser = await startBrowser()
  const owner = await service.workspace(`Light ${screen}`)
  const page = await openApp(await browser.page(), service, owner, `/app/${screen}`)
  await page.waitForLoadState('load')
  await page.locator('h1').first().waitFor()
  const names = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => /\\.(js|css)$/.test(path))",
  )
  expect(names.length).toBeGreaterThan(2)
  const files = await Promise.all([...new Set(names)].map((path) => load(path, 'gzip')))
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  expect(bytes).toBeLessThan(MOST_AT_FIRST)
})
