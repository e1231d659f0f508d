import type { z } from 'zod'
import { AppError, invalidInput } from '../core/errors.ts'
import { fieldName } from '../core/rules.ts'

/**
 * A scalar's value that breaks its rule. Which field it stood in, only GraphQL's own error knows (see
 * errors.ts).
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
 * The input's fields that have rules, checked by them in the given order. Null counts as left out. Throws
 * `invalid_input` in REST's words, naming the field.
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
    if (!result.success)
      throw invalidInput(fieldName([field, ...result.error.issues[0]!.path]), result.error.issues[0]!.message)
    output[field] = result.data
  }
  return output as Checked<R, Input>
}

/** Null as GraphQL's way of leaving a field out. */
export const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined

/** Throws what a list said of its `cursor`, of `after`, which is its name here. */
export const saidOfAfter = (error: unknown): never => {
  throw error instanceof AppError && error.field === 'cursor'
    ? invalidInput('after', 'is not a valid cursor for this list')
    : error
}
