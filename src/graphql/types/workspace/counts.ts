import { countPerDay } from '../../../agent/index.ts'
import { DAYS, DayCounts } from '../../../api/workspace/counts.ts'
import { builder } from '../../builder/builder.ts'
import { argsOf, objectOf, valuesOf } from '../../builder/rendered.ts'
import { countRows } from '../../context/limits.ts'

builder.queryField('counts', (t) =>
  t.field({
    type: [objectOf(DayCounts)],
    description:
      'What happened on each day of a range, oldest first, of one agent or, for members, of the whole workspace. Kept for 400 days.',
    complexity: 10,
    args: {
      ...argsOf(DAYS),
      agentId: t.arg({ type: 'UUID', description: 'The agent; left out for all agents (members only).' }),
    },
    resolve: async (_root, { agentId, ...days }, context) => {
      const request = { ...valuesOf(DAYS, days), agentId }
      const counted = await countPerDay(context.deps, context.viewer, request)
      countRows(context, counted.length)
      return counted
    },
  }),
)
