import { sentenceOf } from '../../../api/resource.ts'
import {
  ANSWER,
  ATTEMPT,
  COLUMNS,
  Delivery as DELIVERY,
  HEADER,
  named,
  REQUEST,
} from '../../../api/webhook/delivery.ts'
import {
  type Attempt as AttemptShape,
  type Delivery as DeliveryShape,
  formatTopicKey,
  parseTopicKey,
  type DeliveryRequest as RequestShape,
  type RequestSource,
  readDeliveries,
  rebuildRequests,
} from '../../../webhook/index.ts'
import { builder } from '../../builder/builder.ts'
import { pageArgs, pageCost, readPage } from '../../builder/page.ts'
import { exposed } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import { countRows } from '../../context/limits.ts'
import { DeliveryStatus } from '../enums.ts'
import { Webhook } from './webhook.ts'

const HttpHeader = builder.objectRef<ReturnType<typeof named>[number]>('HttpHeader').implement({
  description: 'A header of an HTTP request or response.',
  fields: (t) => exposed(t, HEADER),
})

const Answer = builder.objectRef<NonNullable<AttemptShape['answer']>>('DeliveryAnswer').implement({
  description: 'What a webhook responded. It is not to be trusted: show it as text only.',
  fields: (t) => ({
    headers: t.field({
      type: [HttpHeader],
      description: sentenceOf(ANSWER.headers),
      resolve: ({ headers }) => named(headers),
    }),
    ...exposed(t, { body: ANSWER.body }),
  }),
})

const Request = builder.objectRef<RequestShape>('DeliveryRequest').implement({
  description: 'The request of a delivery, made again from the event.',
  fields: (t) => ({
    ...exposed(t, { url: REQUEST.url, body: REQUEST.body }),
    headers: t.field({
      type: [HttpHeader],
      description: sentenceOf(REQUEST.headers),
      resolve: ({ headers }) => named(headers),
    }),
  }),
})

const { at, ...outcome } = ATTEMPT

const Attempt = builder.objectRef<AttemptShape>('DeliveryAttempt').implement({
  description: 'One request to a webhook.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: sentenceOf(at), resolve: (one) => new Date(one.at) }),
    ...exposed(t, outcome),
    answer: t.field({
      type: Answer,
      nullable: true,
      description: 'The response; null if there was none, and for messages to the Message URL.',
      resolve: ({ answer }) => answer,
    }),
  }),
})

export const Delivery = builder.objectRef<DeliveryShape>('Delivery').implement({
  description: DELIVERY.sentence,
  fields: (t) => ({
    ...exposed(t, COLUMNS),
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
      description: sentenceOf(DELIVERY.fields.attempts),
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
      return readPage(context, info, {
        ...{ key: formatTopicKey(webhook), ...page },
        read: (webhooks, request) =>
          readDeliveries(context.deps, webhooks.map(parseTopicKey), { ...request, status }),
        edge: ({ cursor, delivery }) => ({ cursor, node: delivery }),
      })
    },
  }),
)
