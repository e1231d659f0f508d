import { expect, test } from 'vitest'
import { type Answer, createTestAgent, startService } from '../support/service.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)
const path = `/agents/${agent.id}/messages`

interface Page {
  items: { id: string }[]
  nextCursor: string | null
}

const send = async (count: number) => {
  for (let n = 0; n < count; n++)
    await agent.api('POST', path, { channel: 'email', to: ['ann@example.com'], text: `n${n}` })
}

test('a page of very long messages is shortened, and the next page continues after it', async () => {
  await send(5)
  await service.db.pool.query("update message set text = repeat('x', 3000000) where agent_id = $1", [
    agent.id,
  ])
  const page = (cursor: string) => agent.api<Page>('GET', `${path}?limit=5${cursor && `&cursor=${cursor}`}`)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const answer: Answer<Page> = await page(cursor)
    expect(answer.status).toBe(200)
    expect(answer.body.items).toHaveLength(1)
    seen.push(answer.body.items[0]!.id)
    cursor = answer.body.nextCursor
  }
  expect(new Set(seen).size).toBe(5)
})

const THREAD = `query ($id: UUID!, $after: String) { agent(id: $id) {
  messages(first: 5, after: $after) { edges { node { id text } } pageInfo { hasNextPage endCursor } }
} }`
/** Also selects the recipients, which are in another table. */
const WITH_MORE = THREAD.replace('id text', 'id text replyText recipients { address }')
const WITHOUT = THREAD.replace('id text', 'id')

interface Found {
  data: {
    agent: {
      messages: {
        edges: { node: { id: string; text: string } }[]
        pageInfo: { hasNextPage: boolean; endCursor: string }
      }
    }
  }
}

test.each([
  ['in one statement', THREAD],
  ['in two statements', WITH_MORE],
])('a GraphQL page of very long messages, read %s, is shortened', async (_, query) => {
  const seen: string[] = []
  for (let after: string | null = null, more = true; more; ) {
    const answer: Answer<Found> = await agent.api<Found>('POST', '/graphql', {
      query,
      variables: { id: agent.id, after },
    })
    const { edges, pageInfo } = answer.body.data.agent.messages
    expect(edges).toHaveLength(1)
    expect(edges[0]!.node.text).toHaveLength(3_000_000)
    seen.push(edges[0]!.node.id)
    more = pageInfo.hasNextPage
    after = pageInfo.endCursor
  }
  expect(new Set(seen).size).toBe(5)
  const { data } = (await agent.api('POST', '/graphql', { query: WITHOUT, variables: { id: agent.id } })).body
  expect(data.agent.messages.edges).toHaveLength(5)
})

test('message lists of several agents share the size limit of a response, and each has at least one message', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  await other.api('POST', `/agents/${other.id}/messages`, {
    channel: 'email',
    to: ['ann@example.com'],
    text: 'short',
  })
  const query = '{ agents { messages(first: 5) { edges { node { text } } pageInfo { hasNextPage } } } }'
  const { data } = (await owner.api('POST', '/graphql', { query })).body
  expect(
    data.agents.map(
      ({
        messages: { edges, pageInfo },
      }: {
        messages: { edges: []; pageInfo: { hasNextPage: boolean } }
      }) => [edges.length, pageInfo.hasNextPage],
    ),
  ).toEqual([
    [1, true],
    [1, false],
  ])
})

test('a page ends before a very long message, and the next page starts with it', async () => {
  const reader = await createTestAgent(service, owner, 'Reader')
  const at = `/agents/${reader.id}/messages`
  for (const text of ['one', 'two', 'three'])
    await reader.api('POST', at, { channel: 'email', to: ['ann@example.com'], text })
  await service.db.pool.query(
    "update message set text = repeat('ü', 5000000) where agent_id = $1 and text = 'two'",
    [reader.id],
  )
  const first = (await reader.api('GET', `${at}?limit=3`)).body
  expect(first.items.map(({ text }: { text: string }) => text)).toEqual(['three'])
  const second = (await reader.api('GET', `${at}?limit=3&cursor=${first.nextCursor}`)).body
  expect(second.items.map(({ text }: { text: string }) => text.length)).toEqual([5_000_000])
  const third = (await reader.api('GET', `${at}?limit=3&cursor=${second.nextCursor}`)).body
  expect(third).toMatchObject({ items: [{ text: 'one' }], nextCursor: null })
})

test('an operation reads very long messages one after the other, and no more once their texts are too long', async () => {
  const reader = await createTestAgent(service, owner, 'Aliases')
  const at = `/agents/${reader.id}/messages`
  const { id } = (await reader.api('POST', at, { channel: 'email', to: ['ann@example.com'], text: 'x' })).body
  await service.db.pool.query("update message set text = repeat('x', 6000000) where id = $1", [id])
  const ask = (count: number) => {
    const aliases = Array.from({ length: count }, (_, n) => `m${n}: message(id: "${id}") { text }`)
    return reader.api('POST', '/graphql', { query: `{ ${aliases.join(' ')} }` })
  }
  expect(Object.keys((await ask(3)).body.data)).toHaveLength(3)
  const { errors } = (await ask(5)).body
  expect(errors[0].extensions.code).toBe('invalid_input')
  expect(errors[0].message).toMatch(/its texts have more than 16777216 characters in total/)
})

const TOO_LONG = /its texts have more than 16777216 characters in total/

test('no text is written more often than an answer may have characters, however small what is stored', async () => {
  const writer = await createTestAgent(service, owner, 'Writer')
  const at = `/agents/${writer.id}/drafts`
  const draft = await writer.api('POST', at, { text: 'x'.repeat(32_000), html: 'y'.repeat(255_000) })
  const template = { name: 'x', text: 'z'.repeat(10_000) }
  await writer.api('PATCH', `/agents/${writer.id}`, { templates: Array(50).fill(template) })
  const aliased = (field: string) => Array.from({ length: 40 }, (_, n) => `a${n}: ${field}`).join(' ')
  for (const field of [
    `draft(agentId: "${writer.id}", id: "${draft.body.id}") { text html }`,
    `agent(id: "${writer.id}") { templates { text } }`,
  ]) {
    const query = `{ ${aliased(field)} }`
    const { body, text } = await writer.api('POST', '/graphql', Array(4).fill({ query }))
    expect(JSON.stringify(body)).toMatch(field.startsWith('draft') ? TOO_LONG : /requests too much at once/)
    expect(text.length).toBeLessThan(18_000_000)
  }
})

test('changed threads cost as much as listed ones', async () => {
  const reader = await createTestAgent(service, owner, 'Changer')
  const sent = { channel: 'email', to: ['ann@example.com'], text: 'x' }
  const { threadId } = (await owner.api('POST', `/agents/${reader.id}/messages`, sent)).body
  const path = `/agents/${reader.id}/threads/${threadId}/notes`
  for (let n = 0; n < 20; n++) await owner.api('POST', path, { text: 'x'.repeat(10_000) })
  const query = `mutation ($input: UpdateThreadsInput!) {
    updateThreads(input: $input) { threads { a: notes { text } } } }`
  const change = async (count: number) => {
    const threads = Array(count).fill({ agentId: reader.id, threadId })
    const { body } = await owner.api('POST', '/graphql', {
      query,
      variables: { input: { threads, read: true } },
    })
    return body
  }
  expect((await change(20)).data.updateThreads.threads).toHaveLength(20)
  expect((await change(100)).errors[0].message).toMatch(/requests too much at once/)
})
