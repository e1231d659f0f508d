import {
  type ExecutionResult,
  execute,
  type FieldNode,
  type GraphQLField,
  getArgumentValues,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { invalidInput } from '../../core/errors.ts'
import { once } from '../../workspace/index.ts'
import { keyMeaningOf, unstoredInputOf } from '../builder/idempotency-option.ts'
import type { Operation } from '../context/context.ts'
import { run } from './compiled.ts'

const operationOf = ({ document, operationName }: Operation): OperationDefinitionNode | null | undefined =>
  getOperationAST(document, operationName)

/** Returns the fields of a selection, including those of its fragments. */
const fieldsOf = ({ selections }: SelectionSetNode, operation: Operation): FieldNode[] =>
  selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection]
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet, operation)
    const named = operation.document.definitions.find(
      (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
    )
    return named?.kind === Kind.FRAGMENT_DEFINITION ? fieldsOf(named.selectionSet, operation) : []
  })

/** A mutation in a document, with its definition; `__typename` has none. */
interface Mutation {
  field: FieldNode
  definition: GraphQLField<unknown, unknown> | undefined
}

const mutationsOf = (operation: Operation): Mutation[] => {
  const node = operationOf(operation)
  if (node?.operation !== OperationTypeNode.MUTATION) return []
  const definitions = operation.schema.getMutationType()?.getFields() ?? {}
  return fieldsOf(node.selectionSet, operation).map((field) => ({
    field,
    definition: definitions[field.name.value],
  }))
}

/** Returns the one mutation that the key applies to; null when it has no effect. */
const onceOf = (operation: Operation): Mutation | null => {
  const mutations = mutationsOf(operation)
  const meaningOf = ({ definition }: Mutation) => (definition ? keyMeaningOf(definition) : 'once')
  const bound = mutations.find((one) => meaningOf(one) !== 'ignored')
  if (!bound) return null
  if (mutations.length > 1) throw invalidInput('Idempotency-Key', 'is for one mutation at a time')
  return meaningOf(bound) === 'once' ? bound : null
}

/**
 * Returns the text that must not be stored with the result (a Message URL's text): a client that repeats the
 * request sends it again.
 */
const unstoredTextOf = ({ variableValues }: Operation, { field, definition }: Mutation): string | null => {
  const name = definition && unstoredInputOf(definition)
  if (!name) return null
  const { input } = getArgumentValues(definition, field, variableValues as Record<string, unknown>) as {
    input: Record<string, string>
  }
  return input[name] ?? null
}

/**
 * Placeholder for that text in the stored result. No field has an empty name, so nothing else can look like
 * it.
 */
const TEXT_PLACEHOLDER = { '': 'text' }
const isPlaceholder = (value: unknown): boolean => typeof value === 'object' && value !== null && '' in value

const serialize = (result: ExecutionResult, text: string | null): string =>
  JSON.stringify(result, (_key, value: unknown) =>
    text !== null && value === text ? TEXT_PLACEHOLDER : value,
  )

const deserialize = (stored: string, text: string | null): ExecutionResult =>
  JSON.parse(stored, (_key, value: unknown) => (isPlaceholder(value) ? text : value)) as ExecutionResult

/**
 * Runs an operation, at most once if it has an `Idempotency-Key`: its changes are committed together with the
 * key, in one transaction, and repeating the request returns the first result. A failed operation does not
 * use up the key.
 */
export const executeOnce = async (operation: Operation): Promise<ExecutionResult> => {
  const { deps, viewer, attempt } = operation.contextValue
  const mutation = attempt && onceOf(operation)
  if (!attempt || !mutation) return run(operation)
  let result: ExecutionResult = {}
  const first = await once(deps, viewer, attempt, async (within) => {
    result = await execute({ ...operation, contextValue: { ...operation.contextValue, deps: within } })
    return result.errors
      ? null
      : { status: 200, body: serialize(result, unstoredTextOf(operation, mutation)) }
  })
  if (first) {
    attempt.replayed = true
    return deserialize(first.body, unstoredTextOf(operation, mutation))
  }
  return result
}
