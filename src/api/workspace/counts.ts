import { z } from 'zod'
import { countPerDay as countDays } from '../../agent/index.ts'
import { uuid } from '../../core/rules.ts'
import { Refusal } from '../choices.ts'
import { list, operation } from '../operation.ts'
import { count, detail, resource, says, several } from '../resource.ts'

const RefusalCount = detail('RefusalCount', 'How many messages were refused for a reason.', {
  reason: says(Refusal, 'The reason.'),
  count: count('The number of messages.'),
})

const date = z.string().max(10, 'must be a date as YYYY-MM-DD').meta({ format: 'date' })

export const DayCounts = resource('DayCounts', 'What happened on one day (UTC).', {
  fields: {
    day: says(z.string().meta({ format: 'date' }), 'The day (UTC), as YYYY-MM-DD.'),
    received: count('Messages received. One that was released counts for the day on which it arrived.'),
    refused: count('Messages refused.'),
    refusals: several(RefusalCount, 'The refused messages by reason; only reasons that occurred.'),
    sent: count('Messages that the receiving side accepted.'),
    failed: count(
      'Messages that could not be sent or delivered. One that bounced later also counts as sent.',
    ),
    bounced: count('Recipients whose email came back after it was sent, on the day on which it did.'),
    reported: count('Recipients who reported an email as spam, on the day on which they did.'),
    deliveriesAccepted: count('Deliveries that webhooks accepted.'),
    deliveriesFailed: count('Attempts to deliver to webhooks that failed.'),
  },
  example: {
    day: '2026-11-20',
    received: 41,
    refused: 3,
    refusals: [{ reason: 'spam', count: 3 }],
    sent: 17,
    failed: 1,
    bounced: 1,
    reported: 0,
    deliveriesAccepted: 41,
    deliveriesFailed: 2,
  },
})

/** The days that are wanted. */
export const DAYS = {
  from: says(date, 'The first day (UTC), as YYYY-MM-DD; by default 29 days before `to`.').optional(),
  to: says(date, 'The last day (UTC), as YYYY-MM-DD; by default today.').optional(),
}

const HOW = 'Every day of the range, oldest first. Kept for 400 days.'

export const countPerDay = operation({
  name: 'countPerDay',
  says: `Counts what happened each day in the workspace. ${HOW} Members only.`,
  rest: 'GET /counts',
  tag: 'Workspace',
  scope: 'messages:read',
  input: DAYS,
  fails: ['input', 'forbidden'],
  output: list(DayCounts, 'The days.'),
  run: (deps, viewer, days) => countDays(deps, viewer, days),
})

export const countAgentPerDay = operation({
  name: 'countAgentPerDay',
  says: `Counts what happened each day to an agent. ${HOW}`,
  rest: 'GET /agents/{agentId}/counts',
  tag: 'Agents',
  scope: 'messages:read',
  input: { agentId: says(uuid, 'The agent.'), ...DAYS },
  fails: ['agent'],
  output: list(DayCounts, 'The days.'),
  run: (deps, viewer, request) => countDays(deps, viewer, request),
})
