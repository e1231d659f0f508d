import { updateThreadsOfAgents } from '../../../api/message/thread-state.ts'
import { pageCost } from '../../builder/page.ts'
import { mutation } from '../../builder/rendered.ts'
import { countRows } from '../../context/limits.ts'
import { THREAD_ROWS, Thread } from './thread.ts'

mutation(
  updateThreadsOfAgents,
  'Changes to threads. Fields left out are not changed.',
  (t) => ({
    threads: t.field({
      type: [Thread],
      complexity: { field: 0, multiplier: 1 },
      description: 'The threads, in the order in which they were given.',
      resolve: ({ result }) => result,
    }),
  }),
  {
    complexity: ({ input }) => pageCost(input.threads.length, 5),
    before: (context, { threads }) => countRows(context, threads.length * THREAD_ROWS),
  },
)
