import { notFound } from '../../../core/errors.ts'
import { builder } from '../../builder/builder.ts'
import type { Change, Item } from '../../feed/item.ts'
import { followChanges } from '../../subscription/follow.ts'
import { Message } from '../message/message.ts'
import { Webhook } from '../webhook/webhook.ts'

const changeOf = (item: Item): Change => {
  if ('failure' in item) throw item.failure
  return item as Change
}

const WebhookChange = builder.objectRef<Change>('WebhookChange').implement({
  description: 'A change to a webhook.',
  fields: (t) => ({
    webhookId: t.expose('changed', { type: 'UUID', description: "The webhook's id." }),
    webhook: t.prismaField({
      type: Webhook,
      nullable: true,
      description: 'The updated webhook; null once it is removed.',
      resolve: (query, { agentId, changed }, _args, { deps }) =>
        deps.prisma.webhook.findFirst({ ...query, where: { id: changed, agentId } }),
    }),
  }),
})

const ENDS =
  'Before the server ends the subscription, it sends an error with the reason: unauthorized (the token was revoked or expired), not_found (the agent was deleted), unavailable (the service is stopping, or the client read too slowly). Missed changes are not sent again: query the current state when you subscribe.'

builder.subscriptionFields((t) => ({
  messageChanged: t.prismaField({
    type: Message,
    description: `The agent's messages whenever their status, labels or read mark change: accepted for sending, sent, failed, reported, marked. A short-lived state may be skipped. Available to members and the agent itself. ${ENDS}`,
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
    description: `The agent's webhooks whenever they are added, fail, deliver, are rotated or removed, within about a second. Available to members and the agent itself. ${ENDS}`,
    args: { agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }) },
    subscribe: (_root, { agentId }, context) => followChanges(context, agentId, 'webhook'),
    resolve: changeOf,
  }),
}))
