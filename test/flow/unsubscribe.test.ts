import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { expectFailure } from '../support/failure.ts'
import { deliver, dkimKey, type Letter } from '../support/mail.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

const key = dkimKey('news.example')
const zone: Zone = { [key.name]: { TXT: [key.txt] }, 'news.example': { A: ['192.0.2.1'] } }
const URL_ = 'https://news.example/u/1?x=2'
const ONE_CLICK = {
  'List-Unsubscribe': `<mailto:off@news.example>, <${URL_}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
}
const COVERED = 'from:to:subject:date:message-id:mime-version:content-type:content-transfer-encoding'

let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
const posted: { url: string; body: string }[] = []
let answer: () => Promise<number> = async () => 200
beforeAll(async () => {
  relay = await startRelay()
  const postForm = (url: string, body: string) => {
    posted.push({ url, body })
    return answer()
  }
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url },
    world: { resolver: fakeResolver(zone), postForm },
  })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  posted.length = 0
  answer = async () => 200
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

/** Delivers a newsletter whose signature covers the usual fields and `also`. Returns the message. */
const newsletter = async (headers: Letter['headers'], also: string) => {
  const sign = { ...key, options: { ...key.options, headerFieldNames: `${COVERED}:${also}` } }
  const letter = {
    from: 'News <news@news.example>',
    to: agent.address,
    subject: 'News',
    text: 'New!',
    headers,
  }
  await deliver(`${service.smtp.host}:${service.smtp.port}`, { ...letter, sign } as Letter)
  return (await agent.api('GET', path)).body.items[0]
}
type Checks = { name: string; verdict: string; detail: string }[]
const wayOf = ({ checks }: { checks: Checks }) =>
  checks.find(({ name }) => name === 'unsubscribe')?.verdict ?? null
const unsubscribe = (id: string, api = agent.api) => api('POST', `${path}/${id}/unsubscribe`)

test('one click posts what RFC 8058 says, once, and the message says that it was requested', async () => {
  const message = await newsletter(ONE_CLICK, 'list-unsubscribe:list-unsubscribe-post')
  expect(wayOf(message)).toBe('one_click')
  expect(message.checks.at(-1).name).not.toBe('unsubscribe')
  const { status, body } = await unsubscribe(message.id, owner.api)
  expect(status).toBe(200)
  expect(wayOf(body)).toBe('requested')
  expect(wayOf((await agent.api('GET', `${path}/${message.id}`)).body)).toBe('requested')
  expect((await unsubscribe(message.id)).status).toBe(200)
  expect(posted).toEqual([{ url: URL_, body: 'List-Unsubscribe=One-Click' }])
  const { items } = (await owner.api('GET', '/audit?action=message.unsubscribe')).body
  expect(items).toHaveLength(1)
})

test('a mail goes out from the address at which the message arrived', async () => {
  const way = '<mailto:off@news.example?subject=stop%20it&body=id%3D7&bcc=eve@evil.example>'
  const message = await newsletter({ 'List-Unsubscribe': way }, 'list-unsubscribe')
  expect(wayOf(message)).toBe('mail')
  expect(wayOf((await unsubscribe(message.id)).body)).toBe('requested')
  const [sent] = await relay.got(1)
  expect(sent!.to).toEqual(['off@news.example'])
  expect(sent!.mail).toMatchObject({
    ...{ subject: 'stop it', text: expect.stringMatching(/^id=7\s*$/) },
    from: { address: agent.address },
  })
  expect(posted).toEqual([])
})

test('a mail says nothing but a mark of the sender: its sentences are not the agent’s', async () => {
  const body = encodeURIComponent('Hi Bo, please pay the invoice to account 12. I need it today, thanks!')
  const way = `<mailto:off@mail.news.example?subject=${encodeURIComponent('Urgent!\r\nBcc: x')}&body=${body}>`
  const message = await newsletter({ 'List-Unsubscribe': way }, 'list-unsubscribe')
  expect((await unsubscribe(message.id)).status).toBe(200)
  const [sent] = await relay.got(1)
  expect(sent!.mail).toMatchObject({
    subject: 'unsubscribe',
    text: expect.stringMatching(/^unsubscribe\s*$/),
  })
})

test('a mail goes only to the domain of the sender, and to nobody of the workspace', async () => {
  const other = await createTestAgent(service, owner)
  for (const to of [owner.email, other.address, 'off@elsewhere.example']) {
    const message = await newsletter({ 'List-Unsubscribe': `<mailto:${to}?body=x>` }, 'list-unsubscribe')
    expect(wayOf(message), to).toBeNull()
  }
  const own = await service.workspace('News', 'off@news.example')
  const reader = await createTestAgent(service, own)
  await own.api('PUT', `/agents/${reader.id}/access/email`, { admit: 'anyone', senders: [] })
  const headers = { 'List-Unsubscribe': '<mailto:off@news.example>' }
  const sign = { ...key, options: { ...key.options, headerFieldNames: `${COVERED}:list-unsubscribe` } }
  const letter = {
    from: 'news@news.example',
    to: reader.address,
    subject: 'News',
    text: 'New!',
    headers,
    sign,
  }
  await deliver(`${service.smtp.host}:${service.smtp.port}`, letter as Letter)
  const [message] = (await own.api('GET', `/agents/${reader.id}/messages`)).body.items
  const refused = await own.api('POST', `/agents/${reader.id}/messages/${message.id}/unsubscribe`)
  expectFailure(refused, 'conflict', /address of this service or of a member/)
  expect(relay.mails).toEqual([])
})

test('without a signature over the fields the message offers nothing', async () => {
  const cases: [Letter['headers'], string, string | null][] = [
    [ONE_CLICK, 'x-other', null],
    // The post field is not covered, so that only the mail is left.
    [ONE_CLICK, 'list-unsubscribe', 'mail'],
    [{ 'List-Unsubscribe': `<${URL_}>` }, 'list-unsubscribe', null],
    [
      { ...ONE_CLICK, 'List-Unsubscribe': '<http://news.example/u>' },
      'list-unsubscribe:list-unsubscribe-post',
      null,
    ],
    [{ ...ONE_CLICK, 'List-Unsubscribe': 'news.example/u' }, 'list-unsubscribe:list-unsubscribe-post', null],
    [{}, 'list-unsubscribe', null],
  ]
  for (const [headers, also, expected] of cases)
    expect(wayOf(await newsletter(headers, also)), JSON.stringify(headers)).toBe(expected)
  const { id } = await newsletter(ONE_CLICK, 'x-other')
  expectFailure(await unsubscribe(id), 'conflict', /does not say/)
  expect(posted).toEqual([])
})

test.each<[string, () => Promise<number>, RegExp]>([
  ['answers with an error', async () => 500, /answered 500/],
  ['redirects', async () => 302, /answered 302/],
  [
    'is unreachable',
    () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1')),
    /could not be reached\.$/,
  ],
])('if the sender’s server %s, it can be tried again', async (_, failing, problem) => {
  const message = await newsletter(ONE_CLICK, 'list-unsubscribe:list-unsubscribe-post')
  answer = failing
  expectFailure(await unsubscribe(message.id), 'unavailable', problem)
  expect(wayOf((await agent.api('GET', `${path}/${message.id}`)).body)).toBe('one_click')
  answer = async () => 204
  expect(wayOf((await unsubscribe(message.id)).body)).toBe('requested')
})
