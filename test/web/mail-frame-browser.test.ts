import { expect } from 'vitest'
import { browserTest, errorsOf, picture, startBrowser } from '../support/browser.ts'
import { receive } from '../support/letter.ts'
import { createTestAgent, sharedService, type TestAgent } from '../support/service.ts'

/** Hostile mails in a real browser, as the web application shows them: in a frame, from a link. */

const service = await sharedService()
const browser = await startBrowser()
const tenant = await service.workspace()
const agent = await createTestAgent(service, tenant)

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const HOSTILE = `<html><head><title>x</title>
<base href="https://evil.example/base/"><meta http-equiv="refresh" content="0; url=https://evil.example/refresh">
<link rel="stylesheet" href="https://evil.example/link.css"><link rel="preload" as="image" href="https://evil.example/preload.gif">
<link rel="dns-prefetch" href="//dns.evil.example"><link rel="icon" href="https://evil.example/icon.ico">
<script>parent.postMessage('script', '*')</script><script src="https://evil.example/script.js"></script>
<style>@import url(https://evil.example/import.css); @font-face { font-family: f; src: url(https://evil.example/f.woff) }
body { background: url(https://evil.example/body.gif); font-family: f } p::before { content: url("https://evil.example/content.gif") }
p { background: \\75\\72\\6c(https://evil.example/escaped.gif); cursor: url(https://evil.example/cursor.cur), auto }
li { list-style-image: image-set("https://evil.example/set.gif" 1x) }</style></head>
<body background="https://evil.example/body2.gif" onload="parent.postMessage('onload', '*')">
<p id="text" style="background-image: url(https://evil.example/inline.gif)">Visible text</p><ul><li>item</ul>
<img src="https://evil.example/image.gif" alt="remote"><img src="//evil.example/relative.gif"><img src="image.gif">
<img src=x onerror="parent.postMessage('onerror', '*')"><img srcset="https://evil.example/srcset.gif 1x">
<picture><source srcset="https://evil.example/source.gif"><img></picture><input type=image src="https://evil.example/input.gif">
<video src="https://evil.example/video.mp4" poster="https://evil.example/poster.gif" autoplay></video><audio src="https://evil.example/a.mp3" autoplay></audio>
<iframe src="https://evil.example/frame.html"></iframe><iframe srcdoc="<script>top.postMessage('srcdoc', '*')</script>"></iframe>
<object data="https://evil.example/object.swf"></object><embed src="https://evil.example/embed.swf">
<svg><image href="https://evil.example/svg.gif"></image><script>top.postMessage('svg', '*')</script><animate onbegin="top.postMessage('animate', '*')" attributeName=x dur=1s></svg>
<form action="https://evil.example/form" id=f><button autofocus onfocus="top.postMessage('focus', '*')">Send</button></form>
<a id="go" href="https://example.com/page" ping="https://evil.example/ping">a link</a> <a href="javascript:top.postMessage('link', '*')">a script</a>
<img id="own" src="cid:own@mail" alt="own"><div style="position: fixed; inset: 0">over everything</div>
<noscript><img src="https://evil.example/noscript.gif"></noscript><table background="https://evil.example/table.gif"><tr><td>cell</table>
</body></html>`

const letter = {
  from: tenant.email,
  to: agent.address,
  subject: 'Hello',
  html: HOSTILE,
  attachments: [{ cid: 'own@mail', filename: 'own.png', content: PIXEL, encoding: 'base64' }],
}

interface FrameOptions {
  remoteImages: boolean
  /** What is shown instead of the sanitized mail, with the same headers. */
  unsanitized?: string
}

/** Opens a page of the service that shows the mail in a frame, and records what it requests and hears. */
const openFrame = async (
  reader: TestAgent,
  messageId: string,
  { remoteImages, unsanitized }: FrameOptions,
) => {
  const link = await reader.api('POST', `/agents/${reader.id}/messages/${messageId}/html/link`, {
    remoteImages,
  })
  const { url } = link.body
  const page = await browser.ownPage({ colorScheme: 'dark' })
  const requested: string[] = []
  const parent = `${new URL(url).origin}/frame-test`
  await page.context().route('**/*', async (route) => {
    const asked = route.request().url()
    if (asked === parent)
      return route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><title>parent</title><script>heard = []; onmessage = (event) => heard.push(event.data)</script>
          <iframe sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox" src="${url}" width="800" height="600"></iframe>`,
      })
    // Which the test's own request would not have.
    const headers = { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'same-origin' }
    if (asked === url && unsanitized)
      return route.fulfill({ response: await route.fetch({ headers }), body: unsanitized })
    if (asked.startsWith(new URL(url).origin)) return route.continue()
    requested.push(asked)
    return route.fulfill({ contentType: 'image/png', body: Buffer.from(PIXEL, 'base64') })
  })
  await page.goto(parent)
  const frame = page.frameLocator('iframe')
  await frame.getByText('Visible text').waitFor()
  return { page, frame, requested, heard: () => page.evaluate<string[]>('heard') }
}

browserTest('a hostile mail runs no script and requests nothing before consent', async () => {
  const { id } = await receive(service, agent, letter)
  const { page, frame, requested, heard } = await openFrame(agent, id, { remoteImages: false })
  const own = frame.getByAltText('own')
  expect(await own.evaluate('document.querySelector("[alt=own]").naturalWidth')).toBe(1)
  await picture(page, 'hostile-mail')
  await frame.getByText('a script').click()
  expect(requested).toEqual([])
  expect(await heard()).toEqual([])
  // The policy had nothing to block: it was removed before.
  expect(errorsOf(page).join()).not.toMatch(/Content.Security.Policy/i)

  const [tab] = await Promise.all([page.context().waitForEvent('page'), frame.getByText('a link').click()])
  expect(tab.url()).toBe('https://example.com/page')
  expect(await tab.evaluate('window.opener')).toBeNull()
  expect(page.url()).toMatch(/frame-test$/)
})

const THIEF = `parent.postMessage('stolen ' + document.cookie + localStorage.length + parent.document.title, '*')`

/** What a mail tries that wants the page around it, in ways that need no other server. */
const THEFT = `<script>${THIEF}</script><img src=x onerror="${THIEF}"><svg onload="${THIEF}"></svg>
  <iframe src="javascript:${THIEF}"></iframe><iframe srcdoc="<script>parent.${THIEF}</script>"></iframe>
  <object data="data:text/html,<script>parent.${THIEF}</script>"></object><embed src="javascript:${THIEF}">
  <form action="/frame-test?form" target="_top"><button id="send">Send</button></form>
  <a href="javascript:${THIEF}" id="script">a script</a> <a href="/frame-test?top" target="_top">over the page</a>
  <a href="/frame-test?parent" target="_parent">over the parent</a> <details open ontoggle="${THIEF}"></details>
  <input autofocus onfocus="${THIEF}"><style onload="${THIEF}"></style><marquee onstart="${THIEF}"></marquee>`

browserTest(
  'what the sanitizer might miss runs no script either, in a frame with the page’s origin',
  async () => {
    const { id } = await receive(service, agent, letter)
    const { page, frame, requested, heard } = await openFrame(agent, id, {
      remoteImages: false,
      unsanitized: HOSTILE.replace(/<meta[^>]*>/, '').replace('</body>', `${THEFT}</body>`),
    })
    // It does have the origin, which is what the page around it measures it with.
    expect(
      await page.evaluate('document.querySelector("iframe").contentDocument.body.offsetHeight'),
    ).toBeGreaterThan(50)
    for (const words of ['a script', 'over the page', 'over the parent', 'Send'])
      for (const one of await frame.getByText(words, { exact: true }).all()) await one.dispatchEvent('click')
    await frame.locator('input[autofocus]').focus()
    expect(await heard()).toEqual([])
    expect(requested).toEqual([])
    expect(page.url()).toMatch(/frame-test$/)
  },
)

browserTest('a redirect that the sanitizer might miss is not followed', async () => {
  const { id } = await receive(service, agent, letter)
  const redirect =
    '<meta http-equiv="refresh" content="0; url=https://evil.example/refresh"><p>Visible text</p>'
  const { frame, requested } = await openFrame(agent, id, { remoteImages: false, unsanitized: redirect })
  await frame.getByText('Visible text').click()
  expect(requested).toEqual([])
})

browserTest('images on other servers load on request, over https, and nothing else does', async () => {
  const { id } = await receive(service, agent, letter)
  const { page, frame, requested, heard } = await openFrame(agent, id, { remoteImages: true })
  await expect
    .poll(() => requested.map((url) => new URL(url).pathname).sort())
    .toEqual(['/body.gif', '/content.gif', '/cursor.cur', '/image.gif', '/inline.gif', '/table.gif'])
  expect(await heard()).toEqual([])
  const ground = await frame
    .locator('html')
    .evaluate('getComputedStyle(document.documentElement).backgroundColor')
  expect(ground).toBe('rgb(255, 255, 255)')
  await picture(page, 'hostile-mail-with-images')
})

browserTest('the page keeps to its sandbox outside a frame, and other sites cannot frame it', async () => {
  const { id } = await receive(service, agent, letter)
  const { body } = await agent.api('POST', `/agents/${agent.id}/messages/${id}/html/link`, {})
  const response = await fetch(body.url)
  expect(response.headers.get('content-security-policy')).toBe(
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
  )
  const page = await browser.ownPage()
  await page.goto(body.url)
  expect(await page.evaluate('origin')).toBe('null')
  // Only a frame of the service's own page has its origin: no tab, no frame of another site, no plugin.
  const headersFor = async (headers: Record<string, string>) =>
    (await fetch(body.url, { headers })).headers.get('content-security-policy')
  for (const headers of [
    { 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Dest': 'embed', 'Sec-Fetch-Site': 'same-origin' },
  ])
    expect([headers, await headersFor(headers)]).toEqual([
      headers,
      expect.not.stringContaining('same-origin'),
    ])
  const other = `${new URL(body.url).origin.replace('localhost', '127.0.0.1')}/frame-test`
  await page
    .context()
    .route(other, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${body.url}"></iframe>` }),
    )
  await page.goto(other)
  await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
})
