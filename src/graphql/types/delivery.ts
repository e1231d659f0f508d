import {
  type Attempt as AttemptShape,
  type Delivery as DeliveryShape,
  readDeliveries,
} from '../../webhook/deliveries.ts'
import {
  type DeliveryRequest as RequestShape,
  type RequestSource,
  rebuildRequests,
} from '../../webhook/request.ts'
import { formatTopicKey, parseTopicKey } from '../../webhook/webhook.ts'
import { builder } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import { countRows } from '../execution/limits.ts'
import { pageArgs, pageCost, readPage } from '../page.ts'
import { DeliveryStatus } from './enums.ts'
import { Webhook } from './webhook.ts'

const HttpHeader = builder.objectRef<[string, string]>('HttpHeader').implement({
  description: 'A header of an HTTP request or response.',
  fields: (t) => ({
    name: t.string({ description: 'Its name, in lower case.', resolve: ([name]) => name }),
    value: t.string({ description: 'Its value.', resolve: ([, value]) => value }),
  }),
})

const Answer = builder.objectRef<NonNullable<AttemptShape['answer']>>('DeliveryAnswer').implement({
  description: 'What a webhook responded. It is not to be trusted: show it as text only.',
  fields: (t) => ({
    headers: t.field({
      type: [HttpHeader],
      description: 'At most 20 headers, without cookies and credentials.',
      resolve: ({ headers }) => headers,
    }),
    body: t.exposeString('body', {
      nullable: true,
      description: 'The first KiB as text; null if it is empty or compressed.',
    }),
  }),
})

const Request = builder.objectRef<RequestShape>('DeliveryRequest').implement({
  description: 'The request of a delivery, made again from the event.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The URL.' }),
    headers: t.field({
      type: [HttpHeader],
      description:
        'The headers that are the same in every attempt: without `webhook-timestamp` and `webhook-signature`.',
      resolve: ({ headers }) => headers,
    }),
    body: t.exposeString('body', {
      nullable: true,
      description: 'The body; null for messages to the Message URL, which are not stored.',
    }),
  }),
})

const Attempt = builder.objectRef<AttemptShape>('DeliveryAttempt').implement({
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
    answer: t.field({
      type: Answer,
      nullable: true,
      description: 'The response; null if there was none, and for messages to the Message URL.',
      resolve: ({ answer }) => answer,
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
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the event happened, or when a manual delivery was requested.',
    }),
    request: t.field({
      type: Request,
      nullable: true,
      description: 'The request; null once the webhook is removed.',
      resolve: ({ source }, _args, context) =>
        batched(context, 'requests', source, (sources: readonly RequestSource[]) =>
          rebuildRequests(context.deps, sources),
        ),
    }),
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

/** Cost of a filtered list, in rows: it examines more deliveries than it returns. */
const FILTERED_ROWS = 1_000

builder.prismaObjectField(Webhook, 'deliveries', (t) =>
  t.field({
    type: DeliveryConnection,
    select: { id: true, agentId: true },
    description: 'Its deliveries, including pending and manual ones, newest first; kept for 7 days.',
    complexity: ({ first }) => pageCost(first),
    args: {
      ...pageArgs("this delivery's cursor"),
      status: t.arg({
        type: DeliveryStatus,
        description:
          'Only deliveries with this status. A page may then have fewer entries than requested; there may be more after `endCursor` as long as `hasNextPage` is true.',
      }),
    },
    resolve: (webhook, { status, ...page }, context, info) => {
      if (status) countRows(context, FILTERED_ROWS)
      return readPage(
        context,
        info,
        { key: formatTopicKey(webhook), ...page },
        {
          read: (webhooks, request) =>
            readDeliveries(context.deps, webhooks.map(parseTopicKey), { ...request, status }),
          edge: ({ cursor, delivery }) => ({ cursor, node: delivery }),
        },
      )
    },
  }),
)
