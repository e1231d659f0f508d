import { findAgents } from '../../agent/index.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { atomically } from '../../db/transaction.ts'
import { ensureMember, noteChange, type Viewer } from '../../workspace/index.ts'
import { isOpen, isUnread } from '../reading/filter.ts'
import { type Changes, ensureFew, ensureNoContradiction, type MarkDeps, mark } from '../reading/marks.ts'

/** What to change of threads. What is left out stays; null ends what was set. */
export interface ThreadChanges extends Omit<Changes, 'labels' | 'metadata'> {
  done?: boolean | undefined
  snoozedUntil?: Date | null | undefined
  assignedTo?: string | null | undefined
}

export interface ThreadKey {
  agentId: string
  threadId: string
}

/** How many days ahead a thread can be snoozed. @limit Messages */
const MAX_SNOOZE_DAYS = 366
const DAY_MS = 24 * 3_600_000

/** Throws `invalid_input` for what cannot be, and `forbidden` for what only members may change. */
const check = async (
  { prisma, clock }: MarkDeps,
  viewer: Viewer,
  { done, snoozedUntil, assignedTo, ...marks }: ThreadChanges,
): Promise<void> => {
  ensureNoContradiction(marks)
  if (done && snoozedUntil) throw invalidInput('snoozedUntil', 'cannot be combined with done')
  const until = snoozedUntil?.getTime() ?? Number.POSITIVE_INFINITY
  const now = clock.now().getTime()
  if (until <= now) throw invalidInput('snoozedUntil', 'must be in the future')
  if (snoozedUntil && until > now + MAX_SNOOZE_DAYS * DAY_MS)
    throw invalidInput('snoozedUntil', `must be at most ${MAX_SNOOZE_DAYS} days ahead`)
  if (assignedTo === undefined) return
  ensureMember(viewer, 'set assignedTo')
  if (assignedTo === null) return
  const { workspaceId } = viewer
  if ((await prisma.member.count({ where: { id: assignedTo, workspaceId } })) === 0)
    throw invalidInput('assignedTo', 'is not a member of this workspace')
}

/**
 * Saves the states of threads that exist, $1 and $2, in their order, so that two requests cannot deadlock. $3 the
 * workspace, $4 whether $5 and $6 replace when they were done and until when they are postponed, $7 whether $8 replaces
 * the assignee. Done also ends a postponement, but the end of one does not open a thread that is done.
 */
const SAVE = {
  name: 'save thread states',
  text: `
    insert into thread_state as s (agent_id, thread_id, workspace_id, done_at, snoozed_until, assigned_to)
    select t.agent_id, t.thread_id, $3::uuid, $5::timestamptz, $6::timestamptz, $8::uuid
      from unnest($1::uuid[], $2::uuid[]) as t(agent_id, thread_id)
     where exists (select from message m where m.agent_id = t.agent_id and m.thread_id = t.thread_id)
     order by t.agent_id, t.thread_id
    on conflict (agent_id, thread_id) do update
       set done_at = case when $4 then excluded.done_at else s.done_at end,
           snoozed_until = case when $9 then excluded.snoozed_until else s.snoozed_until end,
           assigned_to = case when $7 then excluded.assigned_to else s.assigned_to end
    returning agent_id, thread_id, done_at is null and snoozed_until is null as open`,
}

/** The messages of threads that a change may concern. */
interface Part {
  agent_id: string
  thread_id: string
  id: string
  open: boolean
  unread: boolean
  labelled: boolean
  newest: boolean
  newest_received: boolean
  newest_counted: boolean
}

const PARTS = {
  name: 'messages of threads',
  ...composedOf(sql`
    select * from (
      select m.agent_id, m.thread_id, m.id, ${isOpen('m')} as open, ${isUnread('m')} as unread, m.labels && $3::text[] as labelled,
             row_number() over newest = 1 as newest,
             m.status = 'received' and row_number() over (partition by m.agent_id, m.thread_id, m.status = 'received' order by m.created_at desc, m.id desc) = 1 as newest_received,
             m.status not in ('refused', 'imported') and
               row_number() over (partition by m.agent_id, m.thread_id, m.status not in ('refused', 'imported') order by m.created_at desc, m.id desc) = 1 as newest_counted
        from message m join unnest($1::uuid[], $2::uuid[]) as t(agent_id, thread_id) on m.agent_id = t.agent_id and m.thread_id = t.thread_id
       where m.agent_id = any($1::uuid[])
      window newest as (partition by m.agent_id, m.thread_id order by m.created_at desc, m.id desc)
    ) p where p.open or p.unread or p.labelled or p.newest or p.newest_received or p.newest_counted`),
}

/** $1 the agents, $2 the messages, $3 whether they are handled. Locked in the order of their ids, as other changes do. */
const HANDLE = {
  name: 'handle messages',
  text: `
    with found as materialized (
      select id, agent_id from message
       where agent_id = any($1::uuid[]) and id = any($2::uuid[]) and handled <> $3 order by id for no key update
    )
    update message m set handled = $3 from found f where m.agent_id = f.agent_id and m.id = f.id and m.agent_id = any($1::uuid[])`,
}

/** The messages of an agent whose labels or read mark change, by what changes. */
const marksOf = (parts: readonly Part[], { read, addLabels = [], removeLabels = [] }: ThreadChanges) => {
  const ids = (isMeant: (part: Part) => boolean) => parts.filter(isMeant).map(({ id }) => id)
  return [
    { ids: ids(({ unread }) => read === true && unread), changes: { read: true } },
    { ids: ids((part) => read === false && part.newest_received), changes: { read: false } },
    { ids: ids(({ labelled }) => labelled), changes: { removeLabels } },
    { ids: addLabels.length > 0 ? ids(({ newest }) => newest) : [], changes: { addLabels } },
  ].filter((one) => one.ids.length > 0)
}

const markAll = async (deps: MarkDeps, parts: readonly Part[], changes: ThreadChanges): Promise<void> => {
  for (const agentId of new Set(parts.map(({ agent_id }) => agent_id)))
    for (const one of marksOf(
      parts.filter(({ agent_id }) => agent_id === agentId),
      changes,
    ))
      ensureFew('addLabels', (await mark(deps, agentId, one.ids, one.changes)).values())
}

const keyOf = (agentId: string, threadId: string): string => `${agentId} ${threadId}`

/** Saves the states of threads. Returns which of them are open now, as far as that does not depend on their messages. */
const saveStates = async (
  { pool, clock }: MarkDeps,
  { workspaceId }: Viewer,
  threads: readonly ThreadKey[],
  { done, snoozedUntil, assignedTo }: ThreadChanges,
): Promise<Set<string>> => {
  const values = [
    threads.map(({ agentId }) => agentId),
    threads.map(({ threadId }) => threadId),
    workspaceId,
    done !== undefined || Boolean(snoozedUntil),
    done ? clock.now() : null,
    snoozedUntil ?? null,
    assignedTo !== undefined,
    assignedTo ?? null,
    done !== undefined || snoozedUntil !== undefined,
  ]
  type Row = { agent_id: string; thread_id: string; open: boolean }
  const { rows } = await pool.query<Row>({ ...SAVE, values })
  return new Set(rows.flatMap((row) => (row.open ? [keyOf(row.agent_id, row.thread_id)] : [])))
}

/**
 * Marks as handled what a thread that is done or postponed has now: a message that is stored meanwhile is not, and opens
 * it again. A thread that is opened gets back its newest message.
 */
const handle = async (
  { pool }: Pick<Db, 'pool'>,
  parts: readonly Part[],
  { opened, isClosing }: { opened: ReadonlySet<string>; isClosing: boolean },
): Promise<void> => {
  const isOpened = (part: Part) => opened.has(keyOf(part.agent_id, part.thread_id))
  const change = async (changed: readonly Part[], handled: boolean) => {
    if (changed.length === 0) return
    const values = [changed.map(({ agent_id }) => agent_id), changed.map(({ id }) => id), handled]
    await pool.query({ ...HANDLE, values })
  }
  await change(isClosing ? parts.filter(({ open }) => open) : [], true)
  await change(
    parts.filter((part) => part.newest_counted && isOpened(part)),
    false,
  )
}

/**
 * Changes the states of threads, the labels of their newest messages and the read marks: of all of them or, when it
 * throws, none. Throws `invalid_input` naming the field, and for agents as `findAgents` does.
 */
export const updateThreads = async <Given extends MarkDeps>(
  deps: Given,
  viewer: Viewer,
  threads: readonly ThreadKey[],
  changes: ThreadChanges,
): Promise<void> => {
  await findAgents(deps, viewer, [...new Set(threads.map(({ agentId }) => agentId))])
  await check(deps, viewer, changes)
  const distinct = [...new Map(threads.map((one) => [keyOf(one.agentId, one.threadId), one])).values()]
  await atomically(deps, async (within) => {
    const { done, snoozedUntil, assignedTo, removeLabels } = changes
    const isStated = done !== undefined || snoozedUntil !== undefined
    const isChanged = isStated || assignedTo !== undefined
    const opened = isChanged ? await saveStates(within, viewer, distinct, changes) : new Set<string>()
    const keys = [distinct.map(({ agentId }) => agentId), distinct.map(({ threadId }) => threadId)]
    const { rows } = await within.pool.query<Part>({ ...PARTS, values: [...keys, removeLabels ?? []] })
    const found = new Set(rows.map((row) => keyOf(row.agent_id, row.thread_id)))
    for (const [index, { agentId, threadId }] of threads.entries())
      if (!found.has(keyOf(agentId, threadId)))
        throw invalidInput(`threads[${index}]`, 'is not a thread of this agent')
    if (isStated) await handle(within, rows, { opened, isClosing: Boolean(done || snoozedUntil) })
    await markAll(within, rows, changes)
    if (isChanged) await noteThreads(within, viewer.workspaceId, distinct)
  })
}

/** Tells the members who watch the workspace that threads changed. */
const noteThreads = async (
  { prisma }: Pick<Db, 'prisma'>,
  workspaceId: string,
  threads: readonly ThreadKey[],
): Promise<void> => {
  for (const agentId of new Set(threads.map((one) => one.agentId))) {
    const ids = threads.filter((one) => one.agentId === agentId).map(({ threadId }) => threadId)
    await noteChange(prisma, { workspaceId, kind: 'thread', agentId, ids })
  }
}
