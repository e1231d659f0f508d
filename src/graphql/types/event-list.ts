import { invalidInput } from '../../core/errors.ts'
import { eventCursor, readEventPages } from '../../event/log.ts'
import { builder } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import { countRows } from '../execution/limits.ts'
import { given } from '../input.ts'
import { checkFirst, pageCost, pageInfoOf } from '../page.ts'
import { Agent } from './agent.ts'
import { Event } from './event.ts'
import { pathOf } from './message-list.ts'

const EventConnection = builder.connectionObject(
  { type: Event, name: 'EventConnection', description: 'A page of events, oldest first.' },
  { name: 'EventEdge', description: 'An event and its cursor.' },
)

/** An event's cursor is its id. */
const positionOf = (cursor: string | null | undefined): number => {
  if (cursor === null || cursor === undefined) return 0
  const position = /^\d{1,16}$/.test(cursor) ? Number(cursor) : Number.NaN
  if (!Number.isSafeInteger(position)) throw invalidInput('after', "must be an event's id")
  return position
}

builder.prismaObjectField(Agent, 'events', (t) =>
  t.field({
    type: EventConnection,
    description:
      "The agent's event log, oldest first; kept for 7 days. Message URL events have no text here, because the service does not store it.",
    complexity: ({ first }) => pageCost(first),
    args: {
      first: t.arg.int({ description: 'Number of entries to return: 1 to 100; defaults to 20.' }),
      after: t.arg.string({ description: "Return entries after this cursor, which is an event's id." }),
    },
    resolve: async ({ id }, args, context, info) => {
      const request = { limit: checkFirst(args.first), after: positionOf(args.after) }
      countRows(context, request.limit)
      const read = (agentIds: readonly string[]) => readEventPages(context.deps, agentIds, request)
      const page = await batched(context, JSON.stringify([pathOf(info), request]), id, read)
      const edges = page.items.map((event) => ({ cursor: eventCursor(event), node: event }))
      return {
        edges,
        pageInfo: pageInfoOf(edges, page.nextCursor !== null, {
          first: request.limit,
          after: given(args.after),
        }),
      }
    },
  }),
)
