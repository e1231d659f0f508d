import { readSuppressions, suppressionCursor } from '../../../agent/index.ts'
import { removeSuppression, Suppression as SUPPRESSION } from '../../../api/agent/suppression.ts'
import { builder } from '../../builder/builder.ts'
import { pageArgs, pageCost, readPage } from '../../builder/page.ts'
import { exposed, removal } from '../../builder/rendered.ts'
import { Agent } from './agent.ts'

const Suppression = builder.prismaObject('Suppression', {
  description: SUPPRESSION.sentence,
  fields: (t) => exposed(t, SUPPRESSION.fields),
})

const SuppressionConnection = builder.connectionObject(
  {
    type: Suppression,
    name: 'SuppressionConnection',
    description: 'A page of a suppression list, newest first.',
  },
  { name: 'SuppressionEdge', description: 'A suppression list entry and its cursor.' },
)

builder.prismaObjectField(Agent, 'suppressions', (t) =>
  t.field({
    type: SuppressionConnection,
    description: "The agent's suppression list: recipients to whom it no longer sends, newest first.",
    complexity: ({ first }) => pageCost(first),
    args: pageArgs(),
    resolve: ({ id }, args, context, info) =>
      readPage(context, info, {
        ...{ key: id, ...args },
        read: (agentIds, request) => readSuppressions(context.deps, agentIds, request),
        edge: (entry) => ({ cursor: suppressionCursor(entry), node: entry }),
      }),
  }),
)

removal(removeSuppression, 'The recipient to remove from the suppression list.', {
  recipient: 'The address that was removed from the suppression list.',
})
