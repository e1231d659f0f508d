import { type DocumentNode, type ExecutionResult, getOperationAST, Kind, print, visit } from 'graphql'
import type { Viewer } from '../../workspace/index.ts'

/** Maximum age of a result that is reused for another subscriber, in milliseconds. */
const FRESH_MS = 500
const MAX_RESULTS = 500

export interface Subscribed {
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Record<string, unknown> | null | undefined
  contextValue: { viewer: Viewer }
}

/**
 * Returns what two subscriptions must have in common to share results: the selected fields, with their
 * variables, and what their viewers may see. The arguments of the subscription field itself only select its
 * events. Null when results cannot be shared.
 */
export const groupOf = ({
  document,
  operationName,
  variableValues,
  contextValue: { viewer },
}: Subscribed): string | null => {
  const operation = getOperationAST(document, operationName)
  const field = operation?.selectionSet.selections[0]
  if (operation?.selectionSet.selections.length !== 1 || field?.kind !== Kind.FIELD) return null
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const parts = [{ ...field, arguments: [] }, ...fragments]
  const used = new Set<string>()
  for (const part of parts) visit(part, { Variable: ({ name }) => void used.add(name.value) })
  const definitions =
    operation.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)) ?? []
  const variables = [...used].map((name) => [name, variableValues?.[name] ?? null])
  const sees = viewer.kind === 'agent' ? viewer.id : viewer.role
  const scopes = viewer.scopes?.join(' ') ?? null
  return [
    viewer.workspaceId,
    viewer.kind,
    sees,
    scopes,
    JSON.stringify(variables),
    ...[...definitions, ...parts].map(print),
  ].join('\n')
}

/**
 * Results of events that several subscribers request with the same fields: executed for the first of them and
 * reused for the others shortly after.
 */
export class SharedResults {
  readonly #results = new Map<string, { result: Promise<ExecutionResult>; until: number }>()

  /**
   * Returns the fresh result stored under `key`, else the result of `execute`. A result with errors is not
   * shared.
   */
  get(key: string, execute: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
    const now = performance.now()
    const known = this.#results.get(key)
    if (known && known.until > now) return known.result
    const result = execute()
    this.#results.delete(key)
    this.#results.set(key, { result, until: now + FRESH_MS })
    this.#prune(now)
    const forget = () => this.#results.delete(key)
    result.then(({ errors }) => errors && forget(), forget)
    return result
  }

  #prune(now: number): void {
    for (const [key, { until }] of this.#results) {
      if (until > now && this.#results.size <= MAX_RESULTS) return
      this.#results.delete(key)
    }
  }
}
