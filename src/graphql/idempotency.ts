import {
  type ExecutionResult,
  execute,
  type FieldNode,
  getArgumentValues,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { invalidInput } from '../core/errors.ts'
import { depsWithin } from '../message/within.ts'
import { type Answer, once } from '../workspace/idempotency.ts'
import type { Operation } from './execution.ts'

/** What is the same when it is done twice, as REST's PUT, PATCH and DELETE are: a key means nothing to it. */
const SAME_TWICE = /^(change|connect|delete|remove|revoke|update|set(?!Up))/

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

/** The one mutation that a key makes happen once; null for what is the same when it is done twice, or shown anew each time. */
const onceOf = (operation: Operation): FieldNode | null => {
  const definition = operationOf(operation)
  if (definition?.operation !== OperationTypeNode.MUTATION) return null
  const fields = fieldsOf(definition.selectionSet, operation).filter(({ name }) => !SAME_TWICE.test(name.value))
  if (fields.length === 0) return null
  if (fieldsOf(definition.selectionSet, operation).length > 1) throw invalidInput('Idempotency-Key', 'is for one mutation at a time')
  // Secrets are handed out by the operation alone, which puts each time into the audit.
  return fields[0]!.name.value === 'revealSecrets' ? null : fields[0]!
}

/** The text of a message for a Message URL, of which the service keeps no copy: whoever asks again has it. */
const unkeptTextOf = ({ schema, variableValues }: Operation, field: FieldNode): string | null => {
  const definition = schema.getMutationType()?.getFields()[field.name.value]
  if (field.name.value !== 'sendToUrl' || !definition) return null
  const { input } = getArgumentValues(definition, field, variableValues as Record<string, unknown>) as { input: { text: string } }
  return input.text
}

/** No field has an empty name: nothing else looks like it. */
const ITS_TEXT = { '': 'text' }
const isItsText = (value: unknown): boolean => typeof value === 'object' && value !== null && '' in value

const toKeep = (result: ExecutionResult, text: string | null): string =>
  JSON.stringify(result, (_key, value: unknown) => (text !== null && value === text ? ITS_TEXT : value))

const asGiven = (kept: string, text: string | null): ExecutionResult =>
  JSON.parse(kept, (_key, value: unknown) => (isItsText(value) ? text : value)) as ExecutionResult

/**
 * Runs an operation, with an `Idempotency-Key` at most once: what it makes is committed with the key, in one transaction, and the same
 * request gets the first result again. One that fails leaves the key free.
 */
export const executeOnce = async (operation: Operation): Promise<ExecutionResult> => {
  const { deps, viewer, attempt } = operation.contextValue
  const field = attempt && onceOf(operation)
  if (!attempt || !field) return execute(operation)
  const afterwards: (() => void)[] = []
  let result: ExecutionResult = {}
  const first = await once(deps, viewer, attempt, async (db): Promise<Answer | null> => {
    result = await execute({ ...operation, contextValue: { ...operation.contextValue, deps: depsWithin(deps, db, afterwards) } })
    return result.errors ? null : { status: 200, body: toKeep(result, unkeptTextOf(operation, field)) }
  })
  if (first) {
    attempt.replayed = true
    return asGiven(first.body, unkeptTextOf(operation, field))
  }
  if (!result.errors) for (const tell of afterwards) tell()
  return result
}
