import { invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { LoggedEvent } from '../../event/event.ts'
import { batched } from '../batch.ts'
import { builder } from '../builder.ts'
import { countRows } from '../limits.ts'
import { Agent } from './agent.ts'
import { Event } from './event.ts'
import { pageInfoOf, pathOf } from './message-list.ts'
import { checkFirst, pageCost } from './message-page.ts'

const EventConnection = builder.connectionObject(
  { type: Event, name: 'EventConnection', description: 'A page of events, oldest first.' },
  { name: 'EventEdge', description: 'An event and its place in the log.' },
)

/** An event's cursor is its id. */
const positionOf = (cursor: string | null | undefined): number => {
  if (cursor === null || cursor === undefined) return 0
  const position = /^\d{1,16}$/.test(cursor) ? Number(cursor) : Number.NaN
  if (!Number.isSafeInteger(position)) throw invalidInput('after', "must be an event's id")
  return position
}

/** The next events of each of these agents: one page and one more, in one statement however many agents it is. */
const readEventPages = async ({ pool }: Db, agentIds: readonly string[], after: number, most: number): Promise<LoggedEvent[][]> => {
  const { rows } = await pool.query<LoggedEvent>({
    name: 'event pages',
    text: `select e.* from unnest($1::uuid[]) as a(id) cross join lateral (
             select agent_id as "agentId", id, type, channel, message_id as "messageId", created_at as "createdAt", sender, "from", subject
               from event where agent_id = a.id and id > $2 order by id limit $3
           ) e`,
    values: [agentIds, after, most],
  })
  const pages = new Map(agentIds.map((agentId) => [agentId, [] as LoggedEvent[]]))
  for (const event of rows) pages.get(event.agentId)?.push(event)
  return agentIds.map((agentId) => pages.get(agentId) ?? [])
}

builder.prismaObjectField(Agent, 'events', (t) =>
  t.field({
    type: EventConnection,
    description:
      "The agent's event log, oldest first; kept for 7 days. Message URL events have no text here: the service keeps no copy of it.",
    complexity: ({ first }) => pageCost(first),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "An event's cursor, which is its id: the page begins behind it." }),
    },
    resolve: async ({ id }, args, context, info) => {
      const first = checkFirst(args.first)
      countRows(context, first)
      const after = positionOf(args.after)
      const events = await batched(context, JSON.stringify([pathOf(info), after, first]), id, (agentIds: readonly string[]) =>
        readEventPages(context.deps, agentIds, after, first + 1),
      )
      const edges = events.slice(0, first).map((event) => ({ cursor: String(event.id), node: event }))
      return { edges, pageInfo: pageInfoOf(edges, events.length > first, args.after ? { first, after: args.after } : { first }) }
    },
  }),
)
