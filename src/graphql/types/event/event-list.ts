import { invalidInput } from '../../../core/errors.ts'
import { eventCursor, heardTypes, readEventPages } from '../../../event/index.ts'
import { builder } from '../../builder/builder.ts'
import { checked } from '../../builder/input.ts'
import { pageArgs, pageCost, readPage } from '../../builder/page.ts'
import { Agent } from '../agent/agent.ts'
import { Event } from './event.ts'

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
      ...pageArgs("this cursor, which is an event's id"),
      types: t.arg.stringList({ description: 'Return entries of these types; defaults to all in the log.' }),
    },
    resolve: ({ id }, args, context, info) => {
      const { types } = checked({ types: heardTypes }, args)
      return readPage(context, info, {
        ...{ key: id, ...args },
        read: (agentIds, { limit, cursor }) =>
          readEventPages(context.deps, agentIds, { limit, after: positionOf(cursor), types }),
        edge: (event) => ({ cursor: eventCursor(event), node: event }),
      })
    },
  }),
)
