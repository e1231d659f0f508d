import { replayWebhook, resendDelivery, rotateWebhook, testWebhook } from '../../webhook/operate.ts'
import { builder } from '../builder.ts'
import { Delivery } from './delivery.ts'
import { Webhook } from './webhook.ts'

const webhookInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it belongs to.' }),
      webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    }),
  })

const RotateWebhookInput = webhookInput('RotateWebhookInput', 'The webhook that gets a new secret.')
const TestWebhookInput = webhookInput('TestWebhookInput', 'The webhook to test.')

const ResendDeliveryInput = builder.inputType('ResendDeliveryInput', {
  description: 'The delivery to send again.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    deliveryId: t.field({ type: 'UUID', required: true, description: 'The delivery.' }),
  }),
})

const ReplayWebhookInput = builder.inputType('ReplayWebhookInput', {
  description: 'The stretch of the log to send again.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    after: t.field({ type: 'SafeInt', required: true, description: 'The id of an event: what came behind it goes out again. 0: all.' }),
  }),
})

const RotateWebhookPayload = builder.objectRef<{ id: string; secret: string }>('RotateWebhookPayload').implement({
  description: 'What became of `rotateWebhook`.',
  fields: (t) => ({
    webhook: t.prismaField({
      type: Webhook,
      description: 'The webhook.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    secret: t.exposeString('secret', { description: 'The new secret. The one before it signs too for 24 hours.' }),
  }),
})

const deliveryPayload = (name: string, of: string) =>
  builder.objectRef<typeof Delivery.$inferType>(name).implement({
    description: `What became of \`${of}\`.`,
    fields: (t) => ({
      delivery: t.field({ type: Delivery, description: 'The delivery, which is tried once.', resolve: (delivery) => delivery }),
    }),
  })

const TestWebhookPayload = deliveryPayload('TestWebhookPayload', 'testWebhook')
const ResendDeliveryPayload = deliveryPayload('ResendDeliveryPayload', 'resendDelivery')

const ReplayWebhookPayload = builder.objectRef<{ events: number }>('ReplayWebhookPayload').implement({
  description: 'What became of `replayWebhook`.',
  fields: (t) => ({ events: t.exposeInt('events', { description: 'How many events go out again.' }) }),
})

builder.mutationFields((t) => ({
  rotateWebhook: t.field({
    type: RotateWebhookPayload,
    nullable: true,
    description: 'Gives a webhook a new signing secret.',
    args: { input: t.arg({ type: RotateWebhookInput, required: true, description: 'The webhook.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { webhook, secret } = await rotateWebhook(deps, viewer, input.agentId, input.webhookId)
      return { id: webhook.id, secret }
    },
  }),
  testWebhook: t.field({
    type: TestWebhookPayload,
    nullable: true,
    description: 'Sends a test to a webhook, signed like all deliveries, tried once. It moves nothing of the order or the schedule.',
    args: { input: t.arg({ type: TestWebhookInput, required: true, description: 'The webhook.' }) },
    resolve: (_root, { input }, { deps, viewer }) => testWebhook(deps, viewer, input.agentId, input.webhookId),
  }),
  resendDelivery: t.field({
    type: ResendDeliveryPayload,
    nullable: true,
    description: "Sends a delivery's event again, at once, tried once, under the same `webhook-id`.",
    args: { input: t.arg({ type: ResendDeliveryInput, required: true, description: 'The delivery.' }) },
    resolve: (_root, { input }, { deps, viewer }) => resendDelivery(deps, viewer, input.agentId, input.webhookId, input.deliveryId),
  }),
  replayWebhook: t.field({
    type: ReplayWebhookPayload,
    nullable: true,
    description: 'Sends every kept event behind a position to a webhook again, in order, and then goes on.',
    args: { input: t.arg({ type: ReplayWebhookInput, required: true, description: 'Where to begin.' }) },
    resolve: (_root, { input }, { deps, viewer }) => replayWebhook(deps, viewer, input.agentId, input.webhookId, { after: input.after }),
  }),
}))
