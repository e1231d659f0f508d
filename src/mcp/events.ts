import { z } from 'zod'
import { findAgent } from '../agent/index.ts'
import { type Issue, inputError } from '../core/input-error.ts'
import { uuid } from '../core/rules.ts'
import { ensureScope } from '../core/scopes.ts'
import { Channel } from '../db/generated/prisma/enums.ts'
import {
  dataSchemaOf,
  EVENT_NAMES,
  EVENT_TYPES,
  type EventType,
  type LoggedEvent,
  readEvents,
  readHead,
  readPlaceOf,
} from '../event/index.ts'
import { occurrenceOf } from '../webhook/index.ts'
import type { Viewer } from '../workspace/index.ts'
import { noSuchEvent, refusal } from './call/errors.ts'
import { inputSchemaOf } from './call/json-schema.ts'
import { readPosition } from './call/position.ts'
import type { Call } from './call/tool.ts'
import { clean, clip } from './outside-text/fence.ts'
import { labelFor, labelled } from './outside-text/label.ts'

/** The Events extension (SEP-3415): `events/list`, `events/poll`, and what all its requests share. */

const MAX_CHANNELS = Object.keys(Channel).length
const channels = z
  .array(z.enum(Channel))
  .max(MAX_CHANNELS, `must contain at most ${MAX_CHANNELS} channels`)
  .optional()
  .describe('Only these channels. Default: all.')
const ARGUMENTS = {
  agent: z.strictObject({ agentId: uuid.optional().describe('Your own id, if given.'), channels }),
  member: z.strictObject({ agentId: uuid.describe('The agent.'), channels }),
}

const DELIVERY = ['push', 'poll', 'webhook']

/** Every type of event that a log can contain, with the schemas of its arguments and its payload. */
export const listEvents = ({ kind }: Pick<Viewer, 'kind'>) =>
  EVENT_NAMES.map((name) => ({
    name,
    description: EVENT_TYPES[name].description,
    delivery: DELIVERY,
    inputSchema: inputSchemaOf(ARGUMENTS[kind]),
    payloadSchema: dataSchemaOf(name),
  }))

export const eventParams = z.looseObject({
  name: z.string().max(100),
  arguments: z.unknown().optional(),
  cursor: z.string().max(20).nullish(),
  maxAgeMs: z.number().min(0).nullish(),
})
export type EventParams = z.output<typeof eventParams>

/** The events that a request asks for. */
export interface Wanted {
  agent: { id: string; name: string; workspaceId: string }
  type: EventType
  /** Empty: all channels. */
  channels: Channel[]
}

const typeOf = (name: string): EventType => {
  if (!Object.hasOwn(EVENT_TYPES, name)) throw refusal(noSuchEvent(name))
  return name as EventType
}

/** Reads what a request asks for. Throws if it is invalid or the viewer may not read that agent's events. */
export const readWanted = async (
  { deps, viewer }: Call,
  params: Pick<EventParams, 'name' | 'arguments'>,
): Promise<Wanted> => {
  ensureScope(viewer, 'events')
  const type = typeOf(params.name)
  const given = params.arguments ?? {}
  const { data, error } = ARGUMENTS[viewer.kind].safeParse(given)
  if (error) throw inputError(error.issues as Issue[], given, 'arguments')
  const agent = await findAgent(deps, viewer, data.agentId ?? viewer.id)
  return { agent, type, channels: [...new Set(data.channels)].sort() }
}

/** Whether an event is one of those that were asked for. */
export const wants = ({ type, channels }: Pick<Wanted, 'type' | 'channels'>, event: LoggedEvent): boolean =>
  event.type === type && (channels.length === 0 || channels.includes(event.channel))

/** Where a listener begins. */
export interface Start {
  after: number
  /** Whether that is later than it asked for. */
  truncated: boolean
}

/**
 * Where a listener begins: after its cursor, or later if those events are deleted or too old for it. Without
 * a cursor it begins at the end of the log.
 */
export const startOf = async (
  { deps }: Call,
  agentId: string,
  { cursor, maxAgeMs }: Pick<EventParams, 'cursor' | 'maxAgeMs'>,
): Promise<Start> => {
  const head = await readHead(deps, agentId)
  if (cursor === null || cursor === undefined) return { after: head.lastId, truncated: false }
  const asked = readPosition(cursor, head)
  const kept = Math.max(asked, head.horizon)
  const since = new Date(Math.max(0, deps.clock.now().getTime() - (maxAgeMs ?? Number.MAX_SAFE_INTEGER)))
  const after = typeof maxAgeMs === 'number' ? await readPlaceOf(deps, agentId, kept, since) : kept
  return { after, truncated: after > asked }
}

const MAX_LINE = 500

const shown = <Text extends string | null>(text: Text): Text | string =>
  text === null ? text : clip(clean(text), MAX_LINE)

/**
 * An event in the extension's form. Its schema says which fields the sender wrote, so programs get them without
 * markers; hosts may show them to a model, so they are cleaned as all others.
 */
export const occurrence = (event: LoggedEvent, { agent }: Wanted) =>
  occurrenceOf({
    agentName: agent.name,
    ...event,
    from: shown(event.from),
    subject: shown(event.subject),
    ...(event.text === undefined ? {} : { text: clean(event.text) }),
    ...('error' in event ? { error: shown(event.error) } : {}),
  })

const MAX_POLLED = 100
const NEXT_POLL_MS = 5_000

export const pollParams = eventParams.extend({ maxEvents: z.int().min(1).nullish() })

/** The events after a cursor, at most 100. Without a cursor, no events, only the cursor to begin with. */
export const poll = async (call: Call, params: z.output<typeof pollParams>) => {
  const wanted = await readWanted(call, params)
  const { after, truncated } = await startOf(call, wanted.agent.id, params)
  const max = Math.min(params.maxEvents ?? MAX_POLLED, MAX_POLLED)
  const read = await readEvents(call.deps, wanted.agent.id, after, max + 1)
  const events = read.slice(0, max)
  const found = events.filter((event) => wants(wanted, event))
  // Of others, an event does not say whether the sender is proven to be of the team.
  const isTeams = found.every(({ channel }) => channel === 'url')
  return {
    ...labelled(found.length > 0 ? labelFor(isTeams) : null),
    events: found.map((event) => occurrence(event, wanted)),
    cursor: String(events.at(-1)?.id ?? after),
    truncated,
    hasMore: read.length > max,
    nextPollMs: NEXT_POLL_MS,
  }
}

const MAX_CLIENT_NAME = 200

export type ClientInfo = { name?: unknown; version?: unknown } | undefined

/** The client's name and version, as shown in the list of listeners. */
export const clientOf = (info: ClientInfo): string => {
  const words = [info?.name, info?.version].filter(
    (word): word is string => typeof word === 'string' && word.trim() !== '',
  )
  return (
    words
      .join(' ')
      .replace(/\p{Cc}/gu, '')
      .trim()
      .slice(0, MAX_CLIENT_NAME)
      .toWellFormed() || 'MCP client'
  )
}
