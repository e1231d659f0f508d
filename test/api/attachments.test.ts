import { randomUUID } from 'node:crypto'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64')
const every = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256))

let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
/** Recipient of the mails of the current test. */
let to: string
beforeAll(async () => {
  relay = await startRelay()
  service = await startService({ environment: { SMTP_RELAY_URL: relay.url } })
  owner = await service.workspace()
})
afterAll(() => relay.stop())
beforeEach(async () => {
  to = `${randomUUID()}@example.com`
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
})

const send = (attachments: unknown, more: object = {}) =>
  agent.api('POST', path, { channel: 'email', to: [to], text: 'see', attachments, ...more })
const file = (name: string, type: string, content: Uint8Array | string) => ({
  name,
  type,
  content: base64(content),
})
const arrived = async () => {
  const { raw } = await until(() => relay.mails.find((one) => one.to.includes(to)))
  const mail = await PostalMime.parse(raw, { forceRfc822Attachments: true })
  return mail.attachments.map((one) => ({
    name: one.filename,
    type: one.mimeType,
    content: Buffer.from(one.content as ArrayBuffer),
  }))
}

test('a file is stored with the message, can be downloaded, and arrives byte for byte', async () => {
  const { status, body } = await send([
    file('Zahlen ☕ "1".bin', 'application/x-numbers', every),
    file('empty.txt', 'text/plain', ''),
  ])
  expect(status).toBe(201)
  expect(body.attachments).toEqual([
    { name: 'Zahlen ☕ "1".bin', type: 'application/x-numbers', size: 1_000 },
    { name: 'empty.txt', type: 'text/plain', size: 0 },
  ])
  expect((await agent.api('GET', `${path}/${body.id}`)).body.attachments).toEqual(body.attachments)
  const headers = { Authorization: `Bearer ${agent.token}` }
  const download = await fetch(`${service.http}${path}/${body.id}/attachments/0`, { headers })
  expect(download.headers.get('content-type')).toBe('application/x-numbers')
  expect(Buffer.from(await download.arrayBuffer()).equals(every)).toBe(true)
  expect(await arrived()).toEqual([
    { name: 'Zahlen ☕ "1".bin', type: 'application/x-numbers', content: every },
    { name: 'empty.txt', type: 'text/plain', content: Buffer.alloc(0) },
  ])
})

test.each([
  ['text/csv', 'a;b\n1;2\r\n\r\nä;\t \n'],
  ['text/html', '<p>Grüße\n</p>'],
  ['text/plain', Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x0d])],
  ['text/calendar', 'BEGIN:VCALENDAR\nEND:VCALENDAR\n'],
  ['application/json', '{"a":"\\u0000"}'],
  ['image/svg+xml', '<svg/>'],
])('a file of type %s arrives byte for byte', async (type, content) => {
  expect((await send([file('a.x', type, content)])).status).toBe(201)
  expect(await arrived()).toEqual([{ name: 'a.x', type, content: Buffer.from(content) }])
})

test('a file of type message/rfc822 arrives as an attached message', async () => {
  const letter = 'From: a@example.com\nSubject: x\n\nGrüße'
  expect((await send([file('a.eml', 'message/rfc822', letter)])).status).toBe(201)
  const [one] = await arrived()
  expect({ ...one, content: one!.content.toString().trim() }).toEqual({
    name: 'a.eml',
    type: 'message/rfc822',
    content: letter,
  })
})

test('a forwarded message has the files of the original and the new ones', async () => {
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const original = await receive(service, agent, {
    from: 'ann@example.com',
    to: agent.address,
    text: 'hi',
    attachments: [{ filename: 'old.txt', content: 'old' }],
  })
  const { body } = await agent.api('POST', path, {
    forward: original.id,
    to: [to],
    text: 'see',
    attachments: [file('new.txt', 'text/plain', 'new')],
  })
  expect(body.attachments.map(({ name }: { name: string }) => name)).toEqual(['old.txt', 'new.txt'])
  expect((await arrived()).map(({ content }) => content.toString())).toEqual(['old', 'new'])
})

describe('limits of attachments', () => {
  test('10 MiB of files in total are accepted, and one byte more is refused', async () => {
    const half = file('half.bin', 'application/octet-stream', Buffer.alloc(5 * MIB, 7))
    expect((await send([half, half])).status).toBe(201)
    expect((await arrived()).map(({ content }) => content.length)).toEqual([5 * MIB, 5 * MIB])
    const over = await send([half, half, file('one.bin', 'application/octet-stream', 'x')])
    expectFailure(over, 'invalid_input', /^attachments: must be at most 10485760 bytes in total, decoded/)
    expectFailure(
      await send([file('big.bin', 'application/octet-stream', Buffer.alloc(10 * MIB + 1))]),
      'invalid_input',
      /^attachments(\[0\]\.content)?: must be at most 10485760 bytes/,
    )
  })

  test('a body over 16 MiB, or over 1 MiB on other paths, is refused with 413', async () => {
    const answer = await send([{ name: 'a', type: 'a/b', content: 'A'.repeat(16 * MIB) }])
    expectFailure(answer, 'invalid_input', /^body: must be at most 16777216 bytes/, 413)
    expectFailure(
      await agent.api('PATCH', `/agents/${agent.id}`, ' '.repeat(MIB + 1)),
      'invalid_input',
      /1048576/,
      413,
    )
  })

  test('a message can have 100 files but not 101', async () => {
    const many = Array.from({ length: 100 }, (_, i) => file(`${i}.txt`, 'text/plain', `${i}`))
    expect((await send(many)).status).toBe(201)
    expectFailure(
      await send([...many, ...many.slice(0, 1)]),
      'invalid_input',
      /^attachments: must be at most 100 files/,
    )
  })
})

test.each<[string, object, RegExp]>([
  ['content that is not base64', { content: '*' }, /^attachments\[0\]\.content: must be base64/],
  ['base64 content without padding', { content: 'YQ' }, /^attachments\[0\]\.content: must be base64/],
  [
    'base64 content with line breaks',
    { content: 'YWFh\nYWFh' },
    /^attachments\[0\]\.content: must be base64/,
  ],
  ['base64url content', { content: '-_-_' }, /^attachments\[0\]\.content: must be base64/],
  ['a file without content', { content: undefined }, /^attachments\[0\]\.content: /],
  [
    'a name with a line break',
    { name: 'a\r\nBcc: evil@e.com' },
    /^attachments\[0\]\.name: must not contain line breaks/,
  ],
  ['a name with a NUL', { name: 'a\0' }, /^attachments\[0\]\.name: /],
  ['a blank name', { name: ' ' }, /^attachments\[0\]\.name: /],
  ['a name of 256 characters', { name: 'n'.repeat(256) }, /^attachments\[0\]\.name: must be 1 to 255/],
  [
    'a type with a line break',
    { type: 'text/plain\r\nBcc: evil@e.com' },
    /^attachments\[0\]\.type: must be a media type/,
  ],
  [
    'a type with parameters',
    { type: 'text/plain; charset=utf-7' },
    /^attachments\[0\]\.type: must be a media type/,
  ],
  ['a multipart type', { type: 'multipart/mixed' }, /^attachments\[0\]\.type: must be a media type/],
  ['a file with an unknown field', { path: '/etc/passwd' }, /path/],
])('%s is refused', async (_, wrong, message) => {
  expectFailure(await send([{ ...file('a.txt', 'text/plain', 'a'), ...wrong }]), 'invalid_input', message)
  expect(relay.mails.filter((one) => one.to.includes(to))).toEqual([])
})

test('attachments that are not a list of files are refused', async () => {
  expectFailure(await send('x'), 'invalid_input', /^attachments: /)
  expectFailure(await send([null]), 'invalid_input', /^attachments\[0\]: /)
  expect((await send([])).body.attachments).toEqual([])
})

test('GraphQL accepts attachments, even of more than 1 MiB in a variable', async () => {
  const content = Buffer.alloc(2 * MIB, 'x')
  const query = `mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { attachments { name type size url } } } }`
  const input = { agentId: agent.id, channel: 'email', to: [to], text: 'see' }
  const ask = (attachments: unknown) =>
    agent.api('POST', '/graphql', { query, variables: { input: { ...input, attachments } } })
  const { body } = await ask([file('a.txt', 'text/plain', content)])
  expect(body.data.sendMessage.message.attachments).toMatchObject([
    { name: 'a.txt', type: 'text/plain', size: 2 * MIB },
  ])
  expect((await arrived())[0]!.content.equals(content)).toBe(true)
  const refused = (await ask([{ name: 'a', type: 'a/b', content: '*' }])).body
  expect(refused.errors[0]).toMatchObject({
    message: expect.stringMatching(/attachments\[0\]\.content: must be base64/),
  })
})

test('an Idempotency-Key covers the attachments of a request', async () => {
  const headers = { 'Idempotency-Key': 'k-1' }
  const body = { channel: 'email', to: [to], text: 'see', attachments: [file('a.txt', 'text/plain', 'a')] }
  const first = await agent.api('POST', path, body, headers)
  const again = await agent.api('POST', path, body, headers)
  expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true'])
  const other = await agent.api(
    'POST',
    path,
    { ...body, attachments: [file('a.txt', 'text/plain', 'b')] },
    headers,
  )
  expectFailure(other, 'invalid_input')
  expect(await arrived()).toHaveLength(1)
})
