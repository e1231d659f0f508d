import { invalidInput } from '../../core/errors.ts'

interface Rule<Output> {
  safeParse(
    value: unknown,
  ): { success: true; data: Output } | { success: false; error: { issues: { message: string }[] } }
}

/** Returns a form field's value if it conforms to the rule. Throws `invalid_input`. */
export const checked = <Output>(rule: Rule<Output>, field: string, value: string): Output => {
  const result = rule.safeParse(value)
  if (!result.success) throw invalidInput(field, result.error.issues[0]?.message ?? 'is not valid')
  return result.data
}
