import { countPerDay } from '../../agent/counts.ts'
import type { DayCounts as DayCountsShape } from '../../workspace/day-counts.ts'
import { builder } from '../builder.ts'
import { countRows } from '../execution/limits.ts'
import { Refusal } from './enums.ts'

const RefusalCount = builder.objectRef<DayCountsShape['refusals'][number]>('RefusalCount').implement({
  description: 'How many messages were refused for a reason.',
  fields: (t) => ({
    reason: t.expose('reason', { type: Refusal, description: 'The reason.' }),
    count: t.exposeInt('count', { description: 'The number of messages.' }),
  }),
})

const DayCounts = builder.objectRef<DayCountsShape>('DayCounts').implement({
  description: 'What happened on one day (UTC).',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day, as YYYY-MM-DD.' }),
    received: t.exposeInt('received', {
      description: 'Messages received. One that was released counts for the day on which it arrived.',
    }),
    refused: t.exposeInt('refused', { description: 'Messages refused.' }),
    refusals: t.field({
      type: [RefusalCount],
      description: 'The refused messages by reason; only reasons that occurred.',
      resolve: ({ refusals }) => refusals,
    }),
    sent: t.exposeInt('sent', { description: 'Messages that the receiving side accepted.' }),
    failed: t.exposeInt('failed', {
      description:
        'Messages that could not be sent or delivered. One that bounced later also counts as sent.',
    }),
    bounced: t.exposeInt('bounced', {
      description: 'Recipients whose email came back after it was sent, on the day on which it did.',
    }),
    reported: t.exposeInt('reported', {
      description: 'Recipients who reported an email as spam, on the day on which they did.',
    }),
    deliveriesAccepted: t.exposeInt('deliveriesAccepted', {
      description: 'Deliveries that webhooks accepted.',
    }),
    deliveriesFailed: t.exposeInt('deliveriesFailed', {
      description: 'Attempts to deliver to webhooks that failed.',
    }),
  }),
})

builder.queryField('counts', (t) =>
  t.field({
    type: [DayCounts],
    description:
      'What happened on each day of a range, oldest first, of one agent or, for members, of the whole workspace. Kept for 400 days.',
    complexity: 10,
    args: {
      from: t.arg.string({ description: 'The first day, as YYYY-MM-DD; by default 29 days before `to`.' }),
      to: t.arg.string({ description: 'The last day, as YYYY-MM-DD; by default today (UTC).' }),
      agentId: t.arg({ type: 'UUID', description: 'The agent; left out for all agents (members only).' }),
    },
    resolve: async (_root, request, context) => {
      const days = await countPerDay(context.deps, context.viewer, request)
      countRows(context, days.length)
      return days
    },
  }),
)
