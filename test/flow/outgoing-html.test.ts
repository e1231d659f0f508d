import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { originOf } from '../support/dashboard.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  relay = await startRelay()
  service = await startService({ environment: { SMTP_RELAY_URL: relay.url } })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
})

const MAIL = { channel: 'email', to: ['ann@example.com'], subject: 'Report' }
const HTML =
  '<style>p { color: navy }</style><h1>Report</h1><p style="color: #060">All <b>good</b> &amp; done.</p>' +
  '<p><a href="https://example.com/r">Read it</a><img src="https://example.com/logo.png" alt=""></p>'
const HOSTILE =
  '<p onclick="steal()">Hi</p><script>steal()</script><form action="https://evil.example"><input name="pin"></form>' +
  '<a href="javascript:steal()">x</a><iframe src="https://evil.example"></iframe><p style="background:url(http://evil.example/a.png)">y</p>'

const sent = async () => (await relay.got(1))[0]!

test('HTML goes out beside the text, with files in multipart/mixed, and the message shows it', async () => {
  const files = [{ name: 'a.txt', type: 'text/plain', content: Buffer.from('abc').toString('base64') }]
  const { status, body } = await agent.api('POST', path, {
    ...{ ...MAIL, html: HTML, text: 'All good.', attachments: files },
  })
  expect(status).toBe(201)
  expect(body.text).toBe('All good.')
  const { raw, mail } = await sent()
  const header = raw.toString('latin1').replace(/\r\n[ \t]+/g, ' ')
  expect(header).toMatch(/^Content-Type: multipart\/mixed;/m)
  expect(header).toMatch(/^Content-Type: multipart\/alternative;/m)
  expect(header.indexOf('text/plain')).toBeLessThan(header.indexOf('text/html'))
  expect(mail.text?.trim()).toBe('All good.')
  expect(mail.attachments.map(({ filename }) => filename)).toEqual(['a.txt'])
  for (const part of [
    '<style>p { color: navy }</style>',
    'style="color: #060"',
    '<b>good</b> &#x26; done.',
    'href="https://example.com/r"',
    'src="https://example.com/logo.png"',
  ])
    expect(mail.html).toContain(part)
  const page = await agent.api('GET', `${path}/${body.id}/html`)
  expect(page.status).toBe(200)
  expect(page.text).toContain('<b>good</b>')
  // Whoever looks at it tells no other server.
  expect(page.text).not.toContain('logo.png')
  expect((await agent.api('GET', `${path}/${body.id}/headers`)).body).toEqual([])
})

test('without a text, the plain part is made from the HTML', async () => {
  const { body } = await agent.api('POST', path, { ...MAIL, html: HTML })
  expect(body.text).toMatch(/^Report\s+All good & done\.\s+Read it/i)
  expect((await sent()).mail.text?.trim()).toBe(body.text)
})

test('scripts, forms, frames and pictures over http are removed', async () => {
  await agent.api('POST', path, { ...MAIL, html: HOSTILE })
  const { mail } = await sent()
  expect(mail.html).toContain('Hi')
  expect(mail.html).not.toMatch(/script|steal|evil|<form|<input|iframe/i)
})

test('what cannot be sent as HTML is refused by name', async () => {
  const refused = async (fields: object, problem: RegExp) =>
    expectFailure(await agent.api('POST', path, { ...MAIL, ...fields }), 'invalid_input', problem)
  await refused({}, /^text: is required/)
  await refused({ html: '' }, /^html: must be 1 to 256000 characters long/)
  await refused({ html: `<p>${'x'.repeat(256_000)}</p>` }, /^html: must be 1 to 256000/)
  await refused({ html: 7 }, /^html: must be a string/)
  await refused({ html: '<img src="https://example.com/a.png">' }, /^html: contains no text/)
  await refused({ html: '<b>'.repeat(60_000) }, /^html: is too long or too complex/)
  await refused({ html: '<p>a</p>', text: '' }, /^text: /)
  await agent.api('POST', path, { ...MAIL, text: 'still works' })
  expect((await sent()).raw.toString()).not.toContain('multipart/alternative')
})

test('a forward carries the original below the HTML, escaped', async () => {
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const original = await receive(service, agent, {
    ...{ from: 'bo@example.com', to: agent.address, subject: 'Plan', messageId: '<f1@example.com>' },
    text: 'Costs <b>5</b>',
  })
  const { body } = await agent.api('POST', path, {
    ...{ forward: original.id, to: ['ann@example.com'], html: '<p>See <i>below</i>.</p>' },
  })
  expect(body.replyText).toBe('See below.')
  const { mail } = await sent()
  expect(mail.html).toMatch(/<i>below<\/i>[\s\S]*Forwarded message[\s\S]*Costs &lt;b&gt;5/)
  expect(mail.text).toMatch(/^See below\.\s+-+ Forwarded message[\s\S]*Costs <b>5/)
})

test('a draft keeps the HTML as it was written, and sends it sanitized', async () => {
  const drafts = `/agents/${agent.id}/drafts`
  const { body } = await agent.api('POST', drafts, { ...MAIL, html: HOSTILE })
  expect(body).toMatchObject({ html: HOSTILE, text: null })
  const changed = await agent.api('PATCH', `${drafts}/${body.id}`, { html: `${HOSTILE}<p>End</p>` })
  expect(changed.body.html).toMatch(/End/)
  const { status } = await agent.api('POST', `${drafts}/${body.id}/send`)
  expect(status).toBe(201)
  const { mail } = await sent()
  expect(mail.html).toContain('End')
  expect(mail.html).not.toContain('steal')
})

test('whoever approves a message sees what its HTML says; changing the text drops the HTML', async () => {
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  const hold = async () =>
    (await agent.api('POST', path, { ...MAIL, text: 'Harmless.', html: '<p>Send <b>money</b></p>' })).body
  const approve = async (id: string, edits: object) => {
    const { status, body } = await owner.api('POST', `${path}/${id}/approve`, edits)
    expect(status).toBe(200)
    return body
  }
  const first = await hold()
  relay.mails.length = 0
  const approved = await approve(first.id, { text: 'No money.' })
  expect(approved.checks.at(-1).detail).toMatch(/changed the text and the HTML$/)
  expect((await sent()).mail).toMatchObject({ text: expect.stringMatching(/^No money/) })
  expect((await sent()).mail.html ?? '').not.toContain('Send')
  const second = await hold()
  relay.mails.length = 0
  expect((await approve(second.id, { html: '<p>Send <i>flowers</i></p>' })).text).toBe('Send flowers')
  expect((await sent()).mail.html).toContain('<i>flowers</i>')
  const third = await hold()
  relay.mails.length = 0
  await approve(third.id, { text: 'Harmless.' })
  expect((await sent()).mail.html).toContain('<b>money</b>')
})

test('the page of an approval link shows the text of the HTML when it differs from the text', async () => {
  const asked = async (fields: object) => {
    relay.mails.length = 0
    await agent.api('POST', path, { ...MAIL, ...fields })
    const [{ mail }] = (await relay.got(1)) as [Awaited<ReturnType<typeof sent>>]
    const link = new URL(/https?:\S+\/approve\/\S+/.exec(mail.text!)![0])
    return (await fetch(service.http + link.pathname)).text()
  }
  await owner.api('PATCH', '/members/me', { approvalMails: true })
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  const page = await asked({ text: 'Harmless.', html: '<p>Send <b>money</b></p>' })
  expect(page).toMatch(/Harmless[\s\S]*most readers see instead[\s\S]*Send money/)
  expect(await asked({ html: '<p>Hello <b>Ann</b></p>' })).toContain('with the same text')
  expect(await asked({ text: 'Plain' })).not.toContain('HTML')
})

test.each([
  '<p style="display:none">SECRET</p>',
  '<style>.a { font-size: 0 }</style><p class="a">SECRET</p>',
  '<p style="color:#fff">SECRET</p>',
  '<p style="position:absolute;left:-9999px">SECRET</p>',
  '<p style="--x:none;display:var(--x)">SECRET</p>',
  '<p style="clip-path:inset(50%)">SECRET</p>',
  '<div style="opacity:.1"><p style="opacity:.1">SECRET</p></div>',
  '<p style="font-size:calc(1px - 1px)">SECRET</p>',
  '<p title="SECRET">Hello</p><!-- SECRET --><table summary="SECRET"></table>',
  '<style>/* SECRET */ p { --x: "SECRET" }</style>',
])('nothing that readers do not see is sent, and the page of an approval is right: %s', async (hidden) => {
  await owner.api('PATCH', '/members/me', { approvalMails: true })
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  await agent.api('POST', path, {
    ...MAIL,
    text: 'Hello Ann',
    html: `<p>Hello Ann</p>${hidden}`
      .replace('<p>Hello Ann</p><p title', '<p title')
      .replace('>Hello<', '>Hello Ann<'),
  })
  const [{ mail }] = (await relay.got(1)) as [Awaited<ReturnType<typeof sent>>]
  const link = service.http + new URL(/https?:\S+\/approve\/\S+/.exec(mail.text!)![0]).pathname
  const page = await (await fetch(link)).text()
  expect(page).toContain('with the same text')
  relay.mails.length = 0
  const version = /name="version" value="([^"]+)"/.exec(page)![1]!
  const approve = (fields: Record<string, string>) =>
    fetch(link, {
      method: 'POST',
      headers: { Origin: originOf(service) },
      body: new URLSearchParams({ decision: 'approve', ...fields }),
    })
  expect((await approve({ version: 'of-something-else' })).status).toBe(409)
  expect((await approve({ version })).status).toBe(200)
  const out = (await sent()).mail.html
  expect(out).toContain('Hello Ann')
  expect(out).not.toContain('SECRET')
})

test('mail between agents of the service carries its HTML too', async () => {
  const other = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${other.id}/access/email`, { admit: 'anyone', senders: [] })
  await agent.api('POST', path, { ...MAIL, to: [other.address], html: '<p>Dear <b>colleague</b></p>' })
  const [message] = await expect
    .poll(async () => (await other.api('GET', `/agents/${other.id}/messages`)).body.items)
    .toHaveLength(1)
    .then(async () => (await other.api('GET', `/agents/${other.id}/messages`)).body.items)
  expect(message.text).toMatch(/Dear colleague/)
  const page = await other.api('GET', `/agents/${other.id}/messages/${message.id}/html`)
  expect(page.text).toContain('<b>colleague</b>')
})
