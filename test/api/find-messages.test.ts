import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { Prisma } from '../../src/db/generated/prisma/client.ts'
import type { MessageFilter } from '../../src/message/reading/filter.ts'
import { findMessages, messageCursor } from '../../src/message/reading/find.ts'
import { indexMessages } from '../../src/message/reading/search-index.ts'
import { isForIndex, tsqueryOf } from '../../src/message/reading/search-query.ts'
import { readThreadPlaces, type ThreadPage } from '../../src/message/reading/thread-places.ts'
import { searchWords } from '../../src/message/reading/words.ts'
import { createTestAgent, startService } from '../support/service.ts'

// Without a worker, so that the test controls when messages are indexed.
const service = await startService({ environment: { ROLES: 'api' } })
const owner = await service.workspace()
const [agent, other] = [await createTestAgent(service, owner), await createTestAgent(service, owner, 'Other')]
const foreign = await service.workspace('Foreign')
const stranger = await createTestAgent(service, foreign)
const { prisma } = service.db
const indexing = { ...service.db, log: silentLogger }

/** Small enough for every path to be taken in a small mailbox. */
const SMALL = { recent: 5, few: 4, far: 6, maxFar: 2 }
const COUNT = 120
const START = Date.parse('2026-11-20T00:00:00Z')

const KINDS = [
  { direction: 'inbound', status: 'received' },
  { direction: 'inbound', status: 'received' },
  { direction: 'inbound', status: 'refused', refusal: 'spam' },
  { direction: 'inbound', status: 'refused', refusal: 'sender' },
  { direction: 'inbound', status: 'imported' },
  { direction: 'outbound', status: 'sent' },
  { direction: 'outbound', status: 'imported' },
] as const
const CHANNELS = ['email', 'email', 'sms', 'telegram'] as const

const threadIds = () => Array.from({ length: 4 }, () => randomUUID())
const THREADS = threadIds()
const heldFor = (holdReason: 'approval' | 'schedule') =>
  ({ direction: 'outbound', status: 'sending', holdReason, holdUntil: new Date(START) }) as const

/** Spelled in composed and in decomposed letters. */
const NAMES = ['Björn Ödegård', 'Björn Ödegård'.normalize('NFD'), 'Straßer, Ann_100%'] as const
const SUBJECTS = ['Your refund for May', 'REFUNDABLE RÉSUMÉ', 'ÅR_1 100%'] as const
const TO = [['ann@example.com'], ['dora@example.net', 'Eve@sub.example.net']] as const

/** A mailbox in which all properties vary independently, and pairs of messages have the same time. */
const rowOf = (agentId: string, n: number, workspaceId = owner.id) => ({
  id: randomUUID(),
  workspaceId,
  agentId,
  addressId: randomUUID(),
  channel: CHANNELS[n % 4]!,
  ...{ refusal: null, holdReason: null, holdUntil: null },
  ...(n % 17 === 5 ? heldFor(n % 2 === 0 ? 'approval' : 'schedule') : KINDS[n % 7]!),
  counterpart: n % 3 === 0 ? 'ann@example.com' : `bob${n}@example.org`,
  counterpartName: NAMES[n % 8] ?? null,
  subject: SUBJECTS[n % 9] ?? null,
  to: TO[n % 10] ?? ['x@example.com'],
  cc: n % 12 === 0 ? ['Cara@Example.net'] : [],
  text: [
    'all',
    n === 33 && 'agenda',
    n === 100 && 'agents',
    n === 112 && 'agency',
    n % 2 === 0 && 'even',
    n % 40 === 3 && 'rare',
    n < 60 && 'former',
  ]
    .filter(Boolean)
    .join(' '),
  threadReferences: [],
  threadId: THREADS[n % 5] ?? THREADS[0]!,
  metadata: (n % 6 === 1 ? { order: String(n % 4), kind: 'a' } : n % 6 === 2 ? { kind: 'b' } : {}) as Record<
    string,
    string
  >,
  labels: n % 11 === 0 ? ['urgent'] : n % 6 === 0 ? ['later'] : [],
  readAt: n % 4 === 1 ? new Date(START) : null,
  createdAt: new Date(START + Math.floor(n / 2)),
})
type Row = ReturnType<typeof rowOf>

const rows = Array.from({ length: COUNT }, (_, n) => rowOf(agent.id, n))
const withFile = new Set(rows.filter((_, n) => n % 13 === 0).map(({ id }) => id))
const store = async (data: readonly Row[]) => {
  await prisma.message.createMany({ data: [...data] as Prisma.MessageCreateManyInput[] })
  await prisma.unindexedMessage.createMany({
    data: data.map(({ id, agentId }) => ({ messageId: id, agentId })),
  })
}
await store(rows.slice(0, 110))
const otherThreads = threadIds()
const otherRows = Array.from({ length: 30 }, (_, n) => ({
  ...rowOf(other.id, n),
  threadId: otherThreads[n % 4]!,
}))
await store(otherRows)
// Never found: they belong to another workspace.
await store(Array.from({ length: 30 }, (_, n) => rowOf(stranger.id, n, foreign.id)))
while ((await indexMessages(indexing)) > 0);
await store(rows.slice(110)) // the newest are not indexed yet
await prisma.attachment.createMany({
  data: [...withFile].map((messageId) => ({
    ...{ messageId, agentId: agent.id, index: 0, name: 'a', type: 'text/plain', size: 1 },
    content: Uint8Array.of(1),
  })),
})

const containsWords = (text: string, wanted: string) => {
  const folded = text.normalize('NFKC').toLowerCase().replaceAll('ß', 'ss')
  const words = searchWords(wanted)
  return (words.length > 0 ? words : [wanted]).every((word) => folded.includes(word))
}
const isNamed = (names: readonly string[], wanted: string, ...addresses: string[]) =>
  wanted.includes('@')
    ? addresses.some(
        (one) =>
          one.toLowerCase() === wanted || (wanted[0] === '*' && one.toLowerCase().endsWith(wanted.slice(1))),
      )
    : names.some((name) => containsWords(name, wanted))

const isUnread = ({ status, readAt }: Row) => status === 'received' && readAt === null
const tests: { [Field in keyof MessageFilter]-?: (row: Row, wanted: never) => boolean } = {
  channel: ({ channel }, wanted) => channel === wanted,
  direction: ({ direction }, wanted) => direction === wanted,
  status: ({ status }, wanted) => status === wanted,
  thread: ({ threadId }, wanted) => threadId === wanted,
  threadId: ({ threadId }, wanted) => threadId === wanted,
  q: ({ text, subject, counterpartName, counterpart }, wanted: string) => {
    const words = searchWords([text, subject, counterpartName, counterpart].join(' '))
    const [, start, isPrefix] = /^(.*?)(\*?)$/.exec(wanted.toLowerCase())!
    return words.some((word) => (isPrefix && start!.length > 1 ? word.startsWith(start!) : word === start))
  },
  since: ({ createdAt }, wanted: Date) => createdAt >= wanted,
  until: ({ createdAt }, wanted: Date) => createdAt <= wanted,
  label: ({ labels }, wanted) => labels.includes(wanted),
  unread: (row, wanted) => isUnread(row) === wanted,
  refusal: ({ refusal }, wanted) => refusal === wanted,
  hasAttachment: ({ id }, wanted) => withFile.has(id) === wanted,
  from: ({ direction, counterpart, counterpartName }, wanted: string) =>
    direction === 'inbound' && isNamed([`${counterpartName ?? ''} ${counterpart}`], wanted, counterpart),
  to: ({ direction, to, cc, counterpartName }, wanted: string) => {
    const addresses = [...to, ...cc]
    return isNamed(
      [...addresses, direction === 'outbound' ? (counterpartName ?? '') : ''],
      wanted,
      ...addresses,
    )
  },
  subject: ({ subject }, wanted: string) => subject !== null && containsWords(subject, wanted),
  hold: ({ holdReason }, wanted) => holdReason === wanted,
  metadata: ({ metadata }, wanted: Record<string, string>) =>
    Object.entries(wanted).every(([key, value]) => metadata[key] === value),
}

const everyRow = [...rows, ...otherRows]
/** Whose lists are tested: the key, its path in the API with its token, and its messages. */
const lists = {
  'an agent': { key: { agentId: agent.id }, api: agent.api, path: `/agents/${agent.id}/messages`, rows },
  'a workspace': { key: { workspaceId: owner.id }, api: owner.api, path: '/messages', rows: everyRow },
}
const ofEach = <Filter>(filters: readonly Filter[]) =>
  Object.keys(lists).flatMap((whose) =>
    filters.map((filter) => [whose as keyof typeof lists, filter] as const),
  )

const matching = (filter: MessageFilter, among: readonly Row[] = rows): string[] =>
  among
    .filter((row) =>
      Object.entries(filter).every(([field, wanted]) =>
        tests[field as keyof MessageFilter](row, wanted as never),
      ),
    )
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)

const filters: MessageFilter[] = [
  ...['all', 'even', 'rare', 'former', 'absent'].map((q) => ({ q })),
  { q: 'even', channel: 'sms' },
  { q: 'former', status: 'sent' },
  { q: 'all', label: 'urgent' },
  { q: 'even', hasAttachment: true, unread: false },
  { q: 'even', thread: THREADS[1]! },
  { q: 'all', since: new Date(START + 20), until: new Date(START + 30) },
  { channel: 'telegram' },
  { direction: 'outbound' },
  { status: 'refused' },
  { status: 'failed' },
  { channel: 'sms', direction: 'inbound', status: 'received' },
  { status: 'received', direction: 'outbound' },
  { refusal: 'spam' },
  { refusal: 'self' },
  { refusal: 'spam', status: 'sent' },
  { from: 'ann@example.com' },
  { from: 'nobody@example.com' },
  { from: 'ann@example.com', direction: 'outbound' },
  ...['Björn', 'ödegård björn', 'ÖDE'.normalize('NFD'), 'strasser', '100%', '_', 'bob1', '*@example.org'].map(
    (from) => ({ from }),
  ),
  ...['ann@example.com', '*@example.net', 'sub.ex', 'cara', 'Björn', 'x_example'].map((to) => ({ to })),
  ...['refund', 'résumé', 'MAY your', 'r_1', '100%', 'absent'].map((subject) => ({ subject })),
  { from: 'björn', to: 'dora', channel: 'email', unread: true },
  { subject: 'refund', q: 'even', from: 'björn' },
  ...['refun*', 'FORM*', 'ra*', 'f*', 'björn', 'bjo*', 'ag*', 'agent*', 'bob*'].map((q) => ({ q })),
  { label: 'urgent' },
  { label: 'later', unread: true },
  { label: 'none' },
  { unread: true },
  { unread: false },
  { unread: true, channel: 'email' },
  { hasAttachment: true },
  { hasAttachment: true, unread: true },
  { hasAttachment: false, status: 'sent' },
  { thread: THREADS[2]! },
  { thread: THREADS[2]!, status: 'received' },
  { since: new Date(START + 50) },
  { hold: 'approval' },
  { hold: 'schedule', channel: 'sms' },
  { status: 'sending' },
  { metadata: { order: '1' } },
  { metadata: { order: '3', kind: 'a' }, q: 'even' },
  { metadata: { kind: 'b' }, unread: true, status: 'received' },
  { metadata: { kind: 'none' } },
  { metadata: { kind: 'a' }, refusal: 'spam' },
]

test.each(ofEach(filters))(
  'the pages of %s with %j have each match once, newest first',
  async (whose, filter) => {
    const { key, rows: among } = lists[whose]
    for (const limit of [1, 3, 7]) {
      const found: string[] = []
      let cursor: string | undefined
      let pages = 0
      do {
        const [page] = await findMessages(service.db, [key], { filter, cursor, limit }, SMALL)
        expect(page!.places.length).toBeLessThanOrEqual(limit)
        found.push(...page!.places.map(({ id }) => id))
        cursor = page!.next ? messageCursor(page!.next) : undefined
        expect(pages++).toBeLessThan(2 * COUNT)
      } while (cursor !== undefined)
      expect(found).toEqual(matching(filter, among))
    }
  },
)

test.each(ofEach(filters))('the API lists the same of %s with %j', async (whose, filter) => {
  const { api, path, rows: among } = lists[whose]
  const query = Object.entries(filter).flatMap(([field, wanted]): [string, string][] =>
    field === 'metadata'
      ? Object.entries(wanted).map(([key, value]) => [`metadata.${key}`, String(value)])
      : [[field, wanted instanceof Date ? wanted.toISOString() : String(wanted)]],
  )
  // A thread is named by one of its messages.
  const thread = rows.find(({ threadId }) => threadId === filter.thread)?.id
  const parameters = new URLSearchParams({
    ...Object.fromEntries(query),
    ...(thread ? { thread } : {}),
    limit: '100',
  })
  const found: string[] = []
  let cursor: string | null = ''
  do {
    if (cursor) parameters.set('cursor', cursor)
    const { body } = await api('GET', `${path}?${parameters}`)
    found.push(...body.items.map(({ id }: Row) => id))
    cursor = body.nextCursor
  } while (cursor !== null)
  expect(found).toEqual(matching(filter, among))
})

test('a page ends where the search stopped, and the next one goes on there', async () => {
  const keys = [{ agentId: agent.id }]
  const request = { filter: { q: 'former' }, limit: 10 }
  const [first] = await findMessages(service.db, keys, request, SMALL)
  expect(first!.places).toEqual([])
  const cursor = messageCursor(first!.next!)
  const [second] = await findMessages(service.db, keys, { ...request, cursor }, SMALL)
  expect(second!.next!.createdAt.getTime()).toBeLessThan(first!.next!.createdAt.getTime())
})

test('a search in several agents, or threads, finds the messages of each', async () => {
  const keys = [{ agentId: other.id }, { agentId: agent.id }]
  const pages = await findMessages(service.db, keys, { filter: { q: 'rare' }, limit: 9 }, SMALL)
  expect(pages.map(({ places }) => places.length)).toEqual([1, 3])
  const threads = [THREADS[1]!, THREADS[2]!].map((threadId) => ({ agentId: agent.id, threadId }))
  const found = await findMessages(service.db, threads, { filter: { status: 'sent' }, limit: 99 })
  expect(found.map(({ places }) => places.map(({ id }) => id))).toEqual(
    threads.map(({ threadId }) => matching({ thread: threadId, status: 'sent' }).slice(0, 99)),
  )
})

const threadFilters: Omit<ThreadPage, 'limit' | 'before'>[] = [
  {},
  { channel: 'sms' },
  { label: 'urgent' },
  { label: 'none' },
  { unread: true },
  { unread: false, channel: 'email' },
  { from: 'björn' },
  { from: 'straßer', to: 'dora', subject: 'refund' },
  { subject: 'refund', unread: true },
]

const newestFirst = (a: Row, b: Row) =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1)

const threadsWith = (
  { channel, label, unread, ...names }: (typeof threadFilters)[number],
  among: readonly Row[],
): string[] => {
  const of = (threadId: string) => among.filter((row) => row.threadId === threadId).sort(newestFirst)
  return [...new Set([...among].sort(newestFirst).map(({ threadId }) => threadId))].filter((threadId) => {
    const messages = of(threadId)
    return (
      (channel === undefined || messages[0]!.channel === channel) &&
      (Object.keys(names).length === 0 || matching(names, messages).length > 0) &&
      (label === undefined || messages.some(({ labels }) => labels.includes(label))) &&
      (unread === undefined || messages.some(isUnread) === unread)
    )
  })
}

test.each(ofEach(threadFilters))(
  'the pages of threads of %s with %j have each once, in order',
  async (whose, filter) => {
    const { key, rows: among } = lists[whose]
    for (const limit of [1, 3]) {
      const found: string[] = []
      let before: ThreadPage['before'] | null
      let pages = 0
      do {
        const request = { ...filter, limit, before: before ?? undefined }
        const [list] = await readThreadPlaces(service.db, [key], request, SMALL)
        const last = list!.places.at(-1)
        found.push(...list!.places.map(({ threadId }) => threadId))
        before =
          list!.end ??
          (list!.places.length < limit ? null : { id: last!.messageId, createdAt: last!.createdAt })
        expect(pages++).toBeLessThan(2 * COUNT)
      } while (before)
      expect(found).toEqual(threadsWith(filter, among))
    }
  },
)

test('the threads of several agents are read at once', async () => {
  const keys = [{ agentId: other.id }, { agentId: agent.id }]
  const threads = await readThreadPlaces(service.db, keys, { limit: 3 })
  expect(threads.map(({ places }) => places.map(({ agentId }) => agentId))).toEqual([
    [other.id, other.id, other.id],
    [agent.id, agent.id, agent.id],
  ])
})

test('the list of a workspace says whose each message is, and takes the thread of none but its own', async () => {
  const { body } = await owner.api('GET', '/messages?limit=100')
  const whose = new Map(everyRow.map(({ id, agentId }) => [id, agentId]))
  expect(body.items.map(({ agentId }: Row) => agentId)).toEqual(
    body.items.map(({ id }: Row) => whose.get(id)),
  )
  const { id } = (await prisma.message.findFirst({ where: { workspaceId: foreign.id } }))!
  const refused = await owner.api('GET', `/messages?thread=${id}`)
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'thread: is not a message of this workspace',
  ])
  expect((await agent.api('GET', '/messages')).status).toBe(403)
})

test('GraphQL lists the messages and threads of a workspace, and pages go on after a cursor', async () => {
  const query = `query ($after: String) { workspace {
    messages(first: 60, after: $after, q: "even") { edges { node { id agent { id } } } pageInfo { hasNextPage endCursor } }
    threads(first: 100) { edges { node { id agentId } } } } }`
  const ask = async (after: string | null) =>
    (await owner.api('POST', '/graphql', { query, variables: { after } })).body.data.workspace
  const first = await ask(null)
  const second = await ask(first.messages.pageInfo.endCursor)
  const idsIn = ({ edges }: { edges: { node: { id: string } }[] }) => edges.map(({ node }) => node.id)
  expect([...idsIn(first.messages), ...idsIn(second.messages)]).toEqual(matching({ q: 'even' }, everyRow))
  expect([first.messages.pageInfo.hasNextPage, second.messages.pageInfo.hasNextPage]).toEqual([true, false])
  expect(idsIn(first.threads)).toEqual(threadsWith({}, everyRow))
})

test('a workspace with many agents is searched without naming them, and finds none of another workspace', async () => {
  const many = Array.from({ length: 21 }, () => ({ workspaceId: owner.id, name: 'Idle', icon: 'bot' }))
  await prisma.agent.createMany({ data: many })
  for (const q of ['rare', 'former', 'absent']) {
    const request = { filter: { q }, limit: 100 }
    const [page] = await findMessages(service.db, [{ workspaceId: owner.id }], request, {
      ...SMALL,
      few: 1_000,
    })
    expect(page!.places.map(({ id }) => id)).toEqual(matching({ q }, everyRow))
  }
})

test.each([
  ['refunds', true],
  ['refu*', true],
  ['again re-fund*', true],
  ['ref*', false],
  ['agen*', false],
  ['refu* form* file*', false],
  ['refu* '.repeat(83), false],
  ['refu* or '.repeat(55), false],
  ['-refu* '.repeat(70), false],
])(
  'the index is asked for %s: %s, because each beginning reads what begins so in all workspaces',
  (q, expected) => {
    expect(isForIndex(tsqueryOf(q)!)).toBe(expected)
  },
)
