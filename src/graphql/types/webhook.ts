import { webhookUrl } from '../../core/rules.ts'
import { type AddedWebhook, addWebhook, removeWebhook } from '../../webhook/webhook.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'

export const Webhook = builder.prismaObject('Webhook', {
  description: "A server that hears the agent's events, in order, through signed requests.",
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    url: t.exposeString('url', { description: 'Where the events are posted to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added: it hears what came after.' }),
    error: t.exposeString('error', { nullable: true, description: 'How the last attempt with the waiting event failed.' }),
    attempts: t.exposeInt('attempts', { description: 'How many attempts with the waiting event failed.' }),
    retryAt: t.expose('retryAt', { type: 'DateTime', nullable: true, description: 'When the waiting event is tried again.' }),
    lastDeliveredAt: t.expose('lastDeliveredAt', { type: 'DateTime', nullable: true, description: 'When it last took an event.' }),
  }),
})

builder.prismaObjectField(Agent, 'webhooks', (t) =>
  t.relation('webhooks', {
    type: Webhook,
    description: "The servers that hear the agent's events, oldest first.",
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

const AddWebhookInput = builder.inputType('AddWebhookInput', {
  description: 'A new webhook.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    url: t.string({ required: true, description: 'https, on the public internet, at most 2048 characters.' }),
  }),
})

const AddWebhookPayload = builder.objectRef<AddedWebhook>('AddWebhookPayload').implement({
  description: 'What became of `addWebhook`.',
  fields: (t) => ({
    webhook: t.prismaField({
      type: Webhook,
      description: 'The webhook.',
      resolve: (query, { webhook: { id } }, _args, { deps }) => deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    secret: t.exposeString('secret', { description: 'What its requests are signed with (Standard Webhooks): whsec_ and base64.' }),
    created: t.exposeBoolean('created', { description: 'False when the agent had this URL already: same webhook, same secret.' }),
  }),
})

const RemoveWebhookInput = builder.inputType('RemoveWebhookInput', {
  description: 'The webhook to remove.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it belongs to.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
  }),
})

const RemoveWebhookPayload = builder.objectRef<{ webhookId: string }>('RemoveWebhookPayload').implement({
  description: 'What became of `removeWebhook`.',
  fields: (t) => ({ webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the webhook that is gone.' }) }),
})

builder.mutationFields((t) => ({
  addWebhook: t.field({
    type: AddWebhookPayload,
    nullable: true,
    description: 'Adds a webhook; at most 10 per agent. The same URL again returns the same webhook and secret.',
    args: { input: t.arg({ type: AddWebhookInput, required: true, description: 'The new webhook.' }) },
    resolve: (_root, { input }, { deps, viewer }) => addWebhook(deps, viewer, input.agentId, checked({ url: webhookUrl }, input)),
  }),
  removeWebhook: t.field({
    type: RemoveWebhookPayload,
    nullable: true,
    description: 'Removes a webhook with its deliveries.',
    args: { input: t.arg({ type: RemoveWebhookInput, required: true, description: 'The webhook.' }) },
    resolve: async (_root, { input: { agentId, webhookId } }, { deps, viewer }) => {
      await removeWebhook(deps, viewer, agentId, webhookId)
      return { webhookId }
    },
  }),
}))
