import type { z } from 'zod'
import { AppError, invalidInput } from '../../core/errors.ts'
import { type Issue, inputError } from '../../core/input-error.ts'

/**
 * A scalar value that violates its rule. Only GraphQL's own error knows which field it is in (see errors.ts).
 */
export class ScalarError extends Error {
  constructor(rule: string) {
    super(rule)
    this.name = 'ScalarError'
  }
}

type Rules = Record<string, z.ZodType>
type Checked<R extends Rules, Input> = {
  [Key in keyof R & keyof Input as undefined extends Input[Key] ? never : Key]: z.output<R[Key]>
} & {
  [Key in keyof R & keyof Input as undefined extends Input[Key] ? Key : never]?: z.output<R[Key]> | undefined
}

/**
 * Checks the input fields that have rules, in the order of the rules. Null counts as omitted. Throws
 * `invalid_input` with REST's message, naming the field.
 */
export const checked = <R extends Rules, Input extends { [Key in keyof R]?: unknown }>(
  rules: R,
  input: Input,
): Checked<R, Input> => {
  const output: Record<string, unknown> = {}
  for (const [field, rule] of Object.entries(rules)) {
    const value = input[field]
    if (value === null || value === undefined) continue
    const result = rule.safeParse(value)
    if (!result.success) {
      const issues = result.error.issues.map((issue) => ({ ...issue, path: [field, ...issue.path] }))
      throw inputError(issues as Issue[], input, 'input')
    }
    output[field] = result.data
  }
  return output as Checked<R, Input>
}

/** Converts null, GraphQL's way of omitting a field, to undefined. */
export const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined

/** Rethrows an error; a list's error about `cursor` becomes one about `after`, its name in GraphQL. */
export const rethrowAsAfter = (error: unknown): never => {
  throw error instanceof AppError && error.field === 'cursor'
    ? invalidInput('after', 'is not a valid cursor for this list')
    : error
}
