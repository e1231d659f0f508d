import { notFound } from '../../core/errors.ts'
import { builder } from '../builder.ts'
import { followChanges } from '../follow.ts'
import type { Change, Item } from '../item.ts'
import { Message } from './message.ts'
import { Webhook } from './webhook.ts'

const changeOf = (item: Item): Change => {
  if ('failure' in item) throw item.failure
  return item as Change
}

const WebhookChange = builder.objectRef<Change>('WebhookChange').implement({
  description: 'What became of a webhook.',
  fields: (t) => ({
    webhookId: t.expose('changed', { type: 'UUID', description: "The webhook's id." }),
    webhook: t.prismaField({
      type: Webhook,
      nullable: true,
      description: 'The webhook as it is now; null once it is removed.',
      resolve: (query, { agentId, changed }, _args, { deps }) =>
        deps.prisma.webhook.findFirst({ ...query, where: { id: changed, agentId } }),
    }),
  }),
})

const ENDS =
  'Before it ends by itself it says why in an error: unauthorized (the token was revoked or ended), not_found (the agent was deleted), unavailable (the service stops, or the reader was too slow). Nothing is told again: read what you show when you subscribe.'

builder.subscriptionFields((t) => ({
  messageChanged: t.prismaField({
    type: Message,
    description: `The agent's messages whose status moves, as they are then: taken to be sent, sent, failed, reported. A status that is left at once may be skipped. For members and the agent itself. ${ENDS}`,
    args: { agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }) },
    subscribe: (_root, { agentId }, context) => followChanges(context, agentId, 'message'),
    resolve: async (query, item, _args, { deps }) => {
      const { agentId, changed } = changeOf(item)
      const message = await deps.prisma.message.findFirst({ ...query, where: { id: changed, agentId } })
      if (!message) throw notFound('message')
      return message
    },
  }),
  webhookChanged: t.field({
    type: WebhookChange,
    description: `The agent's webhooks as they are added, fail, deliver, are rotated and removed, within a second or so. For members and the agent itself. ${ENDS}`,
    args: { agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }) },
    subscribe: (_root, { agentId }, context) => followChanges(context, agentId, 'webhook'),
    resolve: changeOf,
  }),
}))
