import { readSuppressions, removeSuppression, suppressionCursor } from '../../agent/suppression.ts'
import { recipient } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { pageArgs, pageCost, readPage } from '../page.ts'
import { Agent } from './agent.ts'
import { AddressChannel, SuppressionReason } from './enums.ts'

const Suppression = builder.prismaObject('Suppression', {
  description: "A recipient on an agent's suppression list, to whom it no longer sends.",
  fields: (t) => ({
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: "The channel of the recipient's address.",
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    recipient: t.exposeString('recipient', { description: 'Its address.' }),
    reason: t.expose('reason', { type: SuppressionReason, description: 'The reason.' }),
    detail: t.exposeString('detail', { description: 'The reply of the receiving side.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the recipient was added.' }),
  }),
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
      readPage(
        context,
        info,
        { key: id, ...args },
        {
          read: (agentIds, request) => readSuppressions(context.deps, agentIds, request),
          edge: (entry) => ({ cursor: suppressionCursor(entry), node: entry }),
        },
      ),
  }),
)

const RemoveSuppressionInput = builder.inputType('RemoveSuppressionInput', {
  description: 'The recipient to remove from the suppression list.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent whose list it is on.' }),
    recipient: t.string({ required: true, description: 'Its address.' }),
  }),
})

const RemoveSuppressionPayload = builder
  .objectRef<{ recipient: string }>('RemoveSuppressionPayload')
  .implement({
    description: 'Result of `removeSuppression`.',
    fields: (t) => ({
      recipient: t.exposeString('recipient', {
        description: 'The address that was removed from the suppression list.',
      }),
    }),
  })

builder.mutationField('removeSuppression', (t) =>
  t.field({
    type: RemoveSuppressionPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Removes a recipient from the agent's suppression list, so that the agent can send to it again.",
    args: { input: t.arg({ type: RemoveSuppressionInput, required: true, description: 'The recipient.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { recipient: address } = checked({ recipient }, input)
      await removeSuppression(deps, viewer, input.agentId, address)
      return { recipient: address }
    },
  }),
)
