import { type Delivery as DeliveryShape, readDeliveryPages } from '../../webhook/deliveries.ts'
import { formatTopicKey, parseTopicKey } from '../../webhook/webhook.ts'
import { builder } from '../builder.ts'
import { pageArgs, pageCost, readPage } from '../page.ts'
import { DeliveryStatus } from './enums.ts'
import { Webhook } from './webhook.ts'

const Attempt = builder.objectRef<DeliveryShape['attempts'][number]>('DeliveryAttempt').implement({
  description: 'One request to a webhook.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When it began.', resolve: ({ at }) => new Date(at) }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The HTTP status of the response; null if there was none.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why there was no response, or why the response was not accepted.',
    }),
    ms: t.exposeInt('ms', { description: 'How long it took, in milliseconds.' }),
  }),
})

export const Delivery = builder.objectRef<DeliveryShape>('Delivery').implement({
  description: 'A delivery of an event to a webhook. Records are kept for 7 days.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    eventId: t.exposeString('eventId', {
      description: "The event's identifier, as sent in `webhook-id` and `eventId`.",
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'The current status.' }),
    attempts: t.field({
      type: [Attempt],
      description: 'The requests made, oldest first.',
      resolve: ({ attempts }) => attempts,
    }),
  }),
})

const DeliveryConnection = builder.connectionObject(
  { type: Delivery, name: 'DeliveryConnection', description: 'A page of deliveries, newest first.' },
  { name: 'DeliveryEdge', description: 'A delivery and its cursor.' },
)

builder.prismaObjectField(Webhook, 'deliveries', (t) =>
  t.field({
    type: DeliveryConnection,
    select: { id: true, agentId: true },
    description: 'Its deliveries, including pending and manual ones, newest first; kept for 7 days.',
    complexity: ({ first }) => pageCost(first),
    args: pageArgs("this delivery's cursor"),
    resolve: (webhook, args, context, info) =>
      readPage(
        context,
        info,
        { key: formatTopicKey(webhook), ...args },
        {
          read: (webhooks, request) => readDeliveryPages(context.deps, webhooks.map(parseTopicKey), request),
          edge: ({ cursor, delivery }) => ({ cursor, node: delivery }),
        },
      ),
  }),
)
