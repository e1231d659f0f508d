import { type AppError, invalidInput } from './errors.ts'
import { fieldName } from './rules.ts'

/** The part of zod's issues that an error message is made from. */
export interface Issue {
  code?: string | undefined
  path: PropertyKey[]
  message: string
  keys?: string[]
  expected?: string
  values?: unknown[]
  input?: unknown
  origin?: string
  minimum?: unknown
  maximum?: unknown
  errors?: Issue[][]
}

/** Returns the value in the input that broke a rule. */
const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    input,
  )

/** Names of types that are no plain English. */
const TYPE_NAMES: Record<string, string> = { int: 'whole number', record: 'object' }

const typeRule = (expected = ''): string => {
  const name = TYPE_NAMES[expected] ?? expected
  return `must be ${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

/** Words of zod's own messages, which name no rule. */
const OWN_WORDS = /^(?:Too (?:big|small)|Invalid|Unrecognized|Expected)\b/

/** The rule that zod's own message is about. */
const plainRule = ({ code, origin, minimum, maximum, errors }: Issue): string => {
  const [bound, limit] = code === 'too_small' ? ['at least', minimum] : ['at most', maximum]
  if (code === 'invalid_union') {
    const expected = new Set(errors?.map(([first]) => typeRule(first?.expected).replace('must be ', '')))
    return `must be ${[...expected].join(' or ')}`
  }
  if (code !== 'too_small' && code !== 'too_big') return 'is not valid'
  if (origin === 'string') return `must be ${bound} ${limit} characters long`
  return origin === 'array' ? `must contain ${bound} ${limit} items` : `must be ${bound} ${limit}`
}

const ruleOf = (issue: Issue, value: unknown, where: string): string => {
  const { code, message, expected, values } = issue
  if (value === undefined) return 'is required'
  if (where === 'query' && Array.isArray(value)) return 'must be given once'
  if (code === 'invalid_type') return typeRule(expected)
  if (code === 'invalid_value')
    return `must be ${values?.length === 1 ? '' : 'one of '}${values?.map((value) => String(value)).join(', ')}`
  return OWN_WORDS.test(message) ? plainRule(issue) : message
}

/** The issue within a choice of types whose type the value has: that one says what is wrong. */
const innermost = (issue: Issue): Issue => {
  const [found] =
    issue.errors?.find(([first]) => first && (first.code !== 'invalid_type' || first.path.length > 0)) ?? []
  return found ? innermost({ ...found, path: [...issue.path, ...found.path] }) : issue
}

/**
 * Returns an error for the first broken rule, with the name of the field. An unknown field is named first: it may
 * be a misspelling of the one that is missing.
 */
export const inputError = (issues: readonly Issue[], input: unknown, where: string): AppError => {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? innermost(issues[0]!)
  const path = fieldName(issue.path)
  if (issue.code === 'unrecognized_keys')
    return invalidInput([path, issue.keys![0]].filter(Boolean).join('.'), 'is not a known field')
  return invalidInput(path || where, ruleOf(issue, valueAt(input, issue.path), where))
}
