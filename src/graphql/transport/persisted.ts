import { AppError, invalidInput } from '../../core/errors.ts'
import type { PersistedOperations } from '../context/deps.ts'
import { isOfApplication } from './application-operations.ts'
import type { Params } from './request.ts'

/**
 * Throws `forbidden` if only persisted operations are allowed and the document is neither one of them nor one
 * that the web application sends.
 */
export const ensureAllowed = (persisted: PersistedOperations, query: string): void => {
  if (persisted && ![...persisted.values()].includes(query) && !isOfApplication(query))
    throw new AppError('forbidden', 'Only persisted operations are accepted here.')
}

const idOf = ({ documentId, extensions }: Params): string | undefined => {
  const { sha256Hash } = (extensions?.persistedQuery ?? {}) as { sha256Hash?: unknown }
  return documentId ?? (typeof sha256Hash === 'string' ? sha256Hash : undefined)
}

/**
 * Returns the document to run: the given one, or the persisted one that `documentId` or
 * `extensions.persistedQuery.sha256Hash` refers to.
 */
export const queryOf = (persisted: PersistedOperations, params: Params): string => {
  if (params.query !== undefined) {
    ensureAllowed(persisted, params.query)
    return params.query
  }
  const id = idOf(params)
  if (id === undefined) throw invalidInput('query', 'is required')
  const query = persisted?.get(id)
  if (query === undefined) throw invalidInput('documentId', 'is not the id of a persisted operation')
  return query
}
