import { type Issue, inputError } from '../core/input-error.ts'
import type { Logger } from '../core/logger.ts'
import { ensureScope, hasScope, type Needed } from '../core/scopes.ts'
import type { Viewer } from '../workspace/index.ts'
import { failureOf } from './call/errors.ts'
import { inputSchemaOf } from './call/json-schema.ts'
import { type Call, ResultWithImage, type Tool } from './call/tool.ts'
import { Fence } from './outside-text/fence.ts'
import { labelled } from './outside-text/label.ts'
import { create, secrets, sendToAgent } from './tools/agents.ts'
import { askMember } from './tools/ask.ts'
import { getAttachment } from './tools/attachment.ts'
import { waitForCode } from './tools/code.ts'
import { drafts, updateDrafts } from './tools/drafts.ts'
import { list, read, readThread, update } from './tools/messages.ts'
import { forward, reply, sendNew } from './tools/send.ts'
import { wait } from './tools/wait.ts'
import { whoami } from './tools/whoami.ts'

/** In the order in which they are listed. */
const TOOLS: readonly Tool[] = [
  whoami,
  list,
  read,
  readThread,
  getAttachment,
  reply,
  sendNew,
  forward,
  drafts,
  updateDrafts,
  sendToAgent,
  wait,
  waitForCode,
  askMember,
  update,
  secrets,
  create,
]
const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]))

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name)

/** What a token needs for each tool. */
export const SCOPES_OF_TOOLS: ReadonlyMap<string, Needed> = new Map(
  TOOLS.map(({ name, scope }) => [name, scope]),
)

/** The names of a tool's arguments. */
const argumentsOf = (tool: Tool, kind: Viewer['kind']): string[] =>
  Object.keys(Object(inputSchemaOf(tool.input[kind])).properties)

/** The tools as clients list them: those that the token may call. Agents have no `agentId` argument. */
export const describeTools = ({ kind, scopes }: Pick<Viewer, 'kind' | 'scopes'>) =>
  TOOLS.filter(({ scope }) => hasScope({ scopes }, scope)).map(
    ({ name, title, description, hints, input }) => ({
      name,
      description,
      inputSchema: inputSchemaOf(input[kind]) as { type: 'object' },
      annotations: { title, ...hints },
    }),
  )

const inputOf = (tool: Tool, kind: Viewer['kind'], given: unknown): Record<string, unknown> => {
  const { data, error } = tool.input[kind].safeParse(given)
  if (error) throw inputError(error.issues as Issue[], given, 'arguments')
  return data as Record<string, unknown>
}

const textOf = (result: object) => ({ type: 'text' as const, text: JSON.stringify(result) })

/** The result as text only: some hosts show their models structured content too, which doubles the cost. */
const asContent = (result: object | ResultWithImage) =>
  result instanceof ResultWithImage
    ? { content: [textOf(result.result), { type: 'image' as const, ...result.image }] }
    : { content: [textOf(result)] }

const run = async (tool: Tool, call: Call, given: unknown) => {
  ensureScope(call.viewer, tool.scope)
  const { agentId, ...input } = inputOf(tool, call.viewer.kind, given)
  const subject = call.viewer.kind === 'agent' ? call.viewer.id : ((agentId as string | undefined) ?? '')
  const fence = new Fence()
  const result = await tool.run({ ...call, agentId: subject, fence }, input as never)
  return { ...asContent(result), ...labelled(fence.label) }
}

/** The outcome of a call, for the metrics. */
type Outcome = 'done' | 'refused' | 'failed'

export interface CallLog {
  log: Logger
  requestId: string
  count(outcome: Outcome, tool: string, seconds: number): void
}

/** Calls a tool. A failure is a result too, and says what to do next. Returns null if there is no such tool. */
export const callTool = async (
  name: string,
  call: Call,
  given: unknown,
  { log, requestId, count }: CallLog,
) => {
  const tool = BY_NAME.get(name)
  if (!tool) return null
  const started = performance.now()
  const ended = (outcome: Outcome) => count(outcome, name, (performance.now() - started) / 1000)
  try {
    const result = await run(tool, call, given ?? {})
    ended('done')
    return result
  } catch (error) {
    const { failure, result } = failureOf(
      error,
      { known: argumentsOf(tool, call.viewer.kind), names: tool.names },
      given,
    )
    const inside = failure.code === 'internal' || failure.code === 'unavailable'
    if (inside) log.error({ err: error, requestId, tool: name }, 'a tool failed')
    ended(inside ? 'failed' : 'refused')
    return { content: [textOf(result)], isError: true }
  }
}
