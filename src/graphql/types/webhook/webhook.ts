import { sentenceOf } from '../../../api/resource.ts'
import {
  addWebhook,
  NewWebhook,
  removeWebhook,
  rotateWebhook,
  updateWebhook,
  Webhook as WEBHOOK,
} from '../../../api/webhook/webhook.ts'
import { headersOf } from '../../../webhook/index.ts'
import { builder } from '../../builder/builder.ts'
import { exposed, fieldOf, mutation, removal } from '../../builder/rendered.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { Agent } from '../agent/agent.ts'

const { events, headers, body, ...columns } = WEBHOOK.fields

export const Webhook = builder.prismaObject('Webhook', {
  description: WEBHOOK.sentence,
  select: { id: true },
  fields: (t) => ({
    ...exposed(t, columns),
    agentId: t.expose('agentId', { type: 'UUID', description: 'The agent that it belongs to.' }),
    events: t.exposeStringList('types', { description: sentenceOf(events) }),
    headers: t.field({
      ...fieldOf(headers),
      select: { id: true, workspaceId: true, headers: true },
      resolve: (webhook, _args, { deps }) => headersOf(deps, webhook),
    }),
    body: t.field({
      ...fieldOf(body),
      select: { body: true },
      resolve: (webhook) => (webhook.body === null ? null : JSON.parse(webhook.body)),
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when deliveries fail; null while they do not.',
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

/** Reads the webhook that a mutation returned, with what is selected of it. */
export const webhookOf = (
  query: object,
  { input: { agentId }, result: { id } }: { input: { agentId: string }; result: { id: string } },
  _args: object,
  { deps }: GraphqlContext,
) => deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } })

mutation(addWebhook, 'The new webhook.', (t) => ({
  webhook: t.prismaField({ type: Webhook, description: 'The webhook.', resolve: webhookOf }),
  secret: t.string({
    description: sentenceOf(NewWebhook.fields.secret),
    resolve: ({ result }) => result.secret,
  }),
  created: t.boolean({
    description:
      'False if the agent already had a webhook with this URL: the webhook and its secret are unchanged.',
    resolve: ({ result }) => result.created,
  }),
}))

mutation(updateWebhook, 'The changes to a webhook. Fields that are left out stay as they are.', (t) => ({
  webhook: t.prismaField({ type: Webhook, description: 'The updated webhook.', resolve: webhookOf }),
}))

mutation(rotateWebhook, 'The webhook that gets a new secret.', (t) => ({
  webhook: t.prismaField({ type: Webhook, description: 'The webhook.', resolve: webhookOf }),
  secret: t.string({
    description: 'The new secret. For 24 hours, requests are also signed with the previous one.',
    resolve: ({ result }) => result.secret,
  }),
}))

removal(removeWebhook, 'The webhook to remove.', { webhookId: 'The id of the removed webhook.' })
