import { resendDelivery, rotateWebhook, testWebhook } from '../../webhook/operate.ts'
import { replayStart, replayWebhook, resendGivenUp } from '../../webhook/replay.ts'
import { unblockWebhook } from '../../webhook/unblock.ts'
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
  description: 'The delivery to resend.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    deliveryId: t.field({ type: 'UUID', required: true, description: 'The delivery.' }),
  }),
})

const ReplayWebhookInput = builder.inputType('ReplayWebhookInput', {
  description: 'The part of the event log to resend.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    after: t.field({
      type: 'SafeInt',
      description:
        'The id of an event: all events after it are resent. 0 resends all events. Required, unless there is `since`.',
    }),
    since: t.field({
      type: 'DateTime',
      description: 'Instead of `after`: all events that happened at this time or later are resent.',
    }),
  }),
})

const UnblockWebhookInput = builder.inputType('UnblockWebhookInput', {
  description: 'The delivery that the others of a webhook wait for.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    deliveryId: t.field({ type: 'UUID', required: true, description: 'The delivery, `blocking`.' }),
    skip: t.boolean({
      required: true,
      description: 'true: it is skipped, and the webhook never receives it; false: it is sent again now.',
    }),
  }),
})

const ResendGivenUpInput = builder.inputType('ResendGivenUpInput', {
  description: 'The events to resend.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    webhookId: t.field({ type: 'UUID', required: true, description: 'The webhook.' }),
    since: t.field({
      type: 'DateTime',
      required: true,
      description: 'Only events that happened at this time or later.',
    }),
  }),
})

const RotateWebhookPayload = builder
  .objectRef<{ id: string; agentId: string; secret: string }>('RotateWebhookPayload')
  .implement({
    description: 'Result of `rotateWebhook`.',
    fields: (t) => ({
      webhook: t.prismaField({
        type: Webhook,
        description: 'The webhook.',
        resolve: (query, { id, agentId }, _args, { deps }) =>
          deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
      secret: t.exposeString('secret', {
        description: 'The new secret. For 24 hours, requests are also signed with the previous one.',
      }),
    }),
  })

const deliveryPayload = (name: string, of: string) =>
  builder.objectRef<typeof Delivery.$inferType>(name).implement({
    description: `Result of \`${of}\`.`,
    fields: (t) => ({
      delivery: t.field({
        type: Delivery,
        description: 'The delivery, which is attempted once.',
        resolve: (delivery) => delivery,
      }),
    }),
  })

const TestWebhookPayload = deliveryPayload('TestWebhookPayload', 'testWebhook')
const ResendDeliveryPayload = deliveryPayload('ResendDeliveryPayload', 'resendDelivery')

const UnblockWebhookPayload = builder
  .objectRef<{ agentId: string; webhookId: string }>('UnblockWebhookPayload')
  .implement({
    description: 'Result of `unblockWebhook`.',
    fields: (t) => ({
      webhook: t.prismaField({
        type: Webhook,
        description: 'The webhook.',
        resolve: (query, { webhookId: id, agentId }, _args, { deps }) =>
          deps.prisma.webhook.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
    }),
  })

const ReplayWebhookPayload = builder.objectRef<{ events: number }>('ReplayWebhookPayload').implement({
  description: 'Result of `replayWebhook`.',
  fields: (t) => ({ events: t.exposeInt('events', { description: 'Number of events that are resent.' }) }),
})

const ResendGivenUpPayload = builder.objectRef<{ events: number }>('ResendGivenUpPayload').implement({
  description: 'Result of `resendGivenUp`.',
  fields: (t) => ({ events: t.exposeInt('events', { description: 'Number of events that are resent.' }) }),
})

builder.mutationFields((t) => ({
  resendGivenUp: t.field({
    type: ResendGivenUpPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Resends the events that were given up since a time, in order and with retries; their three days start anew.',
    args: { input: t.arg({ type: ResendGivenUpInput, required: true, description: 'The events.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      resendGivenUp(deps, viewer, input, { since: input.since }),
  }),
  rotateWebhook: t.field({
    type: RotateWebhookPayload,
    nullable: true,
    idempotency: 'once',
    description: 'Replaces the signing secret of a webhook.',
    args: { input: t.arg({ type: RotateWebhookInput, required: true, description: 'The webhook.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { webhook, secret } = await rotateWebhook(deps, viewer, input.agentId, input.webhookId)
      return { id: webhook.id, agentId: input.agentId, secret }
    },
  }),
  testWebhook: t.field({
    type: TestWebhookPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Sends a test delivery to a webhook, signed like every delivery and attempted once. It does not affect the order or the schedule of other deliveries.',
    args: { input: t.arg({ type: TestWebhookInput, required: true, description: 'The webhook.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      testWebhook(deps, viewer, input.agentId, input.webhookId),
  }),
  resendDelivery: t.field({
    type: ResendDeliveryPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Resends the event of a delivery immediately, with the same `webhook-id`. A manual delivery is attempted once, without retries.',
    args: { input: t.arg({ type: ResendDeliveryInput, required: true, description: 'The delivery.' }) },
    resolve: (_root, { input }, { deps, viewer }) => resendDelivery(deps, viewer, input),
  }),
  replayWebhook: t.field({
    type: ReplayWebhookPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Resends every stored event after a position or since a time to a webhook, in order, then continues where it was.',
    args: {
      input: t.arg({
        type: ReplayWebhookInput,
        required: true,
        description: 'The events.',
      }),
    },
    resolve: (_root, { input }, { deps, viewer }) => replayWebhook(deps, viewer, input, replayStart(input)),
  }),
  unblockWebhook: t.field({
    type: UnblockWebhookPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Ends the wait of a webhook for the next attempt of the delivery that all others wait for: sends it now, or skips it. Fails with `conflict` if it is not waited for any more.',
    args: { input: t.arg({ type: UnblockWebhookInput, required: true, description: 'The delivery.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      await unblockWebhook(deps, viewer, input)
      return input
    },
  }),
}))
