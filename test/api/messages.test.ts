import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { post, receive } from '../support/letter.ts'
import { rawOf } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

const MAILS = 45
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService({ world: { resolver: fakeResolver(proves('example.com')) } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { senders: [owner.email, '*@example.com'] })
  for (let batch = 0; batch < MAILS; batch += 15) {
    // From several senders, so that none exceeds the rate limit.
    const letters = Array.from({ length: 15 }, (_, n) => ({
      from: `ann${n}@example.com`,
      to: agent.address,
      subject: `Mail ${batch + n}`,
      text: 'hi',
    }))
    await Promise.all(letters.map((letter) => post(service, letter)))
  }
  // Many arrive in one millisecond.
  const sameTime = "update message set created_at = date_trunc('minute', created_at) where agent_id = $1"
  await service.db.pool.query(sameTime, [agent.id])
})

interface Listed {
  id: string
  createdAt: string
}
const page = async (query: string) =>
  (await agent.api('GET', `${path}?${query}`)).body as { items: Listed[]; nextCursor: string | null }

const pages = async (query: string): Promise<Listed[]> => {
  const { items, nextCursor } = await page(query)
  return nextCursor === null
    ? items
    : [...items, ...(await pages(`${query.replace(/&?cursor=.*/, '')}&cursor=${nextCursor}`))]
}

describe('the list of messages', () => {
  test('returns each message once, newest first, over several pages', async () => {
    const first = await page('')
    expect(first.items).toHaveLength(20)
    const all = await pages('')
    expect(new Set(all.map(({ id }) => id)).size).toBe(MAILS)
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all.map(({ createdAt }) => createdAt).sort((a, b) => b.localeCompare(a)),
    )
    expect((await pages('limit=7')).map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect((await pages('limit=1&direction=inbound')).length).toBe(MAILS)
  })

  test('has no empty last page', async () => {
    expect(await page(`limit=${MAILS}`)).toMatchObject({ items: { length: MAILS }, nextCursor: null })
    expect((await page('limit=100')).nextCursor).toBeNull()
  })

  test('is not shifted by a message that arrives while it is paged through', async () => {
    const first = await page('limit=10')
    const fresh = await receive(service, agent, {
      from: owner.email,
      to: agent.address,
      subject: 'In between',
      text: 'hi',
    })
    const second = await page(`limit=10&cursor=${first.nextCursor}`)
    expect(second.items.map(({ id }) => id)).not.toContain(fresh.id)
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(20)
    await service.db.pool.query('delete from message where id = $1', [fresh.id])
  })

  test('can be filtered by status, direction, channel and time', async () => {
    const refused = await receive(service, agent, {
      from: 'eve@elsewhere.org',
      to: agent.address,
      subject: 'Refused',
      text: 'hi',
    })
    const sent = (await agent.api('POST', path, { channel: 'email', to: ['bo@example.com'], text: 'hi' }))
      .body
    const only = async (query: string) => (await pages(query)).map(({ id }) => id)
    expect(await only('status=refused')).toEqual([refused.id])
    expect(await only('direction=outbound')).toEqual([sent.id])
    expect(await only('direction=outbound&channel=email')).toEqual([sent.id])
    expect(await only('channel=sms')).toEqual([])
    expect(await only(`since=${sent.createdAt}&direction=outbound`)).toEqual([sent.id])
    expect(await only(`until=${new Date(0).toISOString()}`)).toEqual([])
    expect(await only(`since=${encodeURIComponent('2020-01-01T00:00:00+02:00')}&status=refused`)).toEqual([
      refused.id,
    ])
    expect(await only('since=2020-01-01T00:00:00+02:00&status=refused')).toEqual([refused.id])
  })

  test('can be limited to a thread', async () => {
    const question = await receive(service, agent, {
      from: owner.email,
      to: agent.address,
      subject: 'Q',
      text: 'why?',
    })
    const answer = (await agent.api('POST', path, { replyTo: question.id, text: 'so.' })).body
    await receive(service, agent, {
      from: owner.email,
      to: agent.address,
      subject: 'Q',
      text: 'another, of the same subject',
    })
    for (const id of [question.id, answer.id]) {
      expect((await page(`thread=${id}`)).items.map((message) => message.id)).toEqual([
        answer.id,
        question.id,
      ])
    }
  })

  test.each([
    ['limit=0', /^limit: .*1 to 100/],
    ['limit=101', /^limit: .*1 to 100/],
    ['limit=ten', /^limit: /],
    ['limit=1e1', /^limit: /],
    ['cursor=nonsense', /^cursor: /],
    ['cursor=W10', /^cursor: /],
    [`cursor=${Buffer.from('["a","b"]').toString('base64url')}`, /^cursor: /],
    [`cursor=${Buffer.from(`[1e300,"${randomUUID()}"]`).toString('base64url')}`, /^cursor: /],
    ['status=lost', /^status: must be one of/],
    ['since=yesterday', /^since: must be an ISO 8601/],
    ['since=2020-01-01 02:00', /^since: must be an ISO 8601/],
    ['since=2020-01-01T02:00:00', /^since: must be an ISO 8601 timestamp with its time zone, such as/],
    ['thread=x', /^thread: must be a UUID/],
    [`thread=${randomUUID()}`, /^thread: is not a message/],
    ['channel=url', /^channel: must be one of/],
    ['order=asc', /^order: is not a known field/],
  ])('with ?%s is refused with the name of the field', async (query, says) => {
    expectFailure(await agent.api('GET', `${path}?${query}`), 'invalid_input', says)
  })
})

describe('a message', () => {
  test('has all fields, and its raw form is returned byte for byte', async () => {
    const raw = await rawOf({
      from: { name: 'Ann Example', address: owner.email },
      to: [agent.address, 'bo@example.com'],
      cc: 'cy@example.com',
      subject: 'Grüße ☕',
      messageId: '<one@example.com>',
      references: ['<zero@example.com>'],
      text: 'Line one\r\n.\r\n..dots and ümläute\r\n',
      attachments: [{ filename: 'né "x".txt', contentType: 'text/plain', content: 'file' }],
    })
    const message = await receive(service, agent, { raw, envelope: { from: owner.email, to: agent.address } })
    expect(message).toEqual({
      id: expect.any(String),
      addressId: expect.any(String),
      channel: 'email',
      direction: 'inbound',
      counterpart: owner.email,
      counterpartName: 'Ann Example',
      to: [agent.address, 'bo@example.com'],
      bcc: [],
      cc: ['cy@example.com'],
      subject: 'Grüße ☕',
      text: expect.stringMatching(/^Line one\r?\n\.\r?\n\.\.dots and ümläute\s*$/),
      replyText: expect.stringContaining('..dots and ümläute'),
      segments: null,
      attachments: [{ name: 'né "x".txt', type: 'text/plain', size: 4 }],
      thread: { messageId: '<one@example.com>', references: ['<zero@example.com>'] },
      threadId: expect.any(String),
      ...{ conversation: null, addressed: 'to', codes: [] },
      status: 'received',
      refusal: null,
      admission: 'team',
      metadata: {},
      mayInstruct: true,
      error: null,
      checks: expect.arrayContaining([{ name: 'spf', verdict: 'pass', detail: expect.any(String) }]),
      labels: [],
      readAt: null,
      hold: null,
      sentBy: null,
      createdAt: expect.any(String),
    })
    expect((await agent.api('GET', `${path}/${message.id}`)).body).toEqual(message)
    const answer = await fetch(`${service.http}${path}/${message.id}/raw`, {
      headers: { Authorization: `Bearer ${agent.token}` },
    })
    expect(answer.headers.get('content-type')).toBe('message/rfc822')
    expect(Buffer.from(await answer.arrayBuffer()).equals(raw)).toBe(true)
  })

  test('that was sent has no raw form, and one of another agent is not found', async () => {
    const sent = (await agent.api('POST', path, { channel: 'email', to: ['bo@example.com'], text: 'hi' }))
      .body
    expectFailure(await agent.api('GET', `${path}/${sent.id}/raw`), 'not_found')
    const other = await createTestAgent(service, owner, 'Other')
    expectFailure(
      await other.api('GET', `/agents/${other.id}/messages/${sent.id}`),
      'not_found',
      /^There is no message with this id\.$/,
    )
    expectFailure(
      await agent.api('GET', `${path}/${randomUUID()}`),
      'not_found',
      /^There is no message with this id\.$/,
    )
  })
})

describe('an attachment', () => {
  test.each([
    ['page.html', 'text/html', 'page.html', 'text/html'],
    ['a\r\nSet-Cookie: x=1.txt', 'text/plain', null, 'text/plain'],
    ['日本 "語".pdf', 'application/pdf', '日本 "語".pdf', 'application/pdf'],
    ['weird', 'x/y z', 'weird', null],
  ])(
    'with the name %j is served as a download in its own type, never inline',
    async (filename, contentType, name, type) => {
      const content = Buffer.from([0, 255, 13, 10, 1])
      const letter = {
        from: owner.email,
        to: agent.address,
        text: 'see it',
        attachments: [{ filename, contentType, content }],
      }
      const message = await receive(service, agent, letter)
      const answer = await fetch(`${service.http}${path}/${message.id}/attachments/0`, {
        headers: { Authorization: `Bearer ${agent.token}` },
      })
      expect(answer.status).toBe(200)
      expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
      if (type !== null) expect(answer.headers.get('content-type')).toBe(type)
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      const disposition = answer.headers.get('content-disposition') ?? ''
      expect(disposition).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\w.%!~-]*$/)
      if (name !== null) expect(decodeURIComponent(disposition.split("''")[1]!)).toBe(name)
      expectFailure(await agent.api('GET', `${path}/${message.id}/attachments/1`), 'not_found')
      expectFailure(
        await agent.api('GET', `${path}/${message.id}/attachments/x`),
        'invalid_input',
        /^index: /,
      )
      expectFailure(
        await agent.api('GET', `${path}/${message.id}/attachments/-1`),
        'invalid_input',
        /^index: /,
      )
    },
  )
})
