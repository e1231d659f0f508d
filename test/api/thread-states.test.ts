import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { deleteMessagesOf } from '../../src/message/agent-messages.ts'
import { mergeThreads } from '../../src/message/import/threads.ts'
import { endSnoozes } from '../../src/message/thread/snooze.ts'
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
  expect(await refused([own], { assignedTo: ours.member }, agent.ask)).toContain(
    'Only a member can set assignedTo',
  )
  expect(await read(own)).toMatchObject({ doneAt: null, assignedTo: null, snoozedUntil: null })
})

/** Stores a copy of a message, with changes, in the same thread. */
const COPY = `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, refusal, counterpart, text, thread_id, created_at)
  select $2::uuid, workspace_id, agent_id, address_id, channel, direction, $3::"MessageStatus", case when $3 = 'refused' then 'sender'::"Refusal" end, counterpart, text, thread_id, created_at - interval '1 day'
    from message where id = $1::uuid`

test('a message that is stored while its thread is being done opens it, even if it is the older one', async () => {
  const { agent, list, arrive, update, read } = await mailbox(ours, 'Meanwhile')
  const id = await arrive('one')
  await service.deps.prisma.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(COPY, id, randomUUID(), 'received')
    await update([id], { done: true })
    expect(await read(id)).toMatchObject({ doneAt: expect.any(String) })
  })
  expect(await read(id)).toMatchObject({ doneAt: null })
  expect(await list({ state: 'open' })).toEqual([id])
  const texts = Array.from({ length: 10 }, (_, n) => `more ${n}`)
  const arrivals = texts.map((text) => service.letter(agent, ours, text))
  const changes = texts.map(() => update([id], { done: true, read: true, addLabels: ['seen'] }))
  await Promise.all([...arrivals, ...changes])
  expect(await list({ state: 'open' })).toHaveLength(10)
  expect(await list({ state: 'done' })).toEqual([id])
})

test('an imported or refused message leaves a thread done; one that is released opens it', async () => {
  const { agent, list, arrive, update, read } = await mailbox(ours, 'Released')
  const id = await arrive('one')
  await update([id], { done: true })
  const refused = randomUUID()
  await service.deps.pool.query(COPY, [id, randomUUID(), 'imported'])
  await service.deps.pool.query(COPY, [id, refused, 'refused'])
  await update([id], { done: true })
  expect(await read(id)).toMatchObject({ doneAt: expect.any(String) })
  const release = `mutation ($input: ReleaseMessageInput!) { releaseMessage(input: $input) { message { status } } }`
  const { data } = await ours.ask(release, { input: { agentId: agent.id, messageId: refused } })
  expect(data.releaseMessage.message.status).toBe('received')
  expect(await read(id)).toMatchObject({ doneAt: null })
  expect(await list({ state: 'open' })).toEqual([id])
})

test('a postponement ends by itself, and those who watch the workspace hear of it', async () => {
  const { agent, list, arrive, update, read } = await mailbox(ours, 'Postponed')
  const [id, other] = [await arrive('one'), await arrive('two')]
  const now = service.deps.clock.now().getTime()
  await update([id, other], { snoozedUntil: new Date(now + 3_600_000).toISOString() })
  await service.letter(agent, ours, 'three')
  await update([other], { done: true })
  expect(await endSnoozes(service.deps, new Date(now + 3_599_000))).toBe(0)
  expect(await endSnoozes(service.deps, new Date(now + 3_601_000))).toBe(1)
  expect(await read(id)).toMatchObject({ doneAt: null, snoozedUntil: null })
  expect(await list({ state: 'open' })).toContain(id)
  expect(await list({ state: 'done' })).toEqual([other])
  const noted = { agentId: agent.id, kind: 'thread', ids: { has: id } }
  expect(await service.deps.prisma.workspaceChange.count({ where: noted })).toBe(2)
})

test('a postponement whose time has come is over even before its thread is opened', async () => {
  const { agent, list, arrive, update, read } = await mailbox(ours, 'Due')
  const id = await arrive('one')
  await update([id], { snoozedUntil: new Date(service.deps.clock.now().getTime() + 60_000).toISOString() })
  const data = { snoozedUntil: new Date(service.deps.clock.now().getTime() - 1) }
  await service.deps.prisma.threadState.updateMany({ where: { agentId: agent.id }, data })
  expect(await read(id)).toMatchObject({ snoozedUntil: null, doneAt: null })
  expect(await list({ state: 'snoozed' })).toEqual([])
})

test('read marks and labels of whole threads', async () => {
  const { agent, arrive, list, update, read } = await mailbox(ours, 'Marks')
  const [id, other] = [await arrive('one'), await arrive('two')]
  const copy = randomUUID()
  await service.deps.pool.query(COPY, [id, copy, 'received'])
  const first = await update([id, other], { read: true, addLabels: ['orders'] })
  expect(first.data.updateThreads.threads).toEqual([
    expect.objectContaining({ unreadCount: 0, lastMessage: { labels: ['orders'] } }),
    expect.objectContaining({ unreadCount: 0, lastMessage: { labels: ['orders'] } }),
  ])
  await update([id], { read: false })
  expect(await list({ unread: true })).toEqual([id])
  expect(await read(id)).toMatchObject({ unreadCount: 1 })
  await service.deps.prisma.message.update({
    where: { id_agentId: { id: copy, agentId: agent.id } },
    data: { labels: ['orders', 'kept'] },
  })
  await update([id], { removeLabels: ['orders'], addLabels: ['new'] })
  const rows = await service.deps.prisma.message.findMany({ where: { threadId: id } })
  expect(rows.map(({ labels }) => labels.join()).sort()).toEqual(['kept', 'new'])
  await update([other], { label: 'one', addLabels: ['two'] })
  expect(await read(other)).toMatchObject({ lastMessage: { labels: ['orders', 'two', 'one'] } })
  const many = Array.from({ length: 20 }, (_, n) => `l${n}`)
  expect(errorOf(await update([other, id], { done: true, addLabels: many }))).toContain('more than 20 labels')
  expect(await read(id)).toMatchObject({ doneAt: null })
})

test('threads are assigned to members, and listed by them', async () => {
  const { list, all, arrive, update, read } = await mailbox(ours, 'Assigned')
  const [id, other] = [await arrive('one'), await arrive('two')]
  await update([id, other], { assignedTo: ours.member })
  expect(await read(id)).toMatchObject({ assignedTo: { id: ours.member, name: ours.email } })
  await update([other], { done: true })
  expect(await list({ to: ours.member })).toEqual([other, id])
  expect(await list({ to: ours.member, state: 'open' })).toEqual([id])
  expect(await all({ to: ours.member, state: 'done' })).toEqual([other])
  expect(await list({ to: randomUUID() })).toEqual([])
  await update([id], { assignedTo: null })
  expect(await list({ to: ours.member })).toEqual([other])
})

test('a mailbox of which all threads are done is empty at once, however large it is', async () => {
  const { agent, list, arrive, update } = await mailbox(ours, 'Empty')
  const id = await arrive('one')
  await update([id], { done: true })
  await service.deps.pool.query(
    `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, thread_id, handled)
     select gen_random_uuid(), workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, gen_random_uuid(), true
       from message, generate_series(1, 2000) where id = $1`,
    [id],
  )
  const { data } = await ours.ask(LIST, { id: agent.id, state: 'open' })
  expect(data.agent.threads).toEqual({ edges: [], pageInfo: { hasNextPage: false } })
  expect(await list({ state: 'snoozed' })).toEqual([])
})

const ADD = `mutation ($input: AddThreadNoteInput!) { addThreadNote(input: $input) { note { id text author { id name } } } }`
const REMOVE = 'mutation ($input: DeleteThreadNoteInput!) { deleteThreadNote(input: $input) { noteId } }'
const NOTES =
  'query ($id: UUID!) { thread(id: $id) { notes { text } writers { by { kind id name } updatedAt } } }'

test('notes are for members of the workspace only', async () => {
  const { agent, arrive } = await mailbox(ours, 'Notes')
  const threadId = await arrive('one')
  const key = { agentId: agent.id, threadId }
  const { data } = await ours.ask(ADD, { input: { ...key, text: 'Ann called' } })
  const { note } = data.addThreadNote
  expect(note).toEqual({ id: note.id, text: 'Ann called', author: { id: ours.member, name: ours.email } })
  await ours.ask(ADD, { input: { ...key, text: 'again' } })
  const seen = (await ours.ask(NOTES, { id: threadId })).data.thread.notes
  expect(seen.map(({ text }: { text: string }) => text)).toEqual(['Ann called', 'again'])
  expect(errorOf(await agent.ask(NOTES, { id: threadId }))).toContain('forbidden Only a member')
  expect(errorOf(await agent.ask(ADD, { input: { ...key, text: 'x' } }))).toContain('forbidden Only a member')
  expect(errorOf(await theirs.ask(ADD, { input: { ...key, text: 'x' } }))).toContain('not_found')
  expect(errorOf(await theirs.ask(REMOVE, { input: { ...key, noteId: note.id } }))).toContain('not_found')
  expect(errorOf(await ours.ask(ADD, { input: { ...key, text: '' } }))).toContain('1 to 10000 characters')
  expect(errorOf(await ours.ask(ADD, { input: { ...key, text: 'x'.repeat(10_001) } }))).toContain('text')
  expect(errorOf(await ours.ask(ADD, { input: { ...key, threadId: randomUUID(), text: 'x' } }))).toContain(
    'not_found',
  )
  const data2 = Array.from({ length: 98 }, () => ({
    ...{
      ...key,
      id: randomUUID(),
      text: 'x',
      memberId: ours.member,
      memberName: 'Ann',
      createdAt: new Date(),
    },
  }))
  await service.deps.prisma.threadNote.createMany({ data: data2 })
  expect(errorOf(await ours.ask(ADD, { input: { ...key, text: 'one more' } }))).toContain('conflict')
  expect((await ours.ask(REMOVE, { input: { ...key, noteId: note.id } })).data.deleteThreadNote).toEqual({
    noteId: note.id,
  })
  expect(errorOf(await ours.ask(REMOVE, { input: { ...key, noteId: note.id } }))).toContain('not_found')
})

test('the state and the notes of a thread go with its last message, and with its agent', async () => {
  const { agent, arrive, update } = await mailbox(ours, 'Deleted')
  const [id, other] = [await arrive('one'), await arrive('two')]
  const copy = randomUUID()
  await service.deps.pool.query(COPY, [id, copy, 'received'])
  await update([id, other], { done: true })
  for (const threadId of [id, other])
    await ours.ask(ADD, { input: { agentId: agent.id, threadId, text: 'note' } })
  const left = async () => {
    const where = { agentId: agent.id }
    const { threadState, threadNote } = service.deps.prisma
    return [await threadState.count({ where }), await threadNote.count({ where })]
  }
  const remove = (ids: string[]) =>
    ours.ask('mutation ($input: DeleteMessagesInput!) { deleteMessages(input: $input) { ids } }', {
      input: { agentId: agent.id, ids },
    })
  await remove([id])
  expect(await left()).toEqual([2, 2])
  await remove([copy])
  expect(await left()).toEqual([1, 1])
  await ours.ask('mutation ($input: DeleteAgentInput!) { deleteAgent(input: $input) { agentId } }', {
    input: { agentId: agent.id },
  })
  while ((await deleteMessagesOf(service.deps, agent.id)) !== 0);
  expect(await left()).toEqual([0, 0])
})

test('a note that is added while the last message is deleted goes with it, or is not added', async () => {
  const { agent, arrive } = await mailbox(ours, 'Deleted meanwhile')
  const ids: string[] = []
  for (let n = 0; n < 12; n++) ids.push(await arrive(`number ${n}`))
  const removed = 'mutation ($input: DeleteMessagesInput!) { deleteMessages(input: $input) { ids } }'
  const answers = await Promise.all(
    ids.flatMap((id) => [
      ours.ask(ADD, { input: { agentId: agent.id, threadId: id, text: 'note' } }),
      ours.ask(removed, { input: { agentId: agent.id, ids: [id] } }),
    ]),
  )
  for (const { errors } of answers) expect(errors?.[0]?.extensions.code ?? 'not_found').toBe('not_found')
  expect(await service.deps.prisma.threadNote.count({ where: { agentId: agent.id } })).toBe(0)
})

const SENT_BY = 'query ($id: UUID!) { message(id: $id) { sentBy { kind id name } } }'
const SAVE =
  'mutation ($input: SaveDraftInput!) { saveDraft(input: $input) { draft { id savedBy { kind id name } } } }'

test('a message says who sent it, a draft who saved it, and the audit log which member with which token', async () => {
  const { agent, arrive, send } = await mailbox(ours, 'Authors')
  const threadId = await arrive('one')
  const sentBy = async (id: string) => (await ours.ask(SENT_BY, { id })).data.message.sentBy
  const member = { kind: 'member', id: ours.member, name: ours.email }
  expect(await sentBy(threadId)).toBeNull()
  expect(await sentBy((await send({ replyTo: threadId }, agent.ask)).id)).toEqual({
    ...{ kind: 'agent', id: agent.id, name: 'Authors' },
  })
  const own = (await send({ replyTo: threadId })).id
  expect(await sentBy(own)).toEqual(member)
  const input = { agentId: agent.id, replyTo: threadId, text: 'Dear Ann' }
  const { draft } = (await agent.ask(SAVE, { input })).data.saveDraft
  expect(draft.savedBy).toMatchObject({ kind: 'agent', id: agent.id })
  const changed = await ours.ask(SAVE, { input: { agentId: agent.id, draftId: draft.id, text: 'Dear' } })
  expect(changed.data.saveDraft.draft.savedBy).toEqual(member)
  const { writers } = (await ours.ask(NOTES, { id: threadId })).data.thread
  expect(writers).toEqual([{ by: member, updatedAt: expect.any(String) }])
  const sent = await agent.ask(
    'mutation ($input: SendDraftInput!) { sendDraft(input: $input) { message { id sentBy { kind } } } }',
    { input: { agentId: agent.id, draftId: draft.id } },
  )
  expect(sent.data.sendDraft.message.sentBy).toEqual({ kind: 'agent' })
  expect((await ours.ask(NOTES, { id: threadId })).data.thread.writers).toEqual([])
  const entries = await service.deps.prisma.auditEntry.findMany({
    where: { agentId: agent.id, action: 'message.send' },
  })
  expect(entries).toEqual([
    expect.objectContaining({
      ...{ actorKind: 'member', actorId: ours.member, actorName: ours.email },
      ...{ workspaceId: ours.workspace, detail: { message: own }, tokenId: expect.any(String) },
    }),
  ])
})

test('the threads of messages are read at once, without those of others', async () => {
  const { agent, arrive } = await mailbox(ours, 'Of messages')
  const foreign = await mailbox(theirs, 'Of others')
  const sibling = await mailbox(ours, 'Of a sibling')
  const [own, next, other] = [await arrive('one'), await sibling.arrive('two'), await foreign.arrive('three')]
  const query = 'query ($ids: [UUID!]!) { threadsOf(messageIds: $ids) { id } }'
  const read = async (ask: Ask, ids: string[]) => (await ask(query, { ids })).data?.threadsOf
  expect(await read(ours.ask, [own, other, randomUUID(), next, own])).toEqual([
    { id: own },
    null,
    null,
    { id: next },
    { id: own },
  ])
  expect(await read(agent.ask, [own, next])).toEqual([{ id: own }, null])
  expect(errorOf(await ours.ask(query, { ids: [] }))).toContain('1 to 100 ids')
  expect(errorOf(await ours.ask(query, { ids: Array.from({ length: 101 }, () => own) }))).toContain(
    '1 to 100',
  )
})

test('a message that a member approves keeps its author', async () => {
  const { agent, send } = await mailbox(ours, 'Approved')
  const input = { agentId: agent.id, approval: 'all' }
  await ours.ask('mutation ($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { id } } }', {
    input,
  })
  const { id } = await send({ channel: 'email', to: ['x@example.com'], subject: 'Hi' }, agent.ask)
  const { data } = await ours.ask(
    'mutation ($input: ApproveMessageInput!) { approveMessage(input: $input) { message { hold { by } sentBy { kind id } } } }',
    { input: { agentId: agent.id, messageId: id, text: 'Edited' } },
  )
  expect(data.approveMessage.message).toEqual({
    hold: { by: ours.email },
    sentBy: { kind: 'agent', id: agent.id },
  })
})

test('a part of a thread that is merged into another one takes its notes and its state along', async () => {
  const { agent, arrive, update, read } = await mailbox(ours, 'Merged')
  const [source, target] = [await arrive('one'), await arrive('two')]
  await update([source, target], { done: true })
  await ours.ask(ADD, { input: { agentId: agent.id, threadId: source, text: 'kept' } })
  await mergeThreads(service.deps.pool, agent.id, new Map([[source, target]]))
  expect(await read(target)).toMatchObject({ doneAt: expect.any(String) })
  expect((await ours.ask(NOTES, { id: target })).data.thread.notes).toEqual([{ text: 'kept' }])
  expect(await service.deps.prisma.threadState.count({ where: { agentId: agent.id } })).toBe(1)
})
