import { readSuppressions, removeSuppression, suppressionCursor } from '../../agent/suppression.ts'
import { recipient } from '../../core/rules.ts'
import { batched } from '../batch.ts'
import { builder } from '../builder.ts'
import { checked, given, saidOfAfter } from '../input.ts'
import { countRows } from '../limits.ts'
import { Agent } from './agent.ts'
import { AddressChannel, SuppressionReason } from './enums.ts'
import { pageInfoOf, pathOf } from './message-list.ts'
import { checkFirst, pageCost } from './message-page.ts'

const Suppression = builder.prismaObject('Suppression', {
  description: 'A recipient whom the agent sends nothing any more.',
  fields: (t) => ({
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: 'The channel on which it is written to.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    recipient: t.exposeString('recipient', { description: 'Its address.' }),
    reason: t.expose('reason', { type: SuppressionReason, description: 'Why.' }),
    detail: t.exposeString('detail', { description: "The other side's words." }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
})

const SuppressionConnection = builder.connectionObject(
  { type: Suppression, name: 'SuppressionConnection', description: 'A page of a suppression list, newest first.' },
  { name: 'SuppressionEdge', description: 'An entry of a suppression list and its place in it.' },
)

builder.prismaObjectField(Agent, 'suppressions', (t) =>
  t.field({
    type: SuppressionConnection,
    description: 'Whom the agent sends nothing any more, newest first.',
    complexity: ({ first }) => pageCost(first),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "An entry's cursor: the page begins behind it." }),
    },
    resolve: async ({ id }, args, context, info) => {
      const request = { limit: checkFirst(args.first), cursor: given(args.after) }
      countRows(context, request.limit)
      const read = (agentIds: readonly string[]) => readSuppressions(context.deps, agentIds, request)
      const page = await batched(context, JSON.stringify([pathOf(info), request]), id, read).catch(saidOfAfter)
      const edges = page.items.map((entry) => ({ cursor: suppressionCursor(entry), node: entry }))
      return { edges, pageInfo: pageInfoOf(edges, page.nextCursor !== null, { first: request.limit, after: request.cursor }) }
    },
  }),
)

const RemoveSuppressionInput = builder.inputType('RemoveSuppressionInput', {
  description: 'The recipient to write to again.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent whose list it is on.' }),
    recipient: t.string({ required: true, description: 'Its address.' }),
  }),
})

const RemoveSuppressionPayload = builder.objectRef<{ recipient: string }>('RemoveSuppressionPayload').implement({
  description: 'What became of `removeSuppression`.',
  fields: (t) => ({ recipient: t.exposeString('recipient', { description: 'The address that can be written to again.' }) }),
})

builder.mutationField('removeSuppression', (t) =>
  t.field({
    type: RemoveSuppressionPayload,
    nullable: true,
    description: "Takes a recipient from the agent's suppression list, so that it can be written to again.",
    args: { input: t.arg({ type: RemoveSuppressionInput, required: true, description: 'The recipient.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { recipient: address } = checked({ recipient }, input)
      await removeSuppression(deps, viewer, input.agentId, address)
      return { recipient: address }
    },
  }),
)
