import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Ask, startGraphql, type TestTenant } from '../support/graphql.ts'

const service = await startGraphql()
const ours = await service.tenant()
const theirs = await service.tenant()

type Agent = Awaited<ReturnType<typeof service.agent>>

const SEND = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id threadId } } }'
const LIST = `query ($id: UUID!, $state: ThreadState, $to: UUID, $unread: Boolean) { agent(id: $id) {
  threads(state: $state, assignedTo: $to, unread: $unread) { edges { node { id } } pageInfo { hasNextPage } } } }`
const LIST_ALL = `query ($state: ThreadState, $to: UUID) { workspace {
  threads(state: $state, assignedTo: $to, first: 100) { edges { node { id } } } } }`
const FIELDS = 'id doneAt snoozedUntil assignedTo { id name } unreadCount lastMessage { labels }'
const UPDATE = `mutation ($input: UpdateThreadsInput!) { updateThreads(input: $input) { threads { ${FIELDS} } } }`
const THREAD = `query ($id: UUID!) { thread(id: $id) { ${FIELDS} } }`

const idsOf = (connection: { edges: { node: { id: string } }[] }) =>
  connection.edges.map(({ node }) => node.id)
const errorOf = ({ errors }: { errors: { message: string; extensions: { code: string } }[] | undefined }) =>
  errors?.map(({ message, extensions: { code } }) => `${code} ${message}`).join()

/** An agent with functions for its threads. */
const mailbox = async (tenant: TestTenant, name: string) => {
  const agent: Agent = await service.agent(tenant, name)
  const list = async (variables: object = {}) =>
    idsOf((await tenant.ask(LIST, { id: agent.id, ...variables })).data.agent.threads)
  const all = async (variables: object) =>
    idsOf((await tenant.ask(LIST_ALL, variables)).data.workspace.threads)
  const arrive = async (text: string): Promise<string> => {
    await service.letter(agent, tenant, text)
    return (await list())[0]!
  }
  const update = (threadIds: string[], changes: object, ask: Ask = tenant.ask) =>
    ask(UPDATE, {
      input: { threads: threadIds.map((threadId) => ({ agentId: agent.id, threadId })), ...changes },
    })
  const read = async (id: string) => (await tenant.ask(THREAD, { id })).data.thread
  const send = async (input: object, ask: Ask = tenant.ask) =>
    (await ask(SEND, { input: { agentId: agent.id, text: 'Hi', ...input } })).data.sendMessage.message
  return { agent, list, all, arrive, update, read, send }
}

test('a thread is open until it is done or postponed, and again after a message is sent', async () => {
  const { agent, list, all, arrive, update, read, send } = await mailbox(ours, 'States')
  const [first, second, third] = [await arrive('one'), await arrive('two'), await arrive('three')]
  await send({ channel: 'email', to: ['stranger@example.com'], subject: 'Started' })
  expect(await list({ state: 'open' })).toEqual([third, second, first])
  const { data } = await update([first], { done: true })
  expect(data.updateThreads.threads).toEqual([
    expect.objectContaining({ id: first, doneAt: expect.any(String), snoozedUntil: null }),
  ])
  const until = new Date(service.deps.clock.now().getTime() + 3_600_000).toISOString()
  await update([second], { snoozedUntil: until })
  expect(await read(second)).toMatchObject({ doneAt: null, snoozedUntil: until })
  expect(await list({ state: 'open' })).toEqual([third])
  expect(await list({ state: 'done' })).toEqual([first])
  expect(await list({ state: 'snoozed' })).toEqual([second])
  expect(await all({ state: 'snoozed' })).toContain(second)
  expect(await all({ state: 'done' })).toContain(first)
  expect(await all({ state: 'open' })).not.toContain(first)
  await send({ replyTo: first }, agent.ask)
  expect(await read(first)).toMatchObject({ doneAt: null })
  expect(await list({ state: 'open' })).toEqual([first, third])
  await update([second], { snoozedUntil: null })
  expect(await read(second)).toMatchObject({ doneAt: null, snoozedUntil: null })
  expect(await list({ state: 'open' })).toHaveLength(3)
  await update([first, third], { done: true })
  await update([first], { done: false })
  expect((await list({ state: 'open' })).sort()).toEqual([first, second].sort())
  expect(await list({ state: 'done' })).toEqual([third])
})

test('threads of others, foreign members and impossible times are refused, and then nothing changes', async () => {
  const { agent, arrive, update, read } = await mailbox(ours, 'Refusals')
  const foreign = await mailbox(theirs, 'Foreign')
  const sibling = await mailbox(ours, 'Another')
  const [own, other] = [await arrive('mine'), await foreign.arrive('theirs')]
  const at = (ms: number) => new Date(service.deps.clock.now().getTime() + ms).toISOString()
  const refused = async (threadIds: string[], changes: object, ask?: Ask) =>
    errorOf(await update(threadIds, changes, ask))
  expect(await refused([own, other], { done: true })).toBe(
    'invalid_input threads[1]: is not a thread of this agent',
  )
  expect(await refused([randomUUID()], { read: true })).toContain('threads[0]')
  expect(await refused([], { done: true })).toContain('must contain 1 to 100 threads')
  expect(
    await refused(
      Array.from({ length: 101 }, () => own),
      { done: true },
    ),
  ).toContain('threads')
  expect(await refused([own], { done: true, snoozedUntil: at(60_000) })).toContain('snoozedUntil')
  expect(await refused([own], { snoozedUntil: at(-1) })).toContain('must be in the future')
  expect(await refused([own], { snoozedUntil: at(3 * 366 * 86_400_000) })).toContain('at most 366 days')
  expect(await refused([own], { assignedTo: theirs.member })).toContain('not a member of this workspace')
  expect(await refused([own], { addLabels: ['a'], removeLabels: ['a'] })).toContain('removeLabels')
  expect(await refused([own], { done: true }, theirs.ask)).toContain('not_found There is no agent')
  expect(await refused([own], { done: true }, sibling.agent.ask)).toContain('forbidden')
  expect(await refused([own], { assignedTo: ours.member }, agent.ask)).toContain('Only a member')
  expect(await read(own)).toMatchObject({ doneAt: null, assignedTo: null, snoozedUntil: null })
})
