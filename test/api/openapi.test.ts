import { execFile, execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '../../src/core/scopes.ts'
import type { TwilioStandIn } from '../../src/demo/sms/stand-in.ts'
import { printedDocument } from '../../src/rest/print.ts'
import { browserTest, errorsOf, startBrowser } from '../support/browser.ts'
import { storeApp } from '../support/connected-app.ts'
import { createDescription, type Description, type Json } from '../support/description.ts'
import { openEvents } from '../support/events.ts'
import { post } from '../support/letter.ts'
import { temporaryDir } from '../support/postgres.ts'
import {
  type Answer,
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { openTwilio } from '../support/sms.ts'

const ROOT = join(import.meta.dirname, '..', '..')

let twilio: TwilioStandIn
let service: TestService
let owner: Tenant
let agent: TestAgent
let document: Json
let description: Description
beforeAll(async () => {
  twilio = await openTwilio()
  service = await startService({ environment: twilio.environment })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  document = (await owner.api('GET', '/openapi.json')).body
  description = createDescription(document)
})

test('the document is valid OpenAPI 3.1', async () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { version: '1.0.0' },
    servers: [{ url: expect.stringMatching(/^http:/) }],
  })
  const validator = new Validator()
  expect(await validator.validate(document)).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

const patternsOf = (value: Json): string[] => {
  if (typeof value !== 'object' || value === null) return []
  const own = typeof value.pattern === 'string' ? [value.pattern] : []
  return [...own, ...Object.values(value).flatMap(patternsOf)]
}

describe('every operation', () => {
  test('has a unique id, a summary, documented tags and its authentication', () => {
    const { operations } = description
    expect(operations.length).toBeGreaterThan(35)
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length)
    const tags = document.tags.map(({ name }: Json) => name)
    for (const { id, operation } of operations) {
      expect(operation, id).toMatchObject({
        summary: expect.stringMatching(/\S/),
        security: [{ bearer: expect.any(Array) }],
      })
      expect(tags, id).toEqual(expect.arrayContaining(operation.tags))
      const needed = operation.security[0].bearer
      expect(Object.keys(SCOPES), id).toEqual(expect.arrayContaining(needed))
      if (needed.length > 0) expect(operation.responses, id).toHaveProperty('403')
    }
    expect(document.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  })

  test('describes each failure with its code, an example and the request id', () => {
    expect(document.components.schemas.ErrorCode.enum).toHaveLength(9)
    for (const { id, operation } of description.operations) {
      for (const [status, given] of Object.entries<Json>(operation.responses)) {
        const response = description.resolve(given)
        expect(response.headers, `${id} ${status}`).toHaveProperty('X-Request-Id')
        if (Number(status) < 400) continue
        const { schema, example } = response.content['application/json']
        expect(description.faultsOf(schema, example), `${id} ${status}`).toEqual([])
        expect(description.faultsOf(schema, { error: { code: 'teapot', message: 'x' } })).not.toEqual([])
      }
      for (const status of [401, 500, 503]) expect(operation.responses, id).toHaveProperty(String(status))
      expect(429 in operation.responses, id).toBe(id !== 'streamEvents')
      const hasBody = operation.requestBody !== undefined
      expect(415 in operation.responses, id).toBe(hasBody)
      expect(413 in operation.responses, id).toBe(hasBody)
    }
  })

  test('has only patterns that are regular expressions without flags and fit their examples', () => {
    const patterns = patternsOf(printedDocument())
    expect(patterns.length).toBeGreaterThan(5)
    for (const pattern of patterns) {
      expect(() => new RegExp(pattern, 'u'), pattern).not.toThrow()
      expect(pattern).not.toMatch(/\$\/\w*$/)
    }
    const mediaType = new RegExp(patterns.find((pattern) => pattern.includes('\\/'))!, 'u')
    for (const type of ['application/pdf', 'Text/CSV']) expect(type).toMatch(mediaType)
    for (const type of ['application/pdf; charset=utf-8', 'pdf']) expect(type).not.toMatch(mediaType)
  })

  test('has only patterns that other implementations of regular expressions understand', () => {
    const parser = new RegExpParser({ ecmaVersion: 2023 })
    const foreign = (source: string): string[] => {
      const found: string[] = []
      // Go's RE2, which many generated validators use, has no lookaround and no backreferences; named groups, sets
      // of properties and sticky classes are written otherwise in Python and Java.
      visitRegExpAST(parser.parsePattern(source, 0, source.length, { unicode: true }), {
        onAssertionEnter: ({ kind, raw }) => void (kind.startsWith('look') && found.push(raw)),
        onBackreferenceEnter: ({ raw }) => void found.push(raw),
        onCapturingGroupEnter: ({ name, raw }) => void (name !== null && found.push(raw)),
        onCharacterSetEnter: ({ kind, raw }) => void (kind === 'property' && found.push(raw)),
      })
      return found
    }
    expect(foreign('^(?=a)(?<x>b)\\1\\p{L}$')).toHaveLength(4)
    expect(
      patternsOf(printedDocument()).flatMap((pattern) => foreign(pattern).map((part) => [pattern, part])),
    ).toEqual([])
  })

  test('has the Idempotency-Key parameter if and only if it is a POST', () => {
    for (const { id, method, operation } of description.operations) {
      const names = (operation.parameters ?? []).map((parameter: Json) => description.resolve(parameter).name)
      expect(names.includes('Idempotency-Key'), id).toBe(method === 'post')
      if (method === 'post') expect(operation.responses, id).toHaveProperty('409')
    }
  })

  test('has an example of its request body that matches the schema', () => {
    for (const { id, operation } of description.operations) {
      const schema = operation.requestBody?.content['application/json']?.schema
      if (schema) expect(description.faultsOf(schema, description.resolve(schema).example), id).toEqual([])
    }
    for (const [name, schema] of Object.entries<Json>(document.components.schemas)) {
      if (name === 'ErrorCode') continue
      expect(schema.example ?? schema.allOf?.at(-1).example, name).toBeDefined()
      expect(description.faultsOf(schema, schema.example ?? schema.allOf.at(-1).example), name).toEqual([])
    }
  })

  test('has a request body with a name, which generators of clients use', () => {
    const bodies = description.operations.flatMap(({ operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema
      return schema ? [schema] : []
    })
    expect(bodies.length).toBeGreaterThan(30)
    for (const { $ref } of bodies) expect($ref).toMatch(/^#\/components\/schemas\/[A-Z]\w+$/)
    expect(document.components.schemas.SendMessageInput.properties).toHaveProperty('text')
  })

  test('limits the length of every string in its request body', () => {
    const texts = (schema: Json, at: string): [string, Json][] => {
      const {
        type,
        properties = {},
        items,
        enum: values,
        format,
        pattern,
        maxLength,
      } = description.schemaOf(schema)
      const below = Object.entries<Json>(properties).flatMap(([name, value]) => texts(value, `${at}.${name}`))
      if (items) below.push(...texts(items, `${at}[]`))
      const isText =
        [type].flat().includes('string') && !values && format !== 'uuid' && format !== 'date-time'
      return isText ? [...below, [at, { maxLength, pattern }]] : below
    }
    const bodies = description.operations.flatMap(({ id, operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema
      return schema ? texts(schema, id) : []
    })
    expect(bodies.length).toBeGreaterThan(15)
    for (const [at, { maxLength, pattern }] of bodies)
      expect(maxLength ?? /\{\d+,\d+\}/.exec(pattern ?? '')?.[0], at).toBeDefined()
    expect(Object.fromEntries(bodies)['sendMessage.text'].maxLength).toBe(32_000)
  })
})

const MAIL = { 'Content-Type': 'message/rfc822' }

/** Requests that succeed for every operation, in an order in which each finds what it needs. */
async function* goodRequests(): AsyncGenerator<[string, string, string, Json?, Record<string, string>?]> {
  const member = 'member'
  const self = 'agent'
  const path = `/agents/${agent.id}`
  yield [member, 'GET', '/workspace']
  yield [member, 'PATCH', '/workspace', { name: 'Acme' }]
  yield [member, 'DELETE', '/workspace']
  yield [member, 'POST', '/workspace/restore']
  yield [member, 'GET', '/export']
  yield [member, 'GET', `${path}/export`]
  yield [member, 'GET', '/audit']
  yield [member, 'GET', '/counts']
  yield [member, 'GET', '/messages?limit=2']
  yield [member, 'GET', '/members']
  yield [member, 'POST', '/members/invitations', { email: 'ann@example.com' }]
  yield [member, 'GET', '/members/invitations']
  const [invitation] = (await owner.api('GET', '/members/invitations')).body
  yield [member, 'DELETE', `/members/invitations/${invitation.id}`]
  const guest = await service.db.prisma.member.create({
    data: { workspaceId: owner.id, email: 'bo@example.com' },
  })
  yield [member, 'GET', '/viewer']
  yield [member, 'PATCH', '/members/me', { approvalMails: false }]
  yield [member, 'PATCH', `/members/${guest.id}`, { role: 'owner' }]
  yield [member, 'DELETE', `/members/${guest.id}`]
  yield [member, 'POST', '/tokens', { name: 'another' }]
  yield [member, 'GET', '/tokens']
  const own = (await owner.api('GET', '/tokens')).body
  yield [member, 'DELETE', `/tokens/${own.at(-1).id}`]
  yield [member, 'POST', '/domains', { name: 'own.example' }]
  yield [member, 'POST', '/domains', { name: 'own.example' }]
  yield [member, 'GET', '/domains']
  const [domain] = (await owner.api('GET', '/domains')).body
  yield [member, 'GET', `/domains/${domain.id}`]
  yield [member, 'POST', `/domains/${domain.id}/verify`]
  yield [member, 'PATCH', `/domains/${domain.id}`, { catchAllAgentId: null }]
  yield [member, 'DELETE', `/domains/${domain.id}`]
  yield [member, 'POST', '/agents', { name: 'Second', icon: 'zap' }]
  yield [member, 'GET', '/agents']
  yield [member, 'GET', path]
  yield [member, 'GET', `${path}/counts`]
  yield [member, 'PATCH', path, { name: 'Renamed' }]
  yield [member, 'GET', `${path}/addresses`]
  const [address] = (await owner.api('GET', `${path}/addresses`)).body
  yield [member, 'PATCH', `${path}/addresses/${address.id}`, { value: 'renamed-bot@agents.localhost' }]
  const number = {
    workspaceId: owner.id,
    agentId: agent.id,
    channel: 'sms',
    value: '+15551230000',
    primary: true,
  } as const
  const phone = await service.db.prisma.address.create({ data: number })
  yield [member, 'DELETE', `${path}/addresses/${phone.id}`]
  yield [member, 'POST', `${path}/addresses/setups`, { channel: 'email' }]
  yield [member, 'PUT', `${path}/access/email`, { admit: 'anyone', senders: ['*@example.com'] }]
  yield [member, 'GET', `${path}/access`]
  for (const list of ['senders', 'blocked']) {
    yield [member, 'POST', `${path}/access/email/${list}`, { sender: 'eve@example.org' }]
    yield [member, 'DELETE', `${path}/access/email/${list}/eve@example.org`]
  }
  yield [member, 'POST', `${path}/tokens`, {}]
  yield [member, 'GET', `${path}/tokens`]
  const connected = { workspaceId: owner.id, agentId: agent.id, memberId: owner.member }
  const app = await storeApp(service.db, connected)
  yield [member, 'GET', '/connected-apps']
  yield [member, 'DELETE', `/connected-apps/${app}`]
  yield [self, 'PUT', `${path}/connection`, { client: 'c', machine: 'm' }]
  const connection = await agent.api('PUT', `${path}/connection`, { client: 'c', machine: 'm' })
  yield [self, 'GET', `${path}/connections/${connection.body.id}/events`]
  yield [member, 'POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/hook' }]
  yield [member, 'POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/hook' }]
  yield [member, 'GET', `${path}/listeners`]
  yield [member, 'POST', `${path}/url`, { text: 'hi' }]
  yield [member, 'GET', '/phone-numbers/available?country=US']
  yield [member, 'POST', '/phone-numbers', { value: '+15005550101' }]
  yield [member, 'GET', '/phone-numbers']
  yield [member, 'POST', '/members/me/identities', { channel: 'sms', value: '+15551234567' }]
  const code = twilio.sent.at(-1)!.body.slice(0, 6)
  yield [member, 'POST', '/members/me/identities/verify', { channel: 'sms', code }]
  await service.db.prisma.address.create({
    data: { workspaceId: owner.id, agentId: agent.id, channel: 'telegram', value: '@some_bot' },
  })
  yield [member, 'POST', '/members/me/identities/telegram', { agentId: agent.id }]
  yield [member, 'GET', '/members/me/identities']
  yield [member, 'DELETE', '/members/me/identities/sms/+15551234567']
  const [rented] = (await owner.api('GET', '/phone-numbers')).body
  yield [member, 'DELETE', `/phone-numbers/${rented.id}`]
  // A second webhook: the first one no longer counts as a listener once its attempt has failed.
  await owner.api('POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/another' })
  yield [member, 'POST', `/a/${agent.id}`, { text: 'hi' }]
  await post(service, {
    from: 'Ann <ann@example.com>',
    to: 'renamed-bot@agents.localhost',
    text: 'Your verification code is 482913.',
    html: '<p>Your verification code is 482913.</p>',
    attachments: [{ filename: 'a.txt', content: 'a' }],
  })
  yield [member, 'POST', `${path}/codes/take`, { from: 'ann@example.com', unproven: true }]
  for (const end of ['answer', 'withdraw'] as const) {
    yield ['agent', 'POST', `${path}/questions`, { text: 'Refund?', options: ['Yes', 'No'] }]
    const [question] = (await owner.api('GET', `${path}/questions`)).body.items
    const one = `${path}/questions/${question.id}`
    yield end === 'answer' ? [member, 'POST', `${one}/answer`, { text: 'Yes' }] : [member, 'DELETE', one]
    yield [member, 'GET', one]
  }
  yield [member, 'GET', `${path}/questions?status=answered`]
  yield [member, 'GET', `${path}/messages?limit=1`]
  const [message] = (await owner.api('GET', `${path}/messages?limit=1`)).body.items
  yield [member, 'GET', `${path}/messages/${message.id}`]
  yield [member, 'PATCH', `${path}/messages/${message.id}`, { labels: ['a'], read: true }]
  yield [member, 'PATCH', `${path}/messages`, { ids: [message.id], addLabels: ['b'], read: false }]
  yield [member, 'POST', `${path}/messages/${message.id}/release`, {}]
  yield [member, 'POST', `${path}/messages/release`, { ids: [message.id] }]
  yield [member, 'GET', `${path}/messages/${message.id}/raw`]
  yield [member, 'POST', `${path}/messages/${message.id}/raw/link`]
  yield [member, 'GET', `${path}/messages/${message.id}/html?remoteImages=true`]
  yield [member, 'POST', `${path}/messages/${message.id}/html/link`, { remoteImages: true }]
  yield [member, 'GET', `${path}/messages/${message.id}/headers`]
  yield [member, 'GET', `${path}/messages/${message.id}/attachments/0`]
  yield [member, 'GET', `${path}/messages/${message.id}/attachments/0/text`]
  yield [member, 'GET', `${path}/messages/${message.id}/hidden-text`]
  yield [member, 'POST', `${path}/messages/${message.id}/attachments/0/link`]
  yield [member, 'POST', `${path}/messages`, { replyTo: message.id, text: 'hello' }]
  yield [member, 'POST', `${path}/messages`, { forward: message.id, to: ['cy@example.com'], text: 'see' }]
  yield [member, 'GET', `${path}/messages`]
  yield [member, 'POST', `${path}/imports`, 'From: ann@example.com\r\n\r\nhi', MAIL]
  const [sent] = (await owner.api('GET', `${path}/messages?direction=outbound`)).body.items
  yield [member, 'GET', `${path}/messages/${sent.id}/recipients`]
  const written = { channel: 'email', to: ['cy@example.com'], text: 'hi' }
  yield [member, 'POST', `${path}/drafts`, written]
  yield [member, 'GET', `${path}/drafts`]
  const [draft] = (await owner.api('GET', `${path}/drafts`)).body.items
  yield [member, 'GET', `${path}/drafts/${draft.id}`]
  yield [member, 'PATCH', `${path}/drafts/${draft.id}`, { subject: 'Hello' }]
  yield [member, 'POST', `${path}/drafts/${draft.id}/send`]
  const spare = await owner.api('POST', `${path}/drafts`, {})
  yield [member, 'DELETE', `${path}/drafts/${spare.body.id}`]
  const thread = `${path}/threads/${message.threadId}`
  yield [member, 'GET', `${path}/threads?state=open`]
  yield [member, 'GET', `${thread}/transcript?tokens=500`]
  yield [member, 'GET', thread]
  yield [member, 'PATCH', thread, { done: true, read: true, assignedTo: owner.member }]
  yield [
    'agent',
    'PATCH',
    `${path}/threads`,
    { ids: [message.threadId], snoozedUntil: null, addLabels: ['a'] },
  ]
  yield [member, 'POST', `${thread}/notes`, { text: 'Ann called' }]
  yield [member, 'GET', `${thread}/notes`]
  const [note] = (await owner.api('GET', `${thread}/notes`)).body
  yield [member, 'DELETE', `${thread}/notes/${note.id}`]
  yield [member, 'PATCH', path, { approval: 'all' }]
  for (const decision of ['approve', 'reject', 'cancel']) {
    const held = await owner.api('POST', `${path}/messages`, {
      forward: message.id,
      to: ['cy@example.com'],
      text: 'see',
    })
    yield [member, 'POST', `${path}/messages/${held.body.id}/${decision}`]
  }
  const checks = [{ name: 'unsubscribe', verdict: 'requested', detail: 'requested by Ann' }]
  await service.db.prisma.message.updateMany({ where: { id: message.id }, data: { checks } })
  yield [member, 'POST', `${path}/messages/${message.id}/unsubscribe`]
  yield [member, 'PATCH', path, { approval: 'none' }]
  const many = (await owner.api('GET', `${path}/messages?limit=2`)).body.items
  yield [member, 'DELETE', `${path}/messages/${many[0].id}`]
  yield [member, 'POST', `${path}/messages/delete`, { ids: [many[1].id] }]
  const suppressed = {
    agentId: agent.id,
    channel: 'email',
    recipient: 'gone@example.com',
    reason: 'bounce',
    detail: '550 5.1.1',
  } as const
  await service.db.prisma.suppression.create({ data: suppressed })
  yield [member, 'GET', `${path}/suppressions`]
  yield [member, 'DELETE', `${path}/suppressions/gone@example.com`]
  yield [member, 'GET', `${path}/events?after=0&types=message.received,message.failed`]
  const [webhook] = (await owner.api('GET', `${path}/webhooks`)).body
  yield [member, 'GET', `${path}/webhooks`]
  yield [member, 'PATCH', `${path}/webhooks/${webhook.id}`, { events: ['message.received', 'message.sent'] }]
  yield [member, 'GET', `${path}/webhooks/${webhook.id}/deliveries`]
  yield [member, 'POST', `${path}/webhooks/${webhook.id}/test`]
  const ofWebhook = { lane: webhook.id, seq: { gt: 0 } }
  await service.db.prisma.job.updateMany({ where: ofWebhook, data: { state: 'pending' } })
  await service.db.prisma.webhook.updateMany({ where: { id: webhook.id }, data: { position: 0 } })
  const { id: blocking } = (
    await owner.api('GET', `${path}/webhooks/${webhook.id}/deliveries`)
  ).body.items.at(-1)
  yield [member, 'POST', `${path}/webhooks/${webhook.id}/deliveries/${blocking}/unblock`, { skip: true }]
  await service.db.prisma.job.updateMany({
    where: ofWebhook,
    data: { state: 'delivered' },
  })
  const deliveries = (await owner.api('GET', `${path}/webhooks/${webhook.id}/deliveries`)).body.items
  const delivered = deliveries.find(({ eventId }: { eventId: string }) => eventId.startsWith('evt_'))
  yield [member, 'POST', `${path}/webhooks/${webhook.id}/deliveries/${delivered.id}/resend`]
  yield [member, 'GET', `${path}/webhooks/${webhook.id}/deliveries/${delivered.id}`]
  yield [member, 'POST', `${path}/webhooks/${webhook.id}/replay`, { after: 0 }]
  yield [member, 'POST', `${path}/webhooks/${webhook.id}/resend`, { since: '2026-01-01T00:00:00Z' }]
  yield [member, 'PATCH', `${path}/webhooks/${webhook.id}`, { name: 'CRM', paused: true }]
  yield [member, 'POST', `${path}/webhooks/${webhook.id}/rotate`]
  yield [member, 'DELETE', `${path}/webhooks/${webhook.id}`]
  yield [member, 'PUT', `${path}/secrets/KEY`, { value: 'v' }]
  yield [member, 'GET', `${path}/secrets`]
  yield [self, 'POST', `${path}/secrets/reveal`, {}]
  yield [member, 'DELETE', `${path}/secrets/KEY`]
  const tokens = (await owner.api('GET', `${path}/tokens`)).body
  yield [member, 'DELETE', `${path}/tokens/${tokens.at(-1).id}`]
  yield [member, 'DELETE', path]
}

/** Lists how a response deviates from its description: status, headers, shape. */
const faultsOf = (operation: Json, answer: Answer): string[] => {
  const response = description.resolve(operation.responses[answer.status])
  if (!response) return [`${answer.status} is not described: ${answer.text.slice(0, 200)}`]
  const optional = ['Idempotency-Replayed', 'Link']
  const headers = Object.keys(response.headers).filter(
    (name) => !optional.includes(name) && !answer.headers.has(name),
  )
  const [type, media] = Object.entries<Json>(response.content ?? {})[0] ?? []
  const given = answer.headers.get('content-type')?.split(';')[0]
  const typed = type === undefined ? given === undefined : type === '*/*' || type === given
  const body = type === 'application/json' ? description.faultsOf(media.schema, answer.body) : []
  return [...headers.map((name) => `no header ${name}`), ...(typed ? [] : [`type ${given}`]), ...body]
}

/** Reads only the head of a stream. */
const openStream = async (path: string): Promise<Answer> => {
  const leaving = new AbortController()
  const response = await fetch(service.http + path, {
    headers: { Authorization: `Bearer ${agent.token}` },
    signal: leaving.signal,
  })
  leaving.abort()
  return { status: response.status, headers: response.headers, body: null, text: '' }
}

test('the events of a stream are as described', async () => {
  const { schema } = description.operationOf('GET', '/agents/x/connections/y/events')!.operation
    .responses[200].content['text/event-stream']
  const connect = async () => {
    const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
    return openEvents(`${service.http}/agents/${agent.id}/connections/${body.id}/events`, agent.token)
  }
  const stream = await connect()
  await owner.api('POST', `/a/${agent.id}`, { text: 'hi' })
  await stream.got(1)
  const next = await connect()
  await stream.ended
  next.close()
  const frames = stream.frames.map(({ id, ...rest }) => ({ ...(id === null ? {} : { id }), ...rest }))
  expect(frames.map(({ event }) => event)).toEqual(['message.received', 'replaced'])
  for (const frame of frames) expect(description.faultsOf(schema, frame)).toEqual([])
  expect(description.faultsOf(schema, { ...frames[0], event: 'message.unknown' })).not.toEqual([])
  expect(description.faultsOf(schema, { id: 1, event: 'truncated', data: {} })).not.toEqual([])
})

test('every operation responds as described, without undocumented fields', async () => {
  const asked = new Set<string>()
  for await (const [who, method, path, body, headers] of goodRequests()) {
    const { id, operation } = description.operationOf(method, path)!
    const isStream = id === 'streamEvents'
    const answer = isStream
      ? await openStream(path)
      : await (who === 'agent' ? agent.api : owner.api)(method, path, body, headers)
    expect(answer.status, `${id} ${answer.text}`).toBeLessThan(300)
    expect(faultsOf(operation, answer), `${id} ${answer.status}`).toEqual([])
    asked.add(id)
  }
  expect(description.operations.map(({ id }) => id).filter((id) => !asked.has(id))).toEqual([])
})

test('failures are returned as described', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  const third = await createTestAgent(service, owner, 'Third')
  const nobody = apiOf(service.http, null)
  const cases: [Answer, string, number][] = [
    [await nobody('GET', '/agents'), 'listAgents', 401],
    [await owner.api('GET', '/agents/x'), 'readAgent', 400],
    [await owner.api('GET', `/agents/${owner.id}`), 'readAgent', 404],
    [await other.api('GET', `/agents/${third.id}`), 'readAgent', 403],
    [await owner.api('PUT', `/agents/${other.id}/connection`, { client: 'c', machine: 'm' }), 'connect', 403],
    [await owner.api('POST', `/a/${other.id}`, { text: 'x' }), 'sendToMessageUrl', 409],
    [await owner.api('POST', '/agents', '{}', { 'Content-Type': 'text/plain' }), 'createAgent', 415],
    [await owner.api('POST', '/agents', ' '.repeat(1024 * 1024 + 1)), 'createAgent', 413],
  ]
  for (const [answer, id, status] of cases) {
    const { operation } = description.operations.find((one) => one.id === id)!
    expect(answer.status, id).toBe(status)
    expect(
      faultsOf(operation, answer).filter((fault) => !/no header RateLimit/.test(fault)),
      id,
    ).toEqual([])
  }
})

const CLIENT = `
import type { components, operations, paths } from './api.js'
type Message = components['schemas']['Message']
type Send = operations['sendMessage']['requestBody']['content']['application/json']
const send: Send = { channel: 'email', to: ['ann@example.com'], text: 'hi' }
const icon: paths['/agents']['post']['requestBody']['content']['application/json']['icon'] = 'bot'
export const subjectOf = ({ subject, checks }: Message): string => subject ?? checks[0]?.verdict ?? icon
export const codes: components['schemas']['ErrorCode'][] = ['plan_limit']
// @ts-expect-error: no such status
export const wrong: Message['status'] = 'lost'
export { send }
`

describe('a typed client', () => {
  const dir = temporaryDir()
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('can be generated from the document and compiles', () => {
    writeFileSync(join(dir, 'openapi.json'), JSON.stringify(document))
    const bin = join(ROOT, 'node_modules', 'openapi-typescript', 'bin', 'cli.js')
    const older = join(ROOT, 'test', 'support', 'older-typescript.mjs')
    execFileSync(process.execPath, ['--import', older, bin, 'openapi.json', '-o', 'api.ts'], {
      cwd: dir,
      stdio: 'pipe',
    })
    writeFileSync(join(dir, 'client.ts'), CLIENT)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', '--types', '']
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const compile = () =>
      execFileSync(process.execPath, [tsc, ...options, 'client.ts', 'api.ts'], { cwd: dir, encoding: 'utf8' })
    expect(compile).not.toThrow()
  })
})

const ENTITIES: Record<string, string> = { quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' }

describe('/docs', () => {
  test('shows every operation, with one script of its own and no external resources', async () => {
    const { status, headers, text } = await apiOf(service.http, null)('GET', '/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html/)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+';/,
    )
    for (const { id, path } of description.operations) {
      expect(text).toContain(`id="${id}"`)
      expect(text).toContain(`<code>${path}</code>`)
    }
    for (const [, target] of text.matchAll(/href="#([^"]*)"/g))
      expect(text, target).toContain(`id="${target}"`)
    expect(text).toContain('1 to 32,000 characters')
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(text).not.toMatch(/<img|<link|\ssrc=|undefined|\[object Object\]/)
  })

  test('begins with getting started, whose commands work as they are', async () => {
    const { text } = await apiOf(service.http, null)('GET', '/docs')
    const main = text.slice(text.indexOf('<main>'))
    const start = main.slice(0, main.indexOf('</section>'))
    expect(start).toContain('<h2 id="getting-started">')
    const decode = (html: string) =>
      html.replace(/&(quot|#39|lt|gt|amp);/g, (_, name: string) => ENTITIES[name]!)
    const commands = [...start.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(([, code]) =>
      decode(code!),
    )
    expect(commands).toHaveLength(5)
    const owner = await service.workspace()
    // The shell must not block this process, which runs the service.
    const { stdout, stderr } = await promisify(execFile)('sh', [
      '-ec',
      commands.join('\necho\n').replace('$(cat data/owner-token)', owner.token),
    ])
    expect(stderr).toBe('')
    const [address, messages, sent, token] = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    expect(address[0].value).toMatch(/^support-bot\S*@/)
    expect(messages).toEqual({ items: [], nextCursor: null })
    expect(sent.counterpart).toBe('ann@example.com')
    expect(token.token).toMatch(/^aat_/)
  })

  browserTest('can be searched, and a link leads out of the search', async () => {
    const page = await (await startBrowser()).page()
    await page.goto(`${service.http}/docs`)
    const operations = page.locator('section.operation:visible')
    const all = await operations.count()
    await page.getByRole('searchbox', { name: 'Search' }).fill('rotate SECRET')
    const few = await operations.count()
    expect(few).toBeGreaterThan(0)
    expect(few).toBeLessThan(all / 5)
    expect(await page.locator('#found').textContent()).toBe(`${few} result${few === 1 ? '' : 's'}`)
    await page.getByRole('searchbox').fill('no such words here')
    expect(await page.locator('#found').textContent()).toBe('0 results')
    await page.evaluate("location.hash = 'createAgent'")
    await page.locator('#createAgent').waitFor({ state: 'visible' })
    expect(await operations.count()).toBe(all)
    expect(errorsOf(page)).toEqual([])
  })
})
