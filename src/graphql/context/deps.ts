import type { Context } from '../../context.ts'

/** Allowed operations by id; undefined allows any. */
export type PersistedOperations = ReadonlyMap<string, string> | undefined

/** What operations use, and what of the schema may be asked. */
export interface GraphqlDeps extends Context {
  /** The only operations that are allowed; undefined allows any. */
  persisted: PersistedOperations
  /** Whether introspection of the schema is allowed. */
  introspection: boolean
}
