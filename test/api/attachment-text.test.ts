import { beforeAll, describe, expect, test } from 'vitest'
import { Agent } from '../../src/client/index.ts'
import { docx, drawn, odf, pdf, pptx, word, xlsx } from '../support/documents.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { openBucket } from '../support/s3.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

interface File {
  filename: string
  content: Buffer | string
  contentType?: string
}

const arrive = (attachments: File[], to = agent, at: Pick<TestService, 'smtp'> = service) =>
  receive(at as TestService, to, {
    from: 'ann@example.com',
    to: to.address,
    subject: 'Files',
    text: 'See.',
    attachments,
  })

const read = (id: string, index = 0, query = '', by = agent) =>
  by.api('GET', `/agents/${by.id}/messages/${id}/attachments/${index}/text${query}`)

const invoice = pdf([drawn([72, 700, 'Invoice zanzibar4711'], [72, 680, 'Total 99.00 EUR'])])

test('the text of a file, by REST, GraphQL and the client', async () => {
  const { id } = await arrive([
    { filename: 'a.pdf', content: invoice, contentType: 'application/pdf' },
    { filename: 'b.docx', content: docx(word('Dear Ann')), contentType: DOCX },
  ])
  const page = { text: 'Invoice zanzibar4711\nTotal 99.00 EUR', nextOffset: null, pages: 1, format: 'pdf' }
  expect(await read(id)).toMatchObject({ status: 200, body: page })
  expect((await read(id, 1)).body).toEqual({
    text: 'Dear Ann',
    nextOffset: null,
    pages: null,
    format: 'docx',
  })
  const query = `{ message(id: "${id}") { attachments { text { text nextOffset pages format } } attachment(index: 0) { text(offset: 8) { text } } } }`
  const { body } = await agent.api('POST', '/graphql', { query })
  expect(body.data.message).toEqual({
    attachments: [
      { text: page },
      { text: { text: 'Dear Ann', nextOffset: null, pages: null, format: 'docx' } },
    ],
    attachment: { text: { text: 'zanzibar4711\nTotal 99.00 EUR' } },
  })
  const message = await new Agent({ url: service.http, token: agent.token }).message(id)
  expect(await message.attachment(0).text()).toBe(page.text)
  expect(() => message.attachment(2)).toThrow(/no attachment/)
})

test.each([
  ['talk.pptx', pptx(['<a:p><a:r><a:t>Roadmap quokka2201</a:t></a:r></a:p>']), 'quokka2201', 'pptx'],
  [
    'talk.odp',
    odf(
      'presentation',
      '<draw:page><draw:frame><draw:text-box><text:p>Fahrplan numbat2202</text:p></draw:text-box></draw:frame></draw:page>',
    ),
    'numbat2202',
    'odp',
  ],
])('the slides of %s are read, and found by their words', async (filename, content, word, format) => {
  const { id } = await arrive([{ filename, content, contentType: 'application/octet-stream' }])
  const { body } = await read(id)
  expect(body).toMatchObject({ format, pages: 1, nextOffset: null })
  expect(body.text).toContain(word)
  const found = async () =>
    (await agent.api('GET', `/agents/${agent.id}/messages?q=${word}`)).body.items.map(
      (one: { id: string }) => one.id,
    )
  await until(async () => (await found()).includes(id))
})

test('a long text comes in pages that make up the whole', async () => {
  const lines = Array.from({ length: 9_000 }, (_, n) => `line ${n} 😀`).join('\n')
  const { id } = await arrive([
    { filename: 'a.txt', content: lines, contentType: 'text/plain; charset=utf-8' },
  ])
  const pages: string[] = []
  for (let offset: number | null = 0; offset !== null; ) {
    const { body } = await read(id, 0, `?offset=${offset}`)
    pages.push(body.text)
    expect(body.text.length).toBeLessThanOrEqual(50_000)
    offset = body.nextOffset
  }
  expect(pages.length).toBe(3)
  expect(pages.join('')).toBe(lines)
  expect((await read(id, 0, '?offset=8')).body.text.startsWith('😀\nline 1')).toBe(true)
  expectFailure(await read(id, 0, '?offset=9999999'), 'invalid_input', /^offset: the text has/)
})

test.each([
  [
    'picture.png',
    'image/png',
    Buffer.from('89504e470d0a1a0a', 'hex'),
    /^attachment: .*PDF, DOCX, XLSX, PPTX/,
  ],
  [
    'a.docx',
    DOCX,
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
    /^attachment: is encrypted/,
  ],
  ['a.pdf', 'application/pdf', Buffer.from('%PDF-1.4 cut'), /^attachment: is broken/],
])('%s: why it has no text', async (filename, contentType, content, reason) => {
  const { id } = await arrive([{ filename, content, contentType }])
  for (const _ of [1, 2]) expectFailure(await read(id), 'invalid_input', reason)
})

describe('what was read', () => {
  const replaceFile = (id: string) =>
    service.db.pool.query("update attachment set content = 'gone' where message_id = $1", [id])
  const kept = async (id: string) =>
    (await service.db.pool.query('select 1 from attachment_text where message_id = $1', [id])).rows.length

  test('is kept: a second time costs the text, not the file', async () => {
    const { id } = await arrive([{ filename: 'a.pdf', content: invoice }])
    const first = await read(id)
    await replaceFile(id)
    expect((await read(id)).body).toEqual(first.body)
  })

  test('is deleted with its message', async () => {
    const { id } = await arrive([{ filename: 'a.pdf', content: invoice }])
    await read(id)
    expect(await kept(id)).toBe(1)
    await agent.api('DELETE', `/agents/${agent.id}/messages/${id}`)
    expect(await kept(id)).toBe(0)
    expectFailure(await read(id), 'not_found', /./)
  })

  test('is read once for many who ask at once', async () => {
    const { id } = await arrive([{ filename: 'a.txt', content: 'hello', contentType: 'text/plain' }])
    const answers = await Promise.all(Array.from({ length: 30 }, () => read(id)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.text}`))).toEqual(
      new Set(['200 hello']),
    )
  })

  test('is in the object store where there is one, and gone with the message', async () => {
    const bucket = await openBucket()
    const stored = await startService({ environment: { ...bucket.environment, BLOB_MIN_BYTES: '1024' } })
    const tenant = await stored.workspace()
    const reader = await createTestAgent(stored, tenant)
    await tenant.api('PUT', `/agents/${reader.id}/access/email`, { admit: 'anyone', senders: [] })
    const rows = Array.from(
      { length: 200 },
      (_, n) => `<row><c t="inlineStr"><is><t>cell ${n}</t></is></c></row>`,
    ).join('')
    const { id } = await arrive([{ filename: 'a.xlsx', content: xlsx({ Data: rows }) }], reader, stored)
    const { body } = await read(id, 0, '', reader)
    expect(body.text).toMatch(/^Sheet: Data\ncell 0\ncell 1\n/)
    const { rows: found } = await stored.db.pool.query(
      'select content, blob_id from attachment_text where message_id = $1',
      [id],
    )
    expect(found).toEqual([{ content: null, blob_id: expect.any(String) }])
    expect((await read(id, 0, '', reader)).body).toEqual(body)
    // A release that does not know of texts deletes their objects: the file is read again.
    await stored.db.pool.query('delete from blob where id = $1', [found[0]!.blob_id])
    expect((await read(id, 0, '', reader)).body).toEqual(body)
    const before = bucket.objects.size
    await reader.api('DELETE', `/agents/${reader.id}/messages/${id}`)
    const { rows: due } = await stored.db.pool.query('select id from blob where check_at is null')
    expect(due).toEqual([])
    expect(before).toBeGreaterThan(0)
  })
})

test('nobody else reads it', async () => {
  const { id } = await arrive([{ filename: 'a.pdf', content: invoice }])
  const other = await createTestAgent(service, owner)
  const stranger = await createTestAgent(service, await service.workspace())
  const path = `/agents/${agent.id}/messages/${id}/attachments/0/text`
  expectFailure(await other.api('GET', path), 'forbidden', /./)
  expectFailure(await stranger.api('GET', path), 'not_found', /./)
  expectFailure(await read(id, 0, '', other), 'not_found', /./)
  expect((await fetch(`${service.http}${path}`)).status).toBe(401)
  expectFailure(await read(id, 1), 'not_found', /There is no attachment with this number/)
  for (const bad of ['-1', 'x', '1.5'])
    expectFailure(await read(id, 0, `?offset=${bad}`), 'invalid_input', /offset/)
})

describe('search', () => {
  const find = async (word: string) =>
    (await agent.api('GET', `/agents/${agent.id}/messages?q=${encodeURIComponent(word)}`)).body.items.map(
      ({ id }: { id: string }) => id,
    )

  test('finds a message by the words of its files, and of its text as before', async () => {
    const { id } = await arrive([
      { filename: 'bad.pdf', content: 'no pdf', contentType: 'application/pdf' },
      { filename: 'a.docx', content: docx(word('The walrus ate Größenwahn')) },
    ])
    await until(async () => (await find('walrus')).includes(id))
    expect(await find('grössenwahn')).toEqual([id])
    expect(await find('walrus files')).toEqual([id])
    expect(await find('"walrus ate"')).toEqual([id])
  })

  test('finds words of the first 50,000 characters', async () => {
    const text = `${'word '.repeat(9_900)} earlyword ${'word '.repeat(200)} lateword`
    const { id } = await arrive([{ filename: 'a.txt', content: text, contentType: 'text/plain' }])
    await until(async () => (await find('earlyword')).includes(id))
    expect(await find('lateword')).toEqual([])
  })

  test('finds messages from before by their files once somebody has read one', async () => {
    const { id } = await arrive([{ filename: 'a.txt', content: 'oldtimer', contentType: 'text/plain' }])
    await until(async () => (await find('oldtimer')).includes(id))
    await service.db.pool.query(
      `with t as (delete from attachment_text where message_id = $1)
       update message_search set words = to_tsvector('simple', 'nothing') where message_id = $1`,
      [id],
    )
    expect(await find('oldtimer')).toEqual([])
    await read(id)
    await until(async () => (await find('oldtimer')).includes(id))
  })
})
