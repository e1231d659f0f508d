import { removeSuppression } from '../../agent/suppression.ts'
import { recipient } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'
import { AddressChannel, SuppressionReason } from './enums.ts'

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

const MOST = 100

builder.prismaObjectField(Agent, 'suppressions', (t) =>
  t.relation('suppressions', {
    type: Suppression,
    description: `Whom the agent sends nothing any more, newest first, at most ${MOST}; REST has them all.`,
    query: { orderBy: [{ createdAt: 'desc' }, { recipient: 'asc' }], take: MOST },
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
