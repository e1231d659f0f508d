import { beforeAll, describe, expect, test } from 'vitest'
import { receive } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Where the messages of a search have its words. */

interface Part {
  text: string
  matched: boolean
}
interface Highlight {
  field: string
  parts: Part[]
}

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const letter = (text: string, more: object = {}) =>
  receive(service, agent, { from: 'Ann Example <ann@example.com>', to: agent.address, text, ...more })
const found = async (q: string, id: string, list = `/agents/${agent.id}/messages`): Promise<Highlight[]> => {
  const { items } = (await owner.api('GET', `${list}?${new URLSearchParams({ q })}`)).body
  return items.find((one: { id: string }) => one.id === id).highlights
}
/** As a text in which what matched stands in brackets. */
const written = (highlights: Highlight[]) =>
  highlights.map(({ field, parts }) => [
    field,
    parts.map(({ text, matched }) => (matched ? `[${text}]` : text)).join(''),
  ])

describe('fragments', () => {
  test('show the words in each field, as they are written', async () => {
    const { id } = await letter('Your REFUND is here, Straße 5.\nRefunds take a day.', {
      subject: 'About a refund',
    })
    expect(written(await found('refund', id))).toEqual([
      ['subject', 'About a [refund]'],
      ['text', 'Your [REFUND] is here, Straße 5. Refunds take a day.'],
    ])
    expect(written(await found('refun*', id, '/messages'))).toEqual([
      ['subject', 'About a [refund]'],
      ['text', 'Your [REFUND] is here, Straße 5. [Refunds] take a day.'],
    ])
    expect(written(await found('STRASSE -nothing', id))).toEqual([
      ['text', 'Your REFUND is here, [Straße] 5. Refunds take a day.'],
    ])
    expect(written(await found('"refund is here"', id))).toEqual([
      ['text', 'Your [REFUND is here], Straße 5. Refunds take a day.'],
    ])
    expect(written(await found('example', id))).toEqual([
      ['counterpart', 'ann@[example].com'],
      ['counterpartName', 'Ann [Example]'],
    ])
    expect(written(await found('ann@example.com or day', id))).toEqual([
      ['counterpart', '[ann@example.com]'],
      ['text', 'Your REFUND is here, Straße 5. Refunds take a [day].'],
    ])
  })

  test('are short, and at most three of a field', async () => {
    const filler = 'lorem ipsum dolor sit amet '.repeat(40)
    const { id } = await letter(`${filler}needle ${filler}needle ${filler}needle ${filler}needle ${filler}`)
    const highlights = await found('needle', id)
    expect(highlights.map(({ field }) => field)).toEqual(['text', 'text', 'text'])
    for (const { parts } of highlights) {
      expect(parts.filter(({ matched }) => matched)).toEqual([{ text: 'needle', matched: true }])
      expect(parts.map(({ text }) => text).join('').length).toBeLessThan(170)
      expect(parts[0]).toEqual({ text: '…', matched: false })
    }
  })

  test('of scripts without spaces, and of decomposed letters, are found where they stand', async () => {
    const { id } = await letter(`注文は東京へ。 ${'Résumé'.normalize('NFD')} 👍 fertig`)
    expect(written(await found('東京', id))[0]![1]).toContain('[東京]')
    expect(written(await found('résumé', id))[0]![1]).toContain(`[${'Résumé'.normalize('NFD')}]`)
  })

  test('are data: markup of a message stays text', async () => {
    const { id } = await letter('<b>harmless</b> <img src=x onerror=alert(1)> canary <mark>fake</mark>')
    expect(await found('canary', id)).toEqual([
      {
        field: 'text',
        parts: [
          { text: '<b>harmless</b> <img src=x onerror=alert(1)> ', matched: false },
          { text: 'canary', matched: true },
          { text: ' <mark>fake</mark>', matched: false },
        ],
      },
    ])
  })

  test('of words in a file name no text', async () => {
    const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'the zebra is inside' }]
    const { id } = await letter('see attached', { attachments })
    const list = `/agents/${agent.id}/messages?q=zebra`
    await until(async () => (await owner.api('GET', list)).body.items.length === 1)
    expect(await found('zebra', id)).toEqual([{ field: 'attachments', parts: [] }])
  })

  test('of a long text full of the word cost little', async () => {
    const { id } = await letter('spam '.repeat(15_000))

    expect((await found('spam spa*', id)).length).toBeGreaterThan(0)
  })
})

test('lists without a search, and single messages, have none', async () => {
  const { id } = await letter('hi')
  const { items } = (await owner.api('GET', `/agents/${agent.id}/messages`)).body
  for (const message of items) expect(message).not.toHaveProperty('highlights')
  expect((await owner.api('GET', `/agents/${agent.id}/messages/${id}`)).body).not.toHaveProperty('highlights')
})

test('GraphQL has them at the edges', async () => {
  const { id } = await letter('the walrus sings')
  const query = `query ($id: UUID!) {
    agent(id: $id) { messages(q: "walrus") { edges { node { id } highlights { field parts { text matched } } } } }
    workspace { messages(first: 100, q: "walrus") { edges { node { id subject preview } highlights { field parts { text matched } } } } }
    plain: agent(id: $id) { messages(first: 1) { edges { highlights { field } } } }
  }`
  const { data } = (await owner.api('POST', '/graphql', { query, variables: { id: agent.id } })).body
  expect(data.agent.messages.edges).toEqual([
    {
      node: { id },
      highlights: [
        {
          field: 'text',
          parts: [
            { text: 'the ', matched: false },
            { text: 'walrus', matched: true },
            { text: ' sings', matched: false },
          ],
        },
      ],
    },
  ])
  expect(data.workspace.messages.edges).toMatchObject([{ highlights: [{ field: 'text' }] }])
  expect(data.plain.messages.edges).toEqual([{ highlights: [] }])
})

test('MCP shows the words around what was found, between markers, also of what the agent itself has written', async () => {
  const mcp = await openMcp(service.http, agent.token)
  const long = `${'Nothing that matters. '.repeat(40)}The narwhal is in cell 7.${' And more.'.repeat(40)}`
  const received = await letter(long, { subject: 'Stock' })
  const quoting = await agent.api('POST', `/agents/${agent.id}/messages`, {
    replyTo: received.id,
    text: `Thank you.\n\nAnn wrote:\n> ${long}`,
  })
  const listed = async (query: string) => (await mcp.call('list_messages', { query })).result
  const both = await until(async () => {
    const result = await listed('narwhal')
    return result.messages.length === 2 && result
  })
  expect(both.messages.map(({ messageId }: { messageId: string }) => messageId)).toEqual([
    quoting.body.id,
    received.id,
  ])
  const [, lines] = both.previews.match(/^<<<OUTSIDE \w+>>>\n([\s\S]*)\n<<<END/)!
  expect(lines.split('\n')).toEqual([
    expect.stringMatching(/^1 .*The narwhal is in cell 7\./),
    expect.stringMatching(/^2 Ann Example \| Stock \| .*The narwhal is in cell 7\./),
  ])
  expect(JSON.stringify(both.messages)).not.toContain('narwhal')
  expect((await listed('stock')).previews).toContain('| Stock | Nothing that matters.')
  await mcp.close()
})
