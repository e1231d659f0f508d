import { type Delivery as DeliveryShape, readDeliveryPages } from '../../webhook/deliveries.ts'
import { formatTopicKey, parseTopicKey } from '../../webhook/webhook.ts'
import { builder } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import { countRows } from '../execution/limits.ts'
import { given, rethrowAsAfter } from '../input.ts'
import { checkFirst, pageCost, pageInfoOf } from '../page.ts'
import { DeliveryStatus } from './enums.ts'
import { pathOf } from './message-list.ts'
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
    args: {
      first: t.arg.int({ description: 'Number of entries to return: 1 to 100; defaults to 20.' }),
      after: t.arg.string({ description: "Return entries after this delivery's cursor." }),
    },
    resolve: async (webhook, args, context, info) => {
      const request = { limit: checkFirst(args.first), cursor: given(args.after) }
      countRows(context, request.limit)
      const read = (webhooks: readonly string[]) =>
        readDeliveryPages(context.deps, webhooks.map(parseTopicKey), request)
      const name = JSON.stringify([pathOf(info), request])
      const page = await batched(context, name, formatTopicKey(webhook), read).catch(rethrowAsAfter)
      const edges = page.items.map(({ cursor, delivery }) => ({ cursor, node: delivery }))
      return {
        edges,
        pageInfo: pageInfoOf(edges, page.nextCursor !== null, {
          first: request.limit,
          after: request.cursor,
        }),
      }
    },
  }),
)
