import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { waitsForLock } from '../support/rows.ts'
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
let path: string
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '10000' } })
  owner = await service.workspace()
})
beforeEach(async () => {
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/drafts`
})

const FILE = { name: 'a.txt', type: 'text/plain', content: Buffer.from('hi').toString('base64') }
const WHOLE = {
  channel: 'email',
  to: ['ann@example.com'],
  subject: 'Hello',
  text: 'hi',
  conversation: 'T-1',
}
const create = async (content: object) => (await agent.api('POST', path, content)).body

describe('a draft', () => {
  test('may be empty, and is shared by the agent and the members', async () => {
    const draft = await create({})
    expect(draft).toEqual({
      id: expect.any(String),
      ...{
        text: null,
        html: null,
        replyTo: null,
        replyAll: false,
        forward: null,
        channel: null,
        to: [],
        cc: [],
        bcc: [],
        subject: null,
        metadata: {},
        conversation: null,
      },
      savedBy: { kind: 'agent', id: agent.id, name: expect.any(String) },
      ...{ sendAt: null, attachments: [], createdAt: expect.any(String), updatedAt: expect.any(String) },
    })
    const changed = await owner.api('PATCH', `${path}/${draft.id}`, { ...WHOLE, attachments: [FILE] })
    expect(changed.body).toMatchObject({
      ...WHOLE,
      attachments: [{ name: 'a.txt', type: 'text/plain', size: 2 }],
    })
    expect((await agent.api('GET', `${path}/${draft.id}`)).body).toEqual(changed.body)
    const emptied = await agent.api('PATCH', `${path}/${draft.id}`, { subject: null, attachments: null })
    expect(emptied.body).toMatchObject({ ...WHOLE, subject: null, attachments: [] })
  })

  test('is sent once, with its files, and is gone then', async () => {
    const draft = await create({ ...WHOLE, attachments: [FILE] })
    const answers = await Promise.all([1, 2, 3].map(() => agent.api('POST', `${path}/${draft.id}/send`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404])
    const sent = answers.find(({ status }) => status === 201)!
    expect(sent.body).toMatchObject({
      ...WHOLE,
      direction: 'outbound',
      attachments: [{ name: 'a.txt', size: 2 }],
    })
    const { items } = (await agent.api('GET', `/agents/${agent.id}/messages`)).body
    expect(items.map(({ id }: { id: string }) => id)).toEqual([sent.body.id])
    expectFailure(await agent.api('GET', `${path}/${draft.id}`), 'not_found')
  })

  test('that cannot be sent stays as it is', async () => {
    for (const [content, field] of [
      [{}, 'text'],
      [{ text: 'hi' }, 'replyTo'],
      [{ text: 'hi', channel: 'email' }, 'to'],
      [{ text: 'hi', channel: 'email', to: ['nobody'] }, 'to\\[0\\]'],
      [{ text: 'hi', replyTo: randomUUID() }, 'replyTo'],
    ] as const) {
      const draft = await create(content)
      expectFailure(await agent.api('POST', `${path}/${draft.id}/send`), 'invalid_input', new RegExp(field))
      expect((await agent.api('GET', `${path}/${draft.id}`)).body).toEqual(draft)
    }
    expect((await agent.api('GET', `/agents/${agent.id}/messages`)).body.items).toEqual([])
  })

  test('is sent once with an idempotency key', async () => {
    const draft = await create(WHOLE)
    const send = () => agent.api('POST', `${path}/${draft.id}/send`, undefined, { 'Idempotency-Key': 'send' })
    const [first, again] = [await send(), await send()]
    expect(first.status).toBe(201)
    expect(again.body).toEqual(first.body)
  })

  test('waits for approval like any message', async () => {
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
    const draft = await create(WHOLE)
    const sent = await agent.api('POST', `${path}/${draft.id}/send`)
    expect(sent.body.hold).toMatchObject({ reason: 'approval' })
  })

  test('has the limits of a message', async () => {
    for (const content of [
      { text: '' },
      { text: 'x'.repeat(32_001) },
      { to: [] },
      { channel: 'pigeon' },
      { sendAt: 'soon' },
      { bcc: ['ann@'.repeat(100)] },
      { blind: ['ann@example.com'] },
      { attachments: [{ ...FILE, content: '!' }] },
    ])
      expectFailure(await agent.api('POST', path, content), 'invalid_input')
  })
})

test('a page of large drafts is shorter, and none is left out', async () => {
  const large = { html: `<p>${'x'.repeat(250_000)}</p>` }
  const data = Array.from({ length: 75 }, (_, n) => ({
    ...{ id: randomUUID(), agentId: agent.id, content: large },
    ...{ createdAt: new Date(Date.now() - n * 1000), updatedAt: new Date() },
  }))
  await service.db.prisma.draft.createMany({ data })
  const first = (await agent.api('GET', `${path}?limit=100`)).body
  expect(first.items.length).toBeGreaterThan(50)
  expect(first.items.length).toBeLessThan(75)
  const rest = (await agent.api('GET', `${path}?limit=100&cursor=${first.nextCursor}`)).body
  expect(rest.nextCursor).toBeNull()
  const ids = [...first.items, ...rest.items].map(({ id }: { id: string }) => id)
  expect(new Set(ids).size).toBe(75)
})

test('drafts are listed by page, newest first', async () => {
  for (let n = 0; n < 5; n++) await create({ subject: `Draft ${n}` })
  const subjects: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: { body: { items: { subject: string }[]; nextCursor: string | null } } = await agent.api(
      'GET',
      `${path}?limit=2${cursor && `&cursor=${cursor}`}`,
    )
    subjects.push(...body.items.map(({ subject }) => subject))
    cursor = body.nextCursor
  }
  expect(subjects).toEqual([4, 3, 2, 1, 0].map((n) => `Draft ${n}`))
  expectFailure(await agent.api('GET', `${path}?cursor=wrong`), 'invalid_input')
})

test('the thousandth draft is the last', async () => {
  const now = new Date()
  const data = Array.from({ length: 999 }, () => ({
    ...{ id: randomUUID(), agentId: agent.id, content: {}, createdAt: now, updatedAt: now },
  }))
  await service.db.prisma.draft.createMany({ data })
  expect((await agent.api('POST', path, {})).status).toBe(201)
  expectFailure(await agent.api('POST', path, {}), 'conflict', /1000 drafts/)
})

test('a draft is read by its id in GraphQL, and saved only if nobody else changed it', async () => {
  const ask = async (query: string, variables: object) =>
    (await agent.api('POST', '/graphql', { query, variables })).body
  const draft = await create(WHOLE)
  const read = 'query ($agentId: UUID!, $id: UUID!) { draft(agentId: $agentId, id: $id) { text updatedAt } }'
  const ids = { agentId: agent.id, id: draft.id }
  expect((await ask(read, ids)).data.draft).toEqual({ text: 'hi', updatedAt: draft.updatedAt })
  const other = await createTestAgent(service, owner)
  expect((await ask(read, { ...ids, agentId: other.id })).errors[0].extensions.code).toBe('forbidden')
  expect((await ask(read, { ...ids, id: randomUUID() })).errors[0].extensions.code).toBe('not_found')
  const save = 'mutation ($input: SaveDraftInput!) { saveDraft(input: $input) { draft { text updatedAt } } }'
  const known = { agentId: agent.id, draftId: draft.id, unchangedSince: draft.updatedAt }
  const saved = (await ask(save, { input: { ...known, text: 'mine' } })).data.saveDraft.draft
  expect(saved.text).toBe('mine')
  // As another one who began with the same draft.
  const refused = await ask(save, { input: { ...known, text: 'theirs' } })
  expect(refused.errors[0].extensions.code).toBe('conflict')
  const path = `/agents/${agent.id}/drafts/${draft.id}`
  const stale = { text: 'theirs', unchangedSince: draft.updatedAt }
  expectFailure(await agent.api('PATCH', path, stale), 'conflict', 'changed meanwhile')
  const current = { text: 'mine', unchangedSince: saved.updatedAt }
  expect((await agent.api('PATCH', path, current)).status).toBe(200)
  expect((await ask(read, ids)).data.draft.text).toBe('mine')
})

test('of two edits at once, both are kept, or of two to the same version, one', async () => {
  const draft = await create(WHOLE)
  const edit = (changes: object) => agent.api('PATCH', `${path}/${draft.id}`, changes)
  const together = async (...edits: object[]) => {
    const answers = await service.db.prisma.$transaction(async (tx) => {
      await tx.$queryRaw`select 1 from draft where id = ${draft.id}::uuid for update`
      const begun = edits.map(edit)
      await until(() => waitsForLock(service.db, 'draft', edits.length))
      return { begun }
    })
    return Promise.all(answers.begun)
  }
  const both = await together({ subject: 'Mine' }, { text: 'theirs' })
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  const { body } = await agent.api('GET', `${path}/${draft.id}`)
  expect(body).toMatchObject({ subject: 'Mine', text: 'theirs' })
  const known = { unchangedSince: body.updatedAt }
  const one = await together({ ...known, text: 'mine' }, { ...known, text: 'theirs' })
  expect(one.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('a member sends what they know of a draft, and not what its agent has put there just before', async () => {
  const ask = async (api: typeof agent.api, query: string, input: object) =>
    (await api('POST', '/graphql', { query, variables: { input } })).body
  const draft = await create({ ...WHOLE, text: 'from the member' })
  const ids = { agentId: agent.id, draftId: draft.id }
  const save =
    'mutation ($input: SaveDraftInput!) { saveDraft(input: $input) { draft { updatedAt savedBy { kind } } } }'
  const send =
    'mutation ($input: SendDraftInput!) { sendDraft(input: $input) { message { text sentBy { kind } } } }'
  const saved = (await ask(owner.api, save, { ...ids, text: 'from the member' })).data.saveDraft.draft
  const changed = (await ask(agent.api, save, { ...ids, text: 'from the agent' })).data.saveDraft.draft
  // Also within a millisecond.
  expect(Date.parse(changed.updatedAt)).toBeGreaterThan(Date.parse(saved.updatedAt))
  const refused = await ask(owner.api, send, { ...ids, unchangedSince: saved.updatedAt })
  expect(refused.errors[0].extensions.code).toBe('conflict')
  const sent = await ask(owner.api, send, { ...ids, unchangedSince: changed.updatedAt })
  expect(sent.data.sendDraft.message).toEqual({ text: 'from the agent', sentBy: { kind: 'member' } })
})
