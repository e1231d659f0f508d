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
import { runOnce } from '../../message/once.ts'
import { keyMeaningOf, unkeptInputOf } from '../idempotency-option.ts'
import type { Operation } from './execution.ts'

const operationOf = ({ document, operationName }: Operation): OperationDefinitionNode | null | undefined =>
  getOperationAST(document, operationName)

/** The fields that stand in a selection, those of its fragments too. */
const fieldsOf = ({ selections }: SelectionSetNode, operation: Operation): FieldNode[] =>
  selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection]
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet, operation)
    const named = operation.document.definitions.find(
      (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
    )
    return named?.kind === Kind.FRAGMENT_DEFINITION ? fieldsOf(named.selectionSet, operation) : []
  })

/** A mutation of a document, with its definition; `__typename` has none. */
interface Mutation {
  field: FieldNode
  definition: GraphQLField<unknown, unknown> | undefined
}

const mutationsOf = (operation: Operation): Mutation[] => {
  const asked = operationOf(operation)
  if (asked?.operation !== OperationTypeNode.MUTATION) return []
  const definitions = operation.schema.getMutationType()?.getFields() ?? {}
  return fieldsOf(asked.selectionSet, operation).map((field) => ({
    field,
    definition: definitions[field.name.value],
  }))
}

/** The one mutation that a key makes happen once; null when the key means nothing to it. */
const onceOf = (operation: Operation): Mutation | null => {
  const mutations = mutationsOf(operation)
  const meaningOf = ({ definition }: Mutation) => (definition ? keyMeaningOf(definition) : 'once')
  const bound = mutations.find((one) => meaningOf(one) !== 'ignored')
  if (!bound) return null
  if (mutations.length > 1) throw invalidInput('Idempotency-Key', 'is for one mutation at a time')
  return meaningOf(bound) === 'once' ? bound : null
}

/** The text of which the service keeps no copy (a Message URL's): whoever asks again has it. */
const unkeptTextOf = ({ variableValues }: Operation, { field, definition }: Mutation): string | null => {
  const unkept = definition && unkeptInputOf(definition)
  if (!unkept) return null
  const { input } = getArgumentValues(definition, field, variableValues as Record<string, unknown>) as {
    input: Record<string, string>
  }
  return input[unkept] ?? null
}

/** No field has an empty name: nothing else looks like it. */
const ITS_TEXT = { '': 'text' }
const isItsText = (value: unknown): boolean => typeof value === 'object' && value !== null && '' in value

const toKeep = (result: ExecutionResult, text: string | null): string =>
  JSON.stringify(result, (_key, value: unknown) => (text !== null && value === text ? ITS_TEXT : value))

const asGiven = (kept: string, text: string | null): ExecutionResult =>
  JSON.parse(kept, (_key, value: unknown) => (isItsText(value) ? text : value)) as ExecutionResult

/**
 * Runs an operation, with an `Idempotency-Key` at most once: what it makes is committed with the key, in one
 * transaction, and the same request gets the first result again. One that fails leaves the key free.
 */
export const executeOnce = async (operation: Operation): Promise<ExecutionResult> => {
  const { deps, viewer, attempt } = operation.contextValue
  const mutation = attempt && onceOf(operation)
  if (!attempt || !mutation) return execute(operation)
  let result: ExecutionResult = {}
  const first = await runOnce(deps, viewer, attempt, async (within) => {
    result = await execute({ ...operation, contextValue: { ...operation.contextValue, deps: within } })
    return result.errors ? null : { status: 200, body: toKeep(result, unkeptTextOf(operation, mutation)) }
  })
  if (first) {
    attempt.replayed = true
    return asGiven(first.body, unkeptTextOf(operation, mutation))
  }
  return result
}
