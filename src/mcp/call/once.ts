import { z } from 'zod'
import type { Context } from '../../context.ts'
import { invalidInput } from '../../core/errors.ts'
import { KeyReused, once, readAttempt } from '../../workspace/index.ts'
import type { ToolCall } from './tool.ts'

/** The argument that makes repeated calls do their work once. */
export const callKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable characters without spaces')
  .optional()
  .describe('Idempotency key.')

/** What tells a call that a key belongs to, and does its work. */
interface Keyed<Result> {
  /** The name of the tool. */
  name: string
  asked: { key?: string | undefined; [argument: string]: unknown }
  work(deps: Context): Promise<Result>
  /**
   * The result for a call with other words than the first one with its key, as a model makes it after a crash; null if
   * the first one did something else.
   */
  again?(first: KeyReused): Promise<object | null>
}

/**
 * Runs `work`; with a key, at most once in 24 hours. The same call with the same key gets the first result,
 * marked `repeated`.
 */
export const atMostOnce = async <Result extends object>(
  { deps, viewer, agentId }: ToolCall,
  { name, asked: { key, ...asked }, work, again }: Keyed<Result>,
): Promise<object> => {
  if (key === undefined) return work(deps)
  const attempt = readAttempt(key, `mcp ${name}\n${agentId}\n${JSON.stringify(asked)}`)
  let result: Result | undefined
  try {
    const first = await once(deps, viewer, attempt, async (within) => {
      result = await work(within)
      return { status: 200, body: JSON.stringify(result) }
    })
    return first ? { ...(JSON.parse(first.body) as Result), repeated: true } : result!
  } catch (error) {
    if (!(error instanceof KeyReused)) throw error
    const done = await again?.(error)
    if (done) return { repeated: true, ...done, next: SENT_ALREADY }
    throw invalidInput('key', 'was used for another call. Use a new one')
  }
}

const SENT_ALREADY = 'A message with this key was sent already. Do not send again.'
