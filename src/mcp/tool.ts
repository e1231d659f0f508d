import { z } from 'zod'
import type { Places } from '../core/places.ts'
import { uuid } from '../core/rules.ts'
import type { Viewer } from '../workspace/viewer.ts'
import type { McpDeps } from './deps.ts'
import type { Fence } from './fence.ts'

/** A request of a client, as tools and events see it. */
export interface Call {
  deps: McpDeps
  viewer: Viewer
  /** The calls that wait. */
  waits: Places
  /** A signal that aborts when nobody waits for the answer any more. */
  gone(): AbortSignal
}

/** A call of a tool. */
export interface ToolCall extends Call {
  /** The agent that it is about: the token's own, or the one that a member names. */
  agentId: string
  fence: Fence
}

/** What a model is told of what a tool does to the world. */
export interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

const hints = (
  readOnlyHint: boolean,
  destructiveHint: boolean,
  idempotentHint: boolean,
  openWorldHint: boolean,
): Hints => ({
  readOnlyHint,
  destructiveHint,
  idempotentHint,
  openWorldHint,
})
/** Reads what is the team's own. */
export const READS = hints(true, false, true, false)
/** Reads what people outside wrote. */
export const READS_OUTSIDE = hints(true, false, true, true)
/** Sends: what is sent can't be taken back. */
export const SENDS = hints(false, true, false, true)
/** Adds something inside the workspace. */
export const ADDS = hints(false, false, false, false)

/** A result with a picture beside it. */
export class Pictured {
  readonly result: object
  readonly image: { data: string; mimeType: string }

  constructor(result: object, image: { data: string; mimeType: string }) {
    this.result = result
    this.image = image
  }
}

/** Whether a member's call names the agent that it is about. */
export type AboutAgent = 'named' | 'optional' | 'none'

export interface Tool {
  name: string
  title: string
  description: string
  hints: Hints
  about: AboutAgent
  /** What it takes: of an agent, and of a member. */
  input: { agent: z.ZodType; member: z.ZodType }
  run(call: ToolCall, input: never): Promise<object | Pictured>
}

interface Definition<Shape extends z.ZodRawShape> {
  name: string
  title: string
  description: string
  hints: Hints
  about?: AboutAgent
  input: Shape
  run(call: ToolCall, input: z.output<z.ZodObject<Shape>>): Promise<object | Pictured>
}

const named = uuid.describe('The agent.')

/** A tool; members name the agent that it is about. */
export const tool = <Shape extends z.ZodRawShape>({
  about = 'named',
  input,
  ...rest
}: Definition<Shape>): Tool => {
  const agentId =
    about === 'named' ? { agentId: named } : about === 'optional' ? { agentId: named.optional() } : {}
  return {
    ...rest,
    about,
    input: { agent: z.strictObject(input), member: z.strictObject({ ...agentId, ...input }) },
  }
}

/** Leaves out what is not there: every word of a result is read by a model. */
export const compact = <Fields extends Record<string, unknown>>(fields: Fields): Partial<Fields> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== null &&
        value !== undefined &&
        value !== false &&
        !(Array.isArray(value) && value.length === 0),
    ),
  ) as Partial<Fields>
