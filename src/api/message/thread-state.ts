import { z } from 'zod'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import { label, labels, messageIds, timestamp, uuid } from '../../core/rules.ts'
import {
  type MarkDeps,
  readThreads,
  type ThreadChanges,
  type ThreadKey,
  updateThreads as update,
} from '../../message/index.ts'
import type { Viewer } from '../../workspace/index.ts'
import { ID, LATER } from '../example.ts'
import { list, one, operation } from '../operation.ts'
import { group, says } from '../resource.ts'
import { ONE, Thread } from './thread.ts'

const CHANGES = {
  done: says(
    z.boolean(),
    '`true`: done, until a new message arrives or is sent; `false`: open again.',
  ).optional(),
  snoozedUntil: says(
    timestamp,
    'Until when to postpone, at most 366 days ahead, or until a new message; null: open again. Not with `done: true`.',
  )
    .nullable()
    .optional(),
  assignedTo: says(uuid, 'The member to assign to; null: nobody. Members only.').nullable().optional(),
  read: says(
    z.boolean(),
    '`true`: all received messages are read; `false`: the newest received one is unread.',
  ).optional(),
  label: says(label, 'A label to add to the newest message, as `addLabels` does.').optional(),
  addLabels: says(labels, 'Labels to add to the newest message.').optional(),
  removeLabels: says(labels, 'Labels to remove from all messages.').optional(),
}

const tag = 'Threads'
const MAX_THREADS = 'must contain 1 to 100 threads'

/** Changes threads and reads them, in their order. */
const change = async (
  deps: MarkDeps,
  viewer: Viewer,
  threads: readonly ThreadKey[],
  { label: added, ...changes }: ThreadChanges & { label?: string | undefined },
) => {
  const addLabels = added === undefined ? changes.addLabels : [...(changes.addLabels ?? []), added]
  await update(deps, viewer, threads, { ...changes, addLabels })
  const read = await readThreads(deps, threads)
  return read.flatMap((thread) => thread ?? [])
}

/** The error about a thread that does not exist names it as `threads[n]`. */
const indexOf = (error: unknown): string | undefined =>
  error instanceof AppError ? /^threads\[(\d+)\]$/.exec(error.field ?? '')?.[1] : undefined

export const updateThread = operation({
  name: 'updateThread',
  says: 'Marks a thread as done, postpones it, assigns it, labels it, or marks it as read or unread.',
  rest: 'PATCH /agents/{agentId}/threads/{threadId}',
  tag,
  scope: 'messages:write',
  input: { ...ONE, ...CHANGES },
  example: { done: true },
  fails: ['agent'],
  output: one(Thread, 'The thread.'),
  run: async (deps, viewer, { agentId, threadId, ...changes }) => {
    const [thread] = await change(deps, viewer, [{ agentId, threadId }], changes).catch((error: unknown) => {
      throw indexOf(error) === undefined ? error : notFound('thread')
    })
    if (!thread) throw notFound('thread')
    return thread
  },
})

export const updateThreads = operation({
  name: 'updateThreads',
  says: 'Changes up to 100 threads: all of them, or none.',
  rest: 'PATCH /agents/{agentId}/threads',
  tag,
  scope: 'messages:write',
  input: { agentId: ONE.agentId, ids: says(messageIds, '1 to 100 of its threads.'), ...CHANGES },
  example: { ids: [ID], snoozedUntil: LATER },
  fails: ['agent'],
  output: list(Thread, 'The threads, in the order of `ids`.'),
  run: (deps, viewer, { agentId, ids, ...changes }) => {
    const threads = ids.map((threadId) => ({ agentId, threadId }))
    return change(deps, viewer, threads, changes).catch((error: unknown) => {
      const index = indexOf(error)
      throw index === undefined ? error : invalidInput(`ids[${index}]`, 'is not a thread of this agent')
    })
  },
})

const { name, rest, scope, fails, output } = updateThreads

/** GraphQL's, which takes threads of several agents. */
export const updateThreadsOfAgents = operation({
  ...{ name, rest, tag, scope, fails, output },
  says: 'Marks threads as done, postpones or assigns them, labels them, or marks them as read or unread: all of them, or none if one of them cannot be changed.',
  input: {
    threads: says(
      z
        .array(group('ThreadKeyInput', 'A thread.', ONE))
        .min(1, MAX_THREADS)
        .max(100, MAX_THREADS),
      '1 to 100 threads, of one or several agents.',
    ),
    ...CHANGES,
  },
  run: (deps, viewer, { threads, ...changes }) => change(deps, viewer, threads, changes),
})
