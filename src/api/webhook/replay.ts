import { z } from 'zod'
import { timestamp } from '../../core/rules.ts'
import { replayWebhook as replay, replayStart, resendGivenUp as resend } from '../../webhook/index.ts'
import { created, operation } from '../operation.ts'
import { count, resource, says } from '../resource.ts'
import { WEBHOOK } from './webhook.ts'

export const Replay = resource('Replay', 'What is sent again to a webhook.', {
  fields: { events: count('Number of events that are resent.') },
  example: { events: 12 },
})

const tag = 'Webhooks'
const rule = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`
const position = z
  .int(rule)
  .min(0, rule)
  .max(Number.MAX_SAFE_INTEGER, rule)
  .meta({ maximum: Number.MAX_SAFE_INTEGER })

export const replayWebhook = operation({
  name: 'replayWebhook',
  says: 'Resends every event to a webhook after a position or since a time. It receives, in order, all that are still in the log (7 days), including those from before it was added, and then continues where it was. Messages to the Message URL are skipped, because their text is not stored.',
  rest: 'POST /agents/{agentId}/webhooks/{webhookId}/replay',
  tag,
  scope: ['events', 'settings'],
  input: {
    ...WEBHOOK,
    after: says(
      position,
      "An event's id or a delivery's `cursor`: all events after it are resent. 0 resends all events. Required, unless there is `since`.",
    ).optional(),
    since: says(
      timestamp,
      'Instead of `after`: resends the events that happened at this time or later.',
    ).optional(),
  },
  example: { after: 41 },
  fails: ['agent', 'conflict'],
  output: created(Replay, 'Number of events that are resent.'),
  run: (deps, viewer, { agentId, webhookId, ...start }) =>
    replay(deps, viewer, { agentId, webhookId }, replayStart(start)),
})

export const resendGivenUp = operation({
  name: 'resendGivenUp',
  says: 'Resends the events that were given up (`expired`), of those that happened at `since` or later. They are sent in order and with retries, for another three days. Messages to the Message URL are skipped, because their text is not stored.',
  rest: 'POST /agents/{agentId}/webhooks/{webhookId}/resend',
  tag,
  scope: ['events', 'settings'],
  input: { ...WEBHOOK, since: says(timestamp, 'Only events that happened at this time or later.') },
  example: { since: '2026-11-20T00:00:00.000Z' },
  fails: ['agent', 'conflict'],
  output: created(Replay, 'Number of events that are resent.'),
  run: (deps, viewer, { agentId, webhookId, since }) =>
    resend(deps, viewer, { agentId, webhookId }, { since }),
})
