import { type ASTNode, BREAK, type DocumentNode, GraphQLError, Kind, visit } from 'graphql'
import { type AppError, invalidInput } from '../../core/errors.ts'
import { fieldName } from '../../core/rules.ts'
import { ScalarError } from '../input.ts'

/**
 * How GraphQL says that a variable's value is wrong: which variable, where in it, and why. The value itself
 * may stand in between.
 */
const WRONG_VARIABLE =
  /^Variable "\$(\w+)" (?:got invalid value .*?|of (?:required|non-null) type .*?)(?: at "\1\.?([^"]+)")?(?:; (.+)| (must not be null\.|was not provided\.))$/s

/**
 * What is wrong with an input object itself: the name of a field of it that is missing, or that it doesn't
 * have.
 */
const MISSING =
  /^Field "(?:\w+\.)?(\w+)" of required type .+ was not provided|^Field "\w+" argument "(\w+)" of type .+ is required/
const UNKNOWN = /^Field "(\w+)" is not defined by type/

/** GraphQL's words, and REST's for the same mistake. */
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

/** What a resolver or a scalar threw, below what GraphQL made of it. */
export const innermost = (error: unknown): unknown =>
  error instanceof GraphQLError && error.originalError ? innermost(error.originalError) : error

/**
 * What is wrong at a place of the input, as REST says it: the place without the name of the input object
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

/** The error about a variable's value, in REST's words; null for one about something else. */
export const wrongVariable = (error: GraphQLError): AppError | null => {
  const [matched, variable, path, reason, missing] = WRONG_VARIABLE.exec(error.message) ?? []
  if (matched === undefined) return null
  const words = reason ?? missing!
  const about = MISSING.test(words) || UNKNOWN.test(words)
  return wrongAt(path === undefined ? (about ? [] : [variable!]) : [path], words, error)
}

/**
 * Where a part of a document stands in the arguments: the "a" of `input: {to: ["a"]}` at `input`, `to`, 0.
 * Empty for what stands in none.
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
 * An error of validation about a value that stands in the document itself, said as one about a variable is.
 * Others as they are.
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
