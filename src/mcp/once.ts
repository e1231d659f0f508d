import { z } from 'zod'
import { AppError, invalidInput } from '../core/errors.ts'
import { runOnce } from '../message/once.ts'
import { readAttempt } from '../workspace/idempotency.ts'
import type { McpDeps } from './deps.ts'
import type { ToolCall } from './tool.ts'

/** The argument that makes repeated calls do their work once. */
export const callKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable characters without spaces')
  .optional()
  .describe('Idempotency key: prevents sending twice on a retry.')

const renamed = (error: unknown): never => {
  throw error instanceof AppError && error.field === 'Idempotency-Key'
    ? invalidInput('key', 'was used for another call. Use a new one')
    : error
}

/**
 * Runs `work`; with a key, at most once in 24 hours. The same call with the same key gets the first result,
 * marked `repeated`.
 */
export const atMostOnce = async <Result extends object>(
  { deps, viewer, agentId }: ToolCall,
  tool: string,
  { key, ...asked }: { key?: string | undefined },
  work: (deps: McpDeps) => Promise<Result>,
): Promise<Result | (Result & { repeated: true })> => {
  if (key === undefined) return work(deps)
  const attempt = readAttempt(key, `mcp ${tool}\n${agentId}\n${JSON.stringify(asked)}`)
  let result: Result | undefined
  const first = await runOnce(deps, viewer, attempt, async (within) => {
    result = await work(within)
    return { status: 200, body: JSON.stringify(result) }
  }).catch(renamed)
  if (first) return { ...(JSON.parse(first.body) as Result), repeated: true }
  return result!
}
