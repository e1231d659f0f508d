import { z } from 'zod'
import { uuid } from '../../core/rules.ts'
import {
  listDeliveries as list,
  readDelivery as read,
  resendDelivery as resend,
  testWebhook as test,
  unblockWebhook as unblock,
  withRequest,
} from '../../webhook/index.ts'
import { DeliveryStatus } from '../choices.ts'
import { ID, OTHER, TIME } from '../example.ts'
import { created, one, operation, PAGE, page, pageOf } from '../operation.ts'
import { count, id, resource, says, text, time } from '../resource.ts'
import { WEBHOOK, Webhook } from './webhook.ts'

const EXAMPLE = {
  id: OTHER,
  eventId: `evt_${ID.replaceAll('-', '')}_42`,
  status: 'delivered',
  createdAt: TIME,
  attempts: [{ at: TIME, status: 204, ms: 38 }],
}

/** What a delivery shows besides its attempts. */
export const COLUMNS = {
  id: id('Unique identifier.'),
  eventId: text("The event's identifier, as sent in `webhook-id` and `eventId`."),
  status: says(DeliveryStatus, 'The current status.'),
  createdAt: time('When the event happened, or when a manual delivery was requested.'),
}

/** What an attempt shows besides the response. */
export const ATTEMPT = {
  at: time('When it began.'),
  status: says(z.int(), 'The HTTP status of the response, if there was one.').optional(),
  error: text('Why there was no response, or why the response was not accepted.').optional(),
  ms: count('How long it took, in milliseconds.'),
}

const ATTEMPTS = 'The requests made, oldest first.'

export const Delivery = resource(
  'Delivery',
  'A delivery of an event to a webhook. Records are kept for 7 days.',
  { fields: { ...COLUMNS, attempts: says(z.array(z.object(ATTEMPT)), ATTEMPTS) }, example: EXAMPLE },
)

export const HEADER = {
  name: text('Its name, in lower case.'),
  value: text('Its value.'),
}
const headers = z.array(z.object(HEADER))

export const REQUEST = {
  url: text('The URL.'),
  headers: says(
    headers,
    'The headers that are the same in every attempt: without `webhook-timestamp` and `webhook-signature`, and with masked values of those that the webhook adds.',
  ),
  body: text(
    'The body, made by the template if the webhook has one; null for messages to the Message URL, which are not stored.',
  ).nullable(),
}

export const ANSWER = {
  headers: says(headers.meta({ maxItems: 20 }), 'At most 20 headers, without cookies and credentials.'),
  body: text('The first KiB as text; null if it is empty or compressed.').nullable(),
}

/** What is shown of an attempt with its response. */
const ANSWERED = {
  ...ATTEMPT,
  answer: says(
    z.object(ANSWER),
    "The webhook's response, which is not to be trusted: show it as text only. Not for messages to the Message URL.",
  ).optional(),
}

const DeliveryDetails = resource('DeliveryDetails', 'A delivery with what was sent and what was answered.', {
  fields: {
    ...COLUMNS,
    request: says(
      z.object(REQUEST),
      "The request, made again from the event, with the webhook's present headers and body.",
    ),
    attempts: says(z.array(z.object(ANSWERED)), ATTEMPTS),
  },
  example: {
    ...EXAMPLE,
    request: {
      url: 'https://example.com/hooks/agent',
      headers: [{ name: 'content-type', value: 'application/json' }],
      body: '{"eventId":"…"}',
    },
    attempts: [
      {
        ...EXAMPLE.attempts[0],
        answer: { headers: [{ name: 'content-type', value: 'text/plain' }], body: 'ok' },
      },
    ],
  },
})

const tag = 'Webhooks'
const ref = { ...WEBHOOK, deliveryId: says(uuid, 'The delivery.') }

/** Headers are stored as pairs. */
export const named = (headers: readonly [string, string][]) =>
  headers.map(([name, value]) => ({ name, value }))

const shown = ({ request, delivery }: Awaited<ReturnType<typeof read>>) => ({
  ...delivery,
  request: { ...request, headers: named(request.headers) },
})

export const listDeliveries = operation({
  name: 'listDeliveries',
  says: "Lists a webhook's deliveries, including pending and manual ones. With `status`, a page may have fewer entries than requested, even none. There may be more as long as `nextCursor` is not null.",
  rest: 'GET /agents/{agentId}/webhooks/{webhookId}/deliveries',
  tag,
  scope: 'events',
  input: {
    ...WEBHOOK,
    status: says(DeliveryStatus, 'Only deliveries with this status.').optional(),
    ...PAGE,
  },
  fails: ['agent'],
  output: page(Delivery, 'Newest first; kept for 7 days.'),
  run: (deps, viewer, { agentId, webhookId, status, ...given }) =>
    list(deps, viewer, { agentId, webhookId }, { status, ...pageOf(given) }),
})

export const readDelivery = operation({
  name: 'readDelivery',
  says: 'Returns a delivery with its request and the responses.',
  rest: 'GET /agents/{agentId}/webhooks/{webhookId}/deliveries/{deliveryId}',
  tag,
  scope: 'events',
  input: ref,
  fails: ['agent'],
  output: one(DeliveryDetails, 'The delivery.'),
  run: async (deps, viewer, given) => {
    const delivery = shown(await read(deps, viewer, given))
    const attempts = delivery.attempts.map(({ answer, ...attempt }) => ({
      ...attempt,
      answer: answer && { ...answer, headers: named(answer.headers) },
    }))
    return { ...delivery, attempts }
  },
})

export const testWebhook = operation({
  name: 'testWebhook',
  says: 'Sends a test delivery to a webhook. It posts `{"eventId": "test_…", "name": "webhook.test", "timestamp", "data": {"agent": {"id", "name"}, "webhook": {"id"}}}` to this webhook only, signed like every delivery and attempted once, between two events and without affecting them. With a template, the body is made from this as from an event, of which the test has no `message`. The result is in the list of deliveries.',
  rest: 'POST /agents/{agentId}/webhooks/{webhookId}/test',
  tag,
  scope: ['events', 'settings'],
  input: WEBHOOK,
  fails: ['agent', 'conflict'],
  output: created(DeliveryDetails, 'The pending delivery, with its request.'),
  run: async (deps, viewer, { agentId, webhookId }) =>
    shown(await withRequest(deps, await test(deps, viewer, agentId, webhookId))),
})

export const resendDelivery = operation({
  name: 'resendDelivery',
  says: 'Resends the event of a delivery. The same body is sent with the same `webhook-id` immediately, as a manual delivery with a record of its own, which is attempted once. `conflict` while the event is still pending, for test deliveries, and for events that are no longer stored: messages to the Message URL once they were delivered, any event after 7 days.',
  rest: 'POST /agents/{agentId}/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
  tag,
  scope: ['events', 'settings'],
  input: ref,
  fails: ['agent', 'conflict'],
  output: created(Delivery, 'The new, pending delivery.'),
  run: (deps, viewer, delivery) => resend(deps, viewer, delivery),
})

export const unblockWebhook = operation({
  name: 'unblockWebhook',
  says: 'Ends the wait of a webhook for the next attempt of the delivery that all others wait for. It is the oldest delivery with the status `pending`, and is sent now or skipped; the later ones follow. `conflict` if no other waits for it any more, and while the webhook is paused.',
  rest: 'POST /agents/{agentId}/webhooks/{webhookId}/deliveries/{deliveryId}/unblock',
  tag,
  scope: ['events', 'settings'],
  input: {
    ...ref,
    deliveryId: says(uuid, 'The delivery that all others wait for.'),
    skip: says(
      z.boolean(),
      '`true`: it is skipped, and the webhook never receives it; `false`: it is sent again now.',
    ),
  },
  example: { skip: false },
  fails: ['agent', 'conflict'],
  output: one(Webhook, 'The webhook.'),
  run: (deps, viewer, given) => unblock(deps, viewer, given),
})
