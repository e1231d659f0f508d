import type { Element, Root } from 'hast'
import { fromHtml } from 'hast-util-from-html'
import { expect, test } from 'vitest'
import { viewMail } from '../../../src/mail/view/view.ts'
import { type Letter, rawOf } from '../../support/mail.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const view = async (letter: Letter, remoteImages = false) =>
  viewMail(await rawOf({ from: 'ann@example.com', to: 'bot@example.com', ...letter }), { remoteImages }, true)

const ALLOWED = ['html', 'head', 'body', 'style', 'p', 'a', 'img', 'table', 'tbody', 'tr', 'td', 'div']

/** The elements that a browser finds in the HTML. */
const elementsOf = (html: string): Element[] => {
  const within = ({ children }: Root | Element): Element[] =>
    children.flatMap((child) => (child.type === 'element' ? [child, ...within(child)] : []))
  return within(fromHtml(html))
}

const htmlOf = async (html: string, remoteImages = false) => (await view({ html }, remoteImages)).html ?? ''

test.each([
  ['a script', '<script>alert(1)</script><p>kept</p>'],
  ['an event handler', '<p onclick="alert(1)" onmouseover=alert(1)>kept</p>'],
  [
    'a script behind a broken tag',
    '<p title="</p><script>alert(1)</script>">kept</p><<script>alert(1)</script>',
  ],
  ['a picture that fails', '<img src=x onerror=alert(1)><p>kept</p>'],
  ['a link to a script', '<a href="javascript:alert(1)">kept</a><a href=" java\nscript:alert(1)">x</a>'],
  ['a link to a document', '<a href="data:text/html,<script>alert(1)</script>">kept</a>'],
  ['an SVG', '<svg onload=alert(1)><style><img src=x onerror=alert(1)></style></svg><p>kept</p>'],
  ['MathML', '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></table></math><p>kept</p>'],
  [
    'raw text elements',
    '<xmp><script>alert(1)</script></xmp><textarea><img onerror=alert(1)></textarea><p>kept</p>',
  ],
  [
    'a style sheet that ends early',
    '<style>p{}</style\n><script>alert(1)</script><style>/*<!--</style><p>kept</p>',
  ],
  [
    'a frame',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe><object data=x></object><embed src=x><p>kept</p>',
  ],
  ['a form', '<form action=https://evil.example><input name=a autofocus onfocus=alert(1)><p>kept</p></form>'],
  [
    'a redirect',
    '<meta http-equiv=refresh content="0;url=https://evil.example"><base href=//evil.example><p>kept</p>',
  ],
  ['a noscript', '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript><p>kept</p>'],
  ['a template', '<template><script>alert(1)</script></template><p>kept</p>'],
  [
    'a comment',
    '<!--><img src=x onerror=alert(1)>--><p>kept</p><!--[if mso]><script>alert(1)</script><![endif]-->',
  ],
])('%s is removed and the text stays', async (_, html) => {
  const safe = await htmlOf(html)
  expect(safe).toContain('kept')
  for (const { tagName, properties } of elementsOf(safe)) {
    expect(ALLOWED).toContain(tagName)
    for (const [name, value] of Object.entries(properties)) {
      expect(name).not.toMatch(/^on/i)
      expect(String(value)).not.toMatch(/^\s*(?:java|data:text)/i)
    }
  }
  expect(safe).not.toContain('<!--')
})

test.each([
  ['an image', '<img src="https://evil.example/a.gif">'],
  ['an image without a scheme', '<img src="//evil.example/a.gif">'],
  ['an image over http', '<img src="http://evil.example/a.gif">'],
  ['a table background', '<table background="https://evil.example/a.gif"><tr><td>x</table>'],
  ['a style', '<p style="background:url(https://evil.example/a.gif)">x</p>'],
  ['a style sheet', '<style>p{background:url("https://evil.example/a.gif")}</style><p>x</p>'],
  ['an escaped style', '<style>p{background:\\75 r\\6c(https://evil.example/a.gif)}</style><p>x</p>'],
  ['an escaped letter', '<p style="background:u\\rl(https://evil.example/a.gif)">x</p>'],
])('%s on another server is counted and loads only on request', async (_, html) => {
  const blocked = await view({ html })
  expect(blocked.html).not.toMatch(/evil\.example/)
  expect(blocked.blockedImages).toBe(1)
  const shown = await view(
    { html: html.replace(/http:|(?<=")\/\//, (given) => (given === '//' ? 'https://' : 'https:')) },
    true,
  )
  expect(shown.html).toContain('https://evil.example/a.gif')
  expect(shown.blockedImages).toBe(0)
})

test.each([
  ['srcset', '<img srcset="https://evil.example/a.gif 2x">'],
  ['a video', '<video poster="https://evil.example/a.gif"></video>'],
  [
    'an import',
    '<style>@import "https://evil.example/a.css"; @im@import;port url(https://evil.example/b.css);</style>',
  ],
  ['an image set', '<p style="background:image-set(\'https://evil.example/a.gif\' 1x)">x</p>'],
  ['a linked style sheet', '<link rel=stylesheet href="https://evil.example/a.css">'],
])('%s loads nothing, also on request', async (_, html) => {
  const safe = await htmlOf(`${html}<p>kept</p>`, true)
  expect(safe).toContain('kept')
  expect(safe).not.toMatch(/@import|image-set|srcset|poster|<link/)
})

test.each([
  ['an escaped hyphen', `<p style="background:image\\-set('https://evil.example/a' 1x)">kept</p>`, 1],
  [
    'an escaped letter',
    `<p style="background:\\69mage-set('//evil.example/a' 1x, url(http:/\\/evil.example/b) 2x)">kept</p>`,
    2,
  ],
  [
    'a comment in a function',
    '<p style="background:-webkit-image-set(/**/url(https://evil.example/a) 1x)">kept</p>',
    1,
  ],
  [
    'an escaped rule',
    '<style>@\\69mport "https://evil.example/a"; @IMPORT url(//evil.example/b) screen;</style><p>kept</p>',
    2,
  ],
  [
    'a fading picture',
    '<p style="background:-webkit-cross-fade(url(https://evil.example/a),url(x),50%)">kept</p>',
    1,
  ],
  ['a function of a later standard', '<p style="background:later(\'https://evil.example/a\')">kept</p>', 1],
  ['a variable', '<p style="--x:url(https://evil.example/a);background:var(--x)">kept</p>', 1],
  ['a list of images', '<img srcset="https://evil.example/a 1x, https://evil.example/b 2x"><p>kept</p>', 2],
  [
    'other elements',
    '<video poster="https://evil.example/a" src="https://evil.example/b"></video><svg><image href="https://evil.example/c"/><use xlink:href="https://evil.example/d"/></svg><link rel=stylesheet href="https://evil.example/e"><object data="https://evil.example/f"></object><p>kept</p>',
    6,
  ],
  [
    'backslashes for slashes',
    '<img src="\\\\evil.example/a"><img src="https:\\evil.example/b"><p>kept</p>',
    2,
  ],
])('%s does not hide what is loaded: it is removed and counted', async (_, html, count) => {
  const { html: safe, blockedImages } = await view({ html })
  expect(safe).toContain('kept')
  expect(safe).not.toMatch(/evil/)
  expect(blockedImages).toBe(count)
})

test('pictures of the mail are embedded, within a limit, and only real pictures', async () => {
  const big = Buffer.concat([PIXEL, Buffer.alloc(3 * 1024 * 1024)])
  const { html } = await view({
    html: '<img src="cid:a@b" alt="first"><img src="CID:b%40b" alt=second><img src="cid:big" alt=third><img src="cid:big" alt=fourth><img src="cid:svg" alt=fifth><img src="cid:none">',
    attachments: [
      { cid: 'a@b', filename: 'a.png', content: PIXEL },
      { cid: 'b@b', filename: 'b.bin', contentType: 'application/octet-stream', content: PIXEL },
      { cid: 'big', filename: 'big.png', content: big },
      {
        cid: 'svg',
        filename: 'a.svg',
        content: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      },
    ],
  })
  expect(html?.match(/<img[^>]*?src="data:image\/png;base64/g)).toHaveLength(3)
  expect(html).toMatch(/alt="first"/)
  expect(html).toMatch(/<img alt="fourth">/)
  expect(html).toMatch(/<img alt="fifth">/)
  expect(html?.length).toBeLessThan(7 * 1024 * 1024)
})

test('links open in a new tab and tell nothing about this page', async () => {
  expect(await htmlOf('<a href="https://example.com/x?a=1&amp;b=2" target=_top>go</a>')).toContain(
    '<a href="https://example.com/x?a=1&#x26;b=2" target="_blank" rel="noopener noreferrer">go</a>',
  )
  expect(await htmlOf('<a href="/app/agents" id=top name=top>go</a>')).not.toMatch(/href|id=|name=/)
})

test('layout, colours of the body and harmless styles stay', async () => {
  const html = await htmlOf(
    '<head><style>@media (max-width: 600px) { .w { width: 100% } } @media (prefers-color-scheme: dark) { p { color: #fff } }</style></head><body bgcolor="#eeeeee" style="margin: 0"><table width=600 cellpadding=0 class=w><tr><td align=center valign=top bgcolor=red style="padding: 4px">x</table></body>',
  )
  expect(html).toContain('@media (max-width: 600px) { .w { width: 100% } }')
  expect(html).not.toContain('prefers-color-scheme')
  expect(html).toContain('<div style="background-color: #eeeeee; margin: 0">')
  expect(html).toContain('<table width="600" cellpadding="0" class="w">')
  expect(html).toContain('<td align="center" valign="top" bgcolor="red" style="padding: 4px">x</td>')
})

test('a mail without HTML has none, and a text part beside one is shown as text', async () => {
  expect((await view({ text: 'plain' })).html).toBeNull()
  const raw = Buffer.from(
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>one</p>\r\n--b\r\nContent-Type: text/plain\r\n\r\n<b>two\r\n--b--\r\n',
  )
  const { html } = await viewMail(raw, { remoteImages: false }, true)
  expect(html).toContain('<p>one</p>')
  expect(html).toContain('&lt;b&gt;two')
})

test.each([
  ['too long', 'x'.repeat(1024 * 1024 + 1)],
  ['nested ten thousand levels deep', '<div>'.repeat(10_000)],
  [
    'formatting that multiplies',
    `${Array.from({ length: 3_000 }, (_, n) => `<b id=${n}>`).join('')}${'<p>x'.repeat(3_000)}`,
  ],
])('HTML that is %s is left out', async (_, html) => {
  const raw = Buffer.from(`Subject: x\r\nContent-Type: text/html\r\n\r\n${html}`)
  const { html: safe, headers } = await viewMail(raw, { remoteImages: false }, true)
  expect(safe).toBeNull()
  expect(headers).toContainEqual({ name: 'Subject', value: 'x' })
})

test('a mail of more nested parts than can be parsed has its headers, and nothing else to show', async () => {
  const parts = Array.from(
    { length: 3_000 },
    (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n\r\n`,
  )
  const raw = `Subject: deep\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n${parts.join('')}`
  const shown = await viewMail(Buffer.from(raw), { remoteImages: false, part: 'hiddenText' }, true)
  expect(shown).toMatchObject({ html: null, hiddenText: [] })
  expect(shown.headers[0]).toEqual({ name: 'Subject', value: 'deep' })
})

test('header fields are decoded, in order, and bounded', async () => {
  const raw = Buffer.from(
    [
      'Received: from a by b',
      'SUBJECT: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      ' and more',
      'Received: from c by d',
      `X-Long: ${'x'.repeat(20_000)}`,
      ...Array.from({ length: 600 }, (_, n) => `X-${n}: y`),
      '',
      'text',
    ].join('\r\n'),
  )
  const { headers } = await viewMail(raw, { remoteImages: false }, true)
  expect(headers.slice(0, 3)).toEqual([
    { name: 'Received', value: 'from a by b' },
    { name: 'SUBJECT', value: 'Grüße and more' },
    { name: 'Received', value: 'from c by d' },
  ])
  expect(headers).toHaveLength(500)
  expect(headers[3]?.value).toHaveLength(16 * 1024)
})

test('the HTML is not sanitized for somebody who wants only the header fields or the hidden text', async () => {
  const html = '<p>seen</p><p style="display: none">hidden words of a stranger</p>'
  const raw = await rawOf({ from: 'ann@example.com', to: 'bot@example.com', subject: 'x', html })
  const partOf = (part: 'headers' | 'hiddenText') => viewMail(raw, { remoteImages: false, part }, true)
  const headers = await partOf('headers')
  expect(headers).toMatchObject({ html: null, hiddenText: [] })
  expect(headers.headers).toContainEqual({ name: 'Subject', value: 'x' })
  expect(await partOf('hiddenText')).toMatchObject({ html: null, hiddenText: ['hidden words of a stranger'] })
})
