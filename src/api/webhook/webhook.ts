import { z } from 'zod'
import { uuid, webhookName, webhookUrl } from '../../core/rules.ts'
import { EVENT_NAMES, heardTypes } from '../../event/index.ts'
import {
  addWebhook as add,
  listWebhooks as list,
  removeWebhook as remove,
  rotateWebhook as rotate,
  updateWebhook as update,
} from '../../webhook/index.ts'
import { ID, TIME } from '../example.ts'
import { added, created, list as listOf, nothing, one, operation } from '../operation.ts'
import { count, id, resource, says, text, time } from '../resource.ts'

const EXAMPLE = {
  id: ID,
  url: 'https://example.com/hooks/agent',
  name: 'CRM',
  events: EVENT_NAMES.slice(0, 1),
  headers: { Authorization: '…9f2c' },
  body: { text: 'Mail from {{data.from}}' },
  createdAt: TIME,
  pausedAt: null,
  error: null,
  attempts: 0,
  retryAt: null,
  lastDeliveredAt: TIME,
}

const FIELDS = {
  id: id('Unique identifier.'),
  url: text('The URL to which events are sent.'),
  name: text('Its name; null if it has none.').nullable(),
  events: says(z.array(z.enum(EVENT_NAMES)), 'Types of the events that it receives.'),
  headers: says(
    z.record(z.string(), z.string()),
    'Additional headers of its requests. Their values are shown as `…` and the last 4 characters.',
  ),
  body: says(
    z.record(z.string(), z.unknown()),
    'The template of the body of its requests; null if the body is the event.',
  ).nullable(),
  createdAt: time('When it was added. It receives the events after that.'),
  pausedAt: time('Since when it is paused; null while it is not.').nullable(),
  error: text('The error of the last attempt to deliver the pending event.').nullable(),
  attempts: count('Number of failed attempts to deliver the pending event.'),
  retryAt: time('When delivery of the pending event is retried.').nullable(),
  lastDeliveredAt: time('When it last accepted an event.').nullable(),
}

export const Webhook = resource(
  'Webhook',
  "A server that receives the agent's events in order, as signed requests.",
  { fields: FIELDS, example: EXAMPLE },
)

export const NewWebhook = resource('NewWebhook', 'A webhook with its signing secret.', {
  base: Webhook,
  fields: {
    ...FIELDS,
    secret: text(
      'The signing secret (Standard Webhooks), with which receivers verify deliveries: whsec_ followed by base64.',
      { pattern: '^whsec_' },
    ),
  },
  example: { ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
})

const tag = 'Webhooks'
const agentId = says(uuid, 'The agent.')
const FORMAT = {
  headers: says(
    z.record(z.string(), z.string()),
    'Additional headers of its requests, at most 10. They replace all, and null removes them. A value as it is shown keeps the one that is set. `webhook-id`, `webhook-timestamp`, `webhook-signature`, `host`, `user-agent`, `content-…` and those of a connection are set by the service.',
  )
    .nullable()
    .optional(),
  body: says(
    z.record(z.string(), z.unknown()).or(z.string()),
    'A template of the body: a JSON object of at most 8 KB. REST also takes its text. In it a string `{{data.messageId}}` becomes that value of the event, and in "Mail from {{data.from}}" the path becomes its text. Null: the body is the event.',
  )
    .nullable()
    .optional(),
}
/** What names a webhook. */
export const WEBHOOK = { agentId, webhookId: says(uuid, 'The webhook.') }

export const addWebhook = operation({
  name: 'addWebhook',
  says: 'Adds a webhook. The URL must use https and be on the public internet. At most 10 webhooks per agent, and 10 requests of a token that wait for DNS at a time. Adding the same URL again returns the existing webhook and secret, unchanged. The webhook receives a `WebhookPayload` for each event of its types that the `eventTypes` of the agent name.',
  rest: 'POST /agents/{agentId}/webhooks',
  tag,
  scope: ['events', 'settings'],
  input: {
    agentId,
    url: says(webhookUrl, 'The URL to which events are sent: https, on the public internet.'),
    name: says(webhookName, 'Its name.').optional(),
    events: says(
      heardTypes,
      `Types of the events that it receives, of: ${EVENT_NAMES.join(', ')}; defaults to message.received alone. The log contains those that the agent's eventTypes name.`,
    ).optional(),
    ...FORMAT,
  },
  example: { url: 'https://example.com/hooks/agent', name: 'CRM' },
  fails: ['agent', 'plan', 'conflict'],
  output: added(NewWebhook, 'The webhook with its signing secret.'),
  run: async (deps, viewer, { agentId, ...given }) => {
    const { webhook, secret, created } = await add(deps, viewer, agentId, given)
    return { ...webhook, secret, created }
  },
})

export const listWebhooks = operation({
  name: 'listWebhooks',
  says: "Lists the agent's webhooks, without their secrets.",
  rest: 'GET /agents/{agentId}/webhooks',
  tag,
  scope: 'events',
  input: { agentId },
  fails: ['agent'],
  output: listOf(Webhook, 'Oldest first.'),
  run: (deps, viewer, { agentId }) => list(deps, viewer, agentId),
})

export const updateWebhook = operation({
  name: 'updateWebhook',
  says: "Changes a webhook's name, the types of the events that it receives, its headers or its body, or pauses or resumes it. New types, headers and bodies apply to all events that it has not received yet. While a webhook is paused, nothing is sent to it, its events wait, and it does not receive messages to the Message URL. When it is resumed, its pending events get three days again. An event that is being delivered when its types change or it is paused may arrive twice.",
  rest: 'PATCH /agents/{agentId}/webhooks/{webhookId}',
  tag,
  scope: ['events', 'settings'],
  input: {
    ...WEBHOOK,
    name: says(webhookName, 'Its name. Null removes it.').nullable().optional(),
    paused: says(z.boolean(), 'Whether nothing is sent to it until it is resumed.').optional(),
    events: says(heardTypes, 'Types of the events that it receives.').optional(),
    ...FORMAT,
  },
  example: { name: 'CRM', paused: true },
  fails: ['agent'],
  output: one(Webhook, 'The updated webhook.'),
  run: (deps, viewer, { agentId, webhookId, ...changes }) =>
    update(deps, viewer, { agentId, webhookId }, changes),
})

export const rotateWebhook = operation({
  name: 'rotateWebhook',
  says: "Replaces a webhook's signing secret. For 24 hours, requests are also signed with the previous secret: `webhook-signature` then contains two signatures, separated by a space. Rotating again within that time drops the oldest secret.",
  rest: 'POST /agents/{agentId}/webhooks/{webhookId}/rotate',
  tag,
  scope: ['events', 'settings'],
  input: WEBHOOK,
  fails: ['agent', 'conflict'],
  output: created(NewWebhook, 'The webhook with its new signing secret.'),
  run: async (deps, viewer, { agentId, webhookId }) => {
    const { webhook, secret } = await rotate(deps, viewer, agentId, webhookId)
    return { ...webhook, secret }
  },
})

export const removeWebhook = operation({
  name: 'removeWebhook',
  says: 'Removes a webhook and its deliveries.',
  rest: 'DELETE /agents/{agentId}/webhooks/{webhookId}',
  tag,
  scope: ['events', 'settings'],
  input: WEBHOOK,
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, { agentId, webhookId }) => remove(deps, viewer, agentId, webhookId),
})
