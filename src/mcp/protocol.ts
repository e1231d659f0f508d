import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  ProtocolError,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { AppError } from '../core/errors.ts'
import type { Instructors } from '../db/generated/prisma/enums.ts'
import { eventError, inSepCodes, type RpcError, refusal } from './call/errors.ts'
import type { Call } from './call/tool.ts'
import { type ClientInfo, eventParams, listEvents, poll, pollParams } from './events.ts'
import { INFO } from './info.ts'
import { instructionsFor } from './instructions.ts'
import type { Push, Pushes } from './push.ts'
import { INBOX_TEMPLATES, listInboxes, readInbox } from './resources.ts'
import { getSkill, listSkills, readSkill, SKILLS, skillParams } from './skills.ts'
import { subscribe, subscribeParams, unsubscribe, unsubscribeParams } from './subscriptions.ts'
import { callTool, describeTools } from './tools.ts'

/** A request while the SDK handles it: who asks, and the stream that it opened, if any. */
export interface Exchange {
  call: Call
  pushes: Pushes
  requestId: string
  method: string
  push?: Push
  /** Who may instruct the agent, if the request asks for the instructions. */
  instructors?: Instructors
}

const listParams = z.looseObject({})
const EVENTS = 'io.modelcontextprotocol/events'

const HOUR_MS = 3_600_000
/** What a client may do with a list that never changes. */
export const LISTS = { ttlMs: HOUR_MS, cacheScope: 'private' } as const
const NOW = { ttlMs: 0, cacheScope: 'private' } as const
const cacheHints = {
  'tools/list': LISTS,
  'server/discover': LISTS,
  'resources/list': NOW,
  'resources/templates/list': LISTS,
  'resources/read': NOW,
}

/** Some clients look for the capability of events, others for the extension. */
const BASE = {
  tools: {},
  resources: {},
  events: {},
  extensions: { [EVENTS]: {}, [SKILLS]: {} },
}
/** Only clients of 2026 listen for changes of resources. */
const MODERN = { ...BASE, resources: { subscribe: true } }

/** Turns what an operation throws into an error of the Events extension, and logs unexpected errors. */
const withErrors = async <Result>(
  { call, requestId }: Exchange,
  method: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const failure = eventError(error)
    if (!(error instanceof AppError))
      call.deps.log.error({ err: error, requestId, method }, 'a request failed')
    throw refusal(failure)
  }
}

/** Calls a tool for a request. Returns null if there is no such tool. */
export const callFor = ({ call, requestId }: Exchange, name: string, given: unknown) => {
  const { log, metrics } = call.deps
  return callTool(name, call, given, {
    log,
    requestId,
    count: (outcome, tool, seconds) => {
      metrics?.count('toolCalls', outcome)
      metrics?.observe('toolCalls', tool, seconds)
    },
  })
}

const addTools = (server: Server, exchange: Exchange): void => {
  const { call } = exchange
  server.setRequestHandler('tools/list', async () => ({ tools: describeTools(call.viewer) }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const result = await callFor(exchange, params.name, params.arguments)
    if (result) return result
    throw new ProtocolError(-32602, `There is no tool ${params.name.slice(0, 100)}.`)
  })
}

const addResources = (server: Server, exchange: Exchange): void => {
  server.setRequestHandler('resources/list', () =>
    withErrors(exchange, 'resources/list', () => listInboxes(exchange.call)),
  )
  server.setRequestHandler('resources/templates/list', async () => INBOX_TEMPLATES)
  server.setRequestHandler('resources/read', ({ params }) =>
    withErrors(
      exchange,
      'resources/read',
      async () => readSkill(params.uri) ?? readInbox(exchange.call, params.uri),
    ),
  )
}

/** Whether the client follows the extension's specification; the others know the codes that came before it. */
const declaresEvents = (envelope: Record<string, unknown> | undefined): boolean => {
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { extensions?: object } | undefined
  return Object.hasOwn(Object(capabilities?.extensions), EVENTS)
}

const addEvents = (server: Server, exchange: Exchange): void => {
  const add = <Params extends z.ZodType>(
    method: string,
    params: Params,
    work: (call: Call, params: z.output<Params>, ctx: ServerContext) => Promise<object>,
  ): void =>
    server.setRequestHandler(method, { params }, (given, ctx) =>
      withErrors(exchange, method, async () => ({
        ...(await work(exchange.call, given as z.output<Params>, ctx)),
      })).catch((error: ProtocolError) => {
        throw declaresEvents(ctx.mcpReq.envelope) ? refusal(inSepCodes(error as RpcError)) : error
      }),
    )
  add('events/list', listParams, async ({ viewer }) => ({ events: listEvents(viewer) }))
  add('events/poll', pollParams, poll)
  add('events/subscribe', subscribeParams, subscribe)
  add('events/unsubscribe', unsubscribeParams, unsubscribe)
  add('events/stream', eventParams, async (call, params, ctx) => {
    const client = (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[
      CLIENT_INFO_META_KEY
    ] as ClientInfo
    const codes = declaresEvents(ctx.mcpReq.envelope) ? inSepCodes : (error: RpcError) => error
    exchange.push = await exchange.pushes.open(call, params, { id: ctx.mcpReq.id, client, codes })
    return {}
  })
}

const addSkills = (server: Server): void => {
  server.setRequestHandler('skills/list', { params: listParams }, async () => ({ ...listSkills(), ...LISTS }))
  server.setRequestHandler('skills/get', { params: skillParams }, async ({ uri }) => ({
    ...getSkill(uri),
    ...LISTS,
  }))
}

/** The SDK's server for one request. */
export const serverFor = (era: 'modern' | 'legacy', exchange: Exchange): Server => {
  const modern = era === 'modern'
  const server = new Server(INFO, {
    capabilities: (modern ? MODERN : BASE) as ServerCapabilities,
    instructions: instructionsFor(exchange.instructors ?? 'members'),
    cacheHints,
  })
  // Each request has its own server, which needs only the handlers that this request can call.
  const [part] = exchange.method.split('/')
  if (part === 'tools') addTools(server, exchange)
  if (part === 'resources') addResources(server, exchange)
  if (part === 'events') addEvents(server, exchange)
  if (part === 'skills') addSkills(server)
  return server
}
