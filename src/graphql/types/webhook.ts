import { webhookName, webhookUrl } from '../../core/rules.ts'
import { EVENT_NAMES } from '../../event/event.ts'
import { heardTypes } from '../../event/selection.ts'
import { updateWebhook } from '../../webhook/update.ts'
import { type AddedWebhook, addWebhook, removeWebhook } from '../../webhook/webhook.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'

export const Webhook = builder.prismaObject('Webhook', {
  description: "A server that receives the agent's events in order, as signed requests.",
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    agentId: t.expose('agentId', { type: 'UUID', description: 'The agent that it belongs to.' }),
    url: t.exposeString('url', { description: 'The URL to which events are sent.' }),
    name: t.exposeString('name', { nullable: true, description: 'Its name; null if it has none.' }),
    pausedAt: t.expose('pausedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is paused; null while it is not.',
    }),
    events: t.exposeStringList('types', { description: 'Types of the events that it receives.' }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it was added. It receives the events after that.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'The error of the last attempt to deliver the pending event.',
    }),
    attempts: t.exposeInt('attempts', {
      description: 'Number of failed attempts to deliver the pending event.',
    }),
    retryAt: t.expose('retryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When delivery of the pending event is retried.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when deliveries fail; null while they do not.',
    }),
    lastDeliveredAt: t.expose('lastDeliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last accepted an event.',
    }),
  }),
})

builder.prismaObjectField(Agent, 'webhooks', (t) =>
  t.relation('webhooks', {
    type: Webhook,
    description: "The agent's webhooks, oldest first.",
    query: { where: { kind: 'webhook' }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

const AddWebhookInput = builder.inputType('AddWebhookInput', {
  description: 'A new webhook.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    url: t.string({ required: true, description: 'https, on the public internet, at most 2048 characters.' }),
    name: t.string({ description: 'Its name, of 1 to 100 characters.' }),
    events: t.stringList({
      description: `Types of the events that it receives, of: ${EVENT_NAMES.join(', ')}; defaults to message.received alone. The log contains those that the agent's eventTypes name.`,
    }),
  }),
})

const AddWebhookPayload = builder
  .objectRef<AddedWebhook & { agentId: string }>('AddWebhookPayload')
  .implement({
    description: 'Result of `addWebhook`.',
    fields: (t) => ({
      webhook: t.prismaField({
        type: Webhook,
        description: 'The webhook.',
        resolve: (query, { webhook: { id }, agentId }, _args, { deps }) =>
          deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
      secret: t.exposeString('secret', {
        description: 'The signing secret (Standard Webhooks): whsec_ followed by base64.',
      }),
      created: t.exposeBoolean('created', {
        description:
          'False if the agent already had a webhook with this URL: the webhook and its secret are unchanged.',
      }),
    }),
  })

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'The changes to a webhook. Fields that are left out stay as they are.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it belongs to.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    name: t.string({ description: 'Its name, of 1 to 100 characters; null removes it.' }),
    paused: t.boolean({ description: 'Whether nothing is sent to it until it is resumed.' }),
    events: t.stringList({ description: 'Types of the events that it receives.' }),
  }),
})

const UpdateWebhookPayload = builder
  .objectRef<{ agentId: string; webhookId: string }>('UpdateWebhookPayload')
  .implement({
    description: 'Result of `updateWebhook`.',
    fields: (t) => ({
      webhook: t.prismaField({
        type: Webhook,
        description: 'The updated webhook.',
        resolve: (query, { agentId, webhookId: id }, _args, { deps }) =>
          deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
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
  description: 'Result of `removeWebhook`.',
  fields: (t) => ({
    webhookId: t.expose('webhookId', { type: 'UUID', description: 'The id of the removed webhook.' }),
  }),
})

builder.mutationFields((t) => ({
  addWebhook: t.field({
    type: AddWebhookPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Adds a webhook; at most 10 per agent. Adding the same URL again returns the existing webhook and secret, unchanged.',
    args: { input: t.arg({ type: AddWebhookInput, required: true, description: 'The new webhook.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const added = await addWebhook(
        deps,
        viewer,
        input.agentId,
        checked({ url: webhookUrl, name: webhookName, events: heardTypes }, input),
      )
      return { ...added, agentId: input.agentId }
    },
  }),
  updateWebhook: t.field({
    type: UpdateWebhookPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Changes a webhook's name or the types of the events that it receives, or pauses or resumes it. New types apply to all events that it has not received yet. While it is paused, its events wait, and it does not receive messages to the Message URL; when it is resumed, the three days of its pending events start anew. An event that is being delivered may arrive twice.",
    args: { input: t.arg({ type: UpdateWebhookInput, required: true, description: 'The changes.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentId, webhookId, paused } = input
      const changes = checked({ name: webhookName, events: heardTypes }, input)
      const name = input.name === null ? null : changes.name
      await updateWebhook(
        deps,
        viewer,
        { agentId, webhookId },
        { ...changes, name, paused: paused ?? undefined },
      )
      return { agentId, webhookId }
    },
  }),
  removeWebhook: t.field({
    type: RemoveWebhookPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Removes a webhook and its deliveries.',
    args: { input: t.arg({ type: RemoveWebhookInput, required: true, description: 'The webhook.' }) },
    resolve: async (_root, { input: { agentId, webhookId } }, { deps, viewer }) => {
      await removeWebhook(deps, viewer, agentId, webhookId)
      return { webhookId }
    },
  }),
}))
