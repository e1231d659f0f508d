import { z } from 'zod'
import type { Context } from '../../context.ts'
import type { Places } from '../../core/places.ts'
import { uuid } from '../../core/rules.ts'
import type { Needed } from '../../core/scopes.ts'
import type { Viewer } from '../../workspace/index.ts'
import type { Fence } from '../outside-text/fence.ts'

/** What tools and events know of a request. */
export interface Call {
  deps: Context
  viewer: Viewer
  /** Limits the calls of a token that wait at a time. */
  waits: Places
  /** Makes a signal that aborts when the client is gone. */
  gone(): AbortSignal
}

/** A call of a tool. */
export interface ToolCall extends Call {
  /** The agent that the call is about: the token's own, or the one that a member names. */
  agentId: string
  fence: Fence
}

/** The annotations that describe a tool's effects. */
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
/** Reads what the workspace wrote. */
export const READS = hints(true, false, true, false)
/** Reads text from outside. */
export const READS_OUTSIDE = hints(true, false, true, true)
/** Sends something, which cannot be undone. */
export const SENDS = hints(false, true, false, true)
/** Takes what was sent from outside: nobody else gets it. */
export const TAKES = hints(false, false, false, true)
/** Adds something inside the workspace. */
export const ADDS = hints(false, false, false, false)

/** Changes something inside the workspace; a repeated call changes nothing more. */
export const UPDATES = hints(false, true, true, false)

/** A result with an image. */
export class ResultWithImage {
  readonly result: object
  readonly image: { data: string; mimeType: string }

  constructor(result: object, image: { data: string; mimeType: string }) {
    this.result = result
    this.image = image
  }
}

/** Whether members pass the `agentId` that the call is about. */
export type AgentArgument = 'required' | 'optional' | 'none'

export interface Tool {
  name: string
  title: string
  description: string
  hints: Hints
  /** What a token needs to call it; without, it is not listed either. */
  scope: Needed
  agentArgument: AgentArgument
  /** The arguments that agents and members pass. */
  input: { agent: z.ZodType; member: z.ZodType }
  /** The arguments for which the operation behind the tool has other names. */
  names?: Record<string, string>
  run(call: ToolCall, input: never): Promise<object | ResultWithImage>
}

interface Definition<Shape extends z.ZodRawShape> {
  name: string
  title: string
  description: string
  hints: Hints
  scope: Needed
  agentArgument?: AgentArgument
  names?: Record<string, string>
  input: Shape
  run(call: ToolCall, input: z.output<z.ZodObject<Shape>>): Promise<object | ResultWithImage>
}

/** Defines a tool. Members pass the `agentId` too. */
export const tool = <Shape extends z.ZodRawShape>({
  agentArgument = 'required',
  input,
  ...rest
}: Definition<Shape>): Tool => {
  const byArgument = {
    required: { agentId: uuid },
    optional: { agentId: uuid.optional() },
    none: {},
  }
  return {
    ...rest,
    agentArgument,
    input: {
      agent: z.strictObject(input),
      member: z.strictObject({ ...byArgument[agentArgument], ...input }),
    },
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0)

/** Leaves out empty fields: a model reads every word of a result. */
export const compact = <Fields extends Record<string, unknown>>(fields: Fields): Partial<Fields> => {
  const kept: Partial<Fields> = {}
  for (const name in fields) if (!isEmpty(fields[name])) kept[name] = fields[name]
  return kept
}
