import { z } from 'zod'
import { findAgent } from '../agent/permission.ts'
import { type Issue, inputError } from '../core/input-error.ts'
import { uuid } from '../core/rules.ts'
import type { Channel } from '../db/generated/prisma/enums.ts'
import { EVENT_NAMES, EVENT_TYPES, type EventType, type LoggedEvent } from '../event/event.ts'
import { readEvents, readHead, readPlaceOf } from '../event/log.ts'
import { occurrenceOf } from '../webhook/payload.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { noSuchEvent, refusal } from './errors.ts'
import { inputSchemaOf } from './json-schema.ts'
import { readPosition } from './position.ts'
import type { Call } from './tool.ts'

/** The Events extension (SEP-3415): what can be heard, and what both a poll and a subscription ask for. */

const channels = z
  .array(z.enum(['email', 'sms', 'telegram', 'url']))
  .max(4)
  .optional()
  .describe('Only these channels; default: all.')
const ARGUMENTS = {
  agent: z.strictObject({ agentId: uuid.optional().describe('Your own, if at all.'), channels }),
  member: z.strictObject({ agentId: uuid.describe('The agent.'), channels }),
}

const DELIVERY = ['push', 'poll', 'webhook']

/** Every type of event that a log can hold, with what it takes and tells. */
export const listEvents = ({ kind }: Pick<Viewer, 'kind'>) =>
  EVENT_NAMES.map((name) => ({
    name,
    description: EVENT_TYPES[name].description,
    delivery: DELIVERY,
    inputSchema: inputSchemaOf(ARGUMENTS[kind]),
    payloadSchema: EVENT_TYPES[name].dataSchema,
  }))

export const eventParams = z.looseObject({
  name: z.string().max(100),
  arguments: z.unknown(),
  cursor: z.string().max(20).nullish(),
  maxAgeMs: z.number().min(0).nullish(),
})
export type EventParams = z.output<typeof eventParams>

/** Which events of which agent are asked for. */
export interface Wanted {
  agent: { id: string; name: string; workspaceId: string }
  type: EventType
  /** Empty: all of them. */
  channels: Channel[]
}

const typeOf = (name: string): EventType => {
  if (!Object.hasOwn(EVENT_TYPES, name)) throw refusal(noSuchEvent(name))
  return name as EventType
}

/** What is asked for, by somebody who may have it. Throws what becomes of it otherwise. */
export const readWanted = async (
  { deps, viewer }: Call,
  params: Pick<EventParams, 'name' | 'arguments'>,
): Promise<Wanted> => {
  const type = typeOf(params.name)
  const given = params.arguments ?? {}
  const { data, error } = ARGUMENTS[viewer.kind].safeParse(given)
  if (error) throw inputError(error.issues as Issue[], given, 'arguments')
  const agent = await findAgent(deps, viewer, data.agentId ?? viewer.id)
  return { agent, type, channels: [...new Set(data.channels)].sort() }
}

/** Whether a listener asked for an event. */
export const wants = ({ type, channels }: Pick<Wanted, 'type' | 'channels'>, event: LoggedEvent): boolean =>
  event.type === type && (channels.length === 0 || channels.includes(event.channel))

/** Where it begins, and whether that is later than was asked for. */
export interface Start {
  after: number
  truncated: boolean
}

/**
 * Where a listener begins: behind its cursor, as far as that is kept and young enough; without one from
 * `now`, or the log's end.
 */
export const startOf = async (
  { deps }: Call,
  agentId: string,
  { cursor, maxAgeMs }: Pick<EventParams, 'cursor' | 'maxAgeMs'>,
  now?: number,
): Promise<Start> => {
  const head = await readHead(deps, agentId)
  if (cursor === null || cursor === undefined) return { after: now ?? head.lastId, truncated: false }
  const asked = readPosition(cursor, head)
  const kept = Math.max(asked, head.horizon)
  const since = new Date(Math.max(0, deps.clock.now().getTime() - (maxAgeMs ?? Number.MAX_SAFE_INTEGER)))
  const after = typeof maxAgeMs === 'number' ? await readPlaceOf(deps, agentId, kept, since) : kept
  return { after, truncated: after > asked }
}

/** An event as the extension tells it. */
export const tell = (event: LoggedEvent, { agent }: Wanted) =>
  occurrenceOf({ agentName: agent.name, ...event })

const MAX_POLLED = 100
const NEXT_POLL_MS = 5_000

export const pollParams = eventParams.extend({ maxEvents: z.int().min(1).nullish() })

/** What happened since a cursor: at most a hundred at a time. Without a cursor nothing but where to begin. */
export const poll = async (call: Call, params: z.output<typeof pollParams>) => {
  const wanted = await readWanted(call, params)
  const { after, truncated } = await startOf(call, wanted.agent.id, params)
  const most = Math.min(params.maxEvents ?? MAX_POLLED, MAX_POLLED)
  const read = await readEvents(call.deps, wanted.agent.id, after, most + 1)
  const events = read.slice(0, most)
  return {
    events: events.filter((event) => wants(wanted, event)).map((event) => tell(event, wanted)),
    cursor: String(events.at(-1)?.id ?? after),
    truncated,
    hasMore: read.length > most,
    nextPollMs: NEXT_POLL_MS,
  }
}

export type ClientInfo = { name?: unknown; version?: unknown } | undefined

/** What a client calls itself, as listeners are listed. */
export const clientOf = (info: ClientInfo): string => {
  const words = [info?.name, info?.version].filter(
    (word): word is string => typeof word === 'string' && word.trim() !== '',
  )
  return (
    words
      .join(' ')
      .replace(/\p{Cc}/gu, '')
      .toWellFormed()
      .trim() || 'MCP client'
  ).slice(0, 200)
}
