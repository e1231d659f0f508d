import { invalidInput } from '../../core/errors.ts'
import { labels } from '../../core/rules.ts'
import type { Thread as ThreadShape } from '../../message/reading/thread.ts'
import { type ThreadKey, updateThreads } from '../../message/thread/state.ts'
import { builder } from '../builder.ts'
import { countRows } from '../execution/limits.ts'
import { checked, given } from '../input.ts'
import { pageCost } from '../page.ts'
import { THREAD_ROWS, Thread, threadsIn } from './thread.ts'

const MAX_THREADS = 100

const ThreadKeyInput = builder.inputType('ThreadKeyInput', {
  description: 'A thread.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it belongs to.' }),
    threadId: t.field({ type: 'UUID', required: true, description: 'The id of the thread.' }),
  }),
})

const UpdateThreadsInput = builder.inputType('UpdateThreadsInput', {
  description: 'Changes to threads. Fields left out are not changed.',
  fields: (t) => ({
    threads: t.field({
      type: [ThreadKeyInput],
      required: true,
      description: '1 to 100 threads, of one or several agents.',
    }),
    done: t.boolean({
      description: 'true: they are done, until a new message arrives or is sent; false: they are open again.',
    }),
    snoozedUntil: t.field({
      type: 'DateTime',
      description:
        'Postpones them until then, at most 366 days ahead, or until a new message; null: they are open again. Not with `done: true`.',
    }),
    assignedTo: t.field({
      type: 'UUID',
      description: 'The member to assign them to; null: to nobody. Members only.',
    }),
    read: t.boolean({
      description:
        'true: marks all received messages as read; false: marks the newest received one as unread.',
    }),
    addLabels: t.stringList({ description: 'Labels to add to the newest message of each.' }),
    removeLabels: t.stringList({ description: 'Labels to remove from all of their messages.' }),
  }),
})

const UpdateThreadsPayload = builder.objectRef<{ threads: ThreadShape[] }>('UpdateThreadsPayload').implement({
  description: 'Result of `updateThreads`.',
  fields: (t) => ({
    threads: t.field({
      type: [Thread],
      complexity: { field: 0, multiplier: 1 },
      description: 'The threads, in the order in which they were given.',
      resolve: ({ threads }) => threads,
    }),
  }),
})

builder.mutationField('updateThreads', (t) =>
  t.field({
    type: UpdateThreadsPayload,
    nullable: true,
    idempotency: 'ignored',
    complexity: ({ input }) => pageCost(input.threads.length, 5),
    description:
      'Marks threads as done, postpones or assigns them, labels them, or marks them as read or unread: all of them, or none if one of them cannot be changed.',
    args: { input: t.arg({ type: UpdateThreadsInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, context) => {
      const { done, snoozedUntil, assignedTo, read } = input
      const threads: ThreadKey[] = input.threads
      if (threads.length < 1 || threads.length > MAX_THREADS)
        throw invalidInput('threads', `must contain 1 to ${MAX_THREADS} threads`)
      countRows(context, threads.length * THREAD_ROWS)
      await updateThreads(context.deps, context.viewer, threads, {
        ...{ done: given(done), snoozedUntil, assignedTo, read: given(read) },
        ...checked({ addLabels: labels, removeLabels: labels }, input),
      })
      return { threads: (await threadsIn(context, threads)).filter((thread) => thread !== null) }
    },
  }),
)
