import { type ASTNode, BREAK, type DocumentNode, GraphQLError, Kind, visit } from 'graphql'
import { type AppError, invalidInput } from '../../core/errors.ts'
import { fieldName } from '../../core/rules.ts'
import { ScalarError } from '../builder/input.ts'

/**
 * GraphQL's message for an invalid variable: which variable, where in it, and why. The message may also
 * contain the value.
 */
const WRONG_VARIABLE =
  /^Variable "\$(\w+)" (?:got invalid value .*?|of (?:required|non-null) type .*?)(?: at "\1\.?([^"]+)")?(?:; (.+)| (must not be null\.|was not provided\.))$/s

/** Messages about an input object itself: a required field is missing, or a field is unknown. */
const MISSING =
  /^Field "(?:\w+\.)?(\w+)" of required type .+ was not provided|^Field "\w+" argument "(\w+)" of type .+ is required/
const UNKNOWN = /^Field "(\w+)" is not defined by type/

/** GraphQL's messages, and REST's for the same errors. */
const RULES: readonly [RegExp, string][] = [
  [/was not provided/, 'is required'],
  [/not to be null|must not be null|found null/, 'must not be null'],
  [/^String cannot represent/, 'must be a string'],
  [/^Boolean cannot represent/, 'must be a boolean'],
  [/^Int cannot represent non 32-bit/, 'must be a whole number from -2147483648 to 2147483647'],
  [/^Int cannot represent/, 'must be a whole number'],
  [/^Expected (value of )?type/, 'must be an object'],
]

const ruleOf = (words: string): string => RULES.find(([pattern]) => pattern.test(words))?.[1] ?? words

/** Returns the error that a resolver or scalar threw, without GraphQL's wrappers. */
export const innermost = (error: unknown): unknown =>
  error instanceof GraphQLError && error.originalError ? innermost(error.originalError) : error

/**
 * Returns REST's error for a place in the input. The place does not include the name of the input object
 * itself.
 */
const wrongAt = (place: readonly (string | number)[], words: string, error: GraphQLError): AppError => {
  const inner = innermost(error)
  const [, field, argument] = MISSING.exec(words) ?? []
  const missing = field ?? argument
  if (missing !== undefined) return invalidInput(fieldName([...place, missing]), 'is required')
  const unknown = UNKNOWN.exec(words)?.[1]
  if (unknown !== undefined) return invalidInput(fieldName([...place, unknown]), 'is not a known field')
  return invalidInput(fieldName(place), inner instanceof ScalarError ? inner.message : ruleOf(words))
}

/** Returns REST's error for an invalid variable; null if the error is about something else. */
export const wrongVariable = (error: GraphQLError): AppError | null => {
  const [matched, variable, path, reason, missing] = WRONG_VARIABLE.exec(error.message) ?? []
  if (matched === undefined) return null
  const words = reason ?? missing!
  const about = MISSING.test(words) || UNKNOWN.test(words)
  return wrongAt(path === undefined ? (about ? [] : [variable!]) : [path], words, error)
}

/**
 * Returns the position of a part of a document within the arguments: `input`, `to`, 0 for the "a" of `input:
 * {to: ["a"]}`. Empty for a part outside of arguments.
 */
const placeOf = (document: DocumentNode, target: ASTNode): (string | number)[] => {
  let place: (string | number)[] = []
  visit(document, {
    enter(node, _key, parent, _path, ancestors) {
      if (node !== target) return undefined
      const chain: readonly (ASTNode | readonly ASTNode[])[] = [
        ...ancestors,
        ...(parent ? [parent] : []),
        node,
      ]
      place = chain.flatMap((part, index): (string | number)[] => {
        if ('kind' in part)
          return part.kind === Kind.ARGUMENT || part.kind === Kind.OBJECT_FIELD ? [part.name.value] : []
        const list = chain[index - 1] as ASTNode
        return list.kind === Kind.LIST ? [part.indexOf(chain[index + 1] as ASTNode)] : []
      })
      return BREAK
    },
  })
  return place
}

const ABOUT_A_VALUE = /^(Expected value of type|String cannot|Boolean cannot|Int cannot)/

/**
 * Rewrites a validation error about a value in the document itself like one about a variable. Returns other
 * errors unchanged.
 */
export const withField = (error: GraphQLError, document: DocumentNode): GraphQLError => {
  const { message, nodes = [] } = error
  const [missing, unknown] = [MISSING.test(message), UNKNOWN.test(message)]
  if (!nodes[0] || !(missing || unknown || ABOUT_A_VALUE.test(message))) return error
  const place = placeOf(document, nodes[0])
  if (place.length === 0 && !missing) return error
  const around = unknown ? place.slice(0, -1) : place
  const own = around[0] === 'input' && (around.length > 1 || missing || unknown) ? around.slice(1) : around
  const originalError = wrongAt(own, message, error)
  return new GraphQLError(originalError.message, { nodes, originalError })
}
