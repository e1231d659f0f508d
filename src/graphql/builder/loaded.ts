import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'

/** The name under which the builder finds the plugin. */
export const LoadedPlugin = 'loaded'

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      loaded: PothosLoadedPlugin<Types>
    }
  }
}

/** Returns the columns that a field reads besides exposing one; null when it reads other tables, or none. */
const columnsOf = (select: unknown): string[] | null => {
  if (typeof select !== 'object' || select === null) return null
  const entries = Object.entries(select)
  return entries.every(([, wanted]) => wanted === true) ? entries.map(([column]) => column) : null
}

const hasAll =
  (columns: readonly string[]) =>
  (row: unknown): boolean =>
    columns.every((column) => (row as Record<string, unknown>)[column] !== undefined)

/**
 * Resolves a field directly when the given row contains its columns, or as the field's own
 * `hasLoaded` (among its extensions) says. Prisma's plugin would first check, for each
 * field of each row, whether the row was loaded by a query that selected it
 * (docs/decisions.md#loaded-fields). Runs after the authorization plugin and before Prisma's.
 */
class PothosLoadedPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    fieldConfig: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if ((fieldConfig.kind as string) !== 'PrismaObject') return resolver
    const { pothosExposedField: column, hasLoaded } = fieldConfig.extensions ?? {}
    if (typeof column === 'string')
      return (row, args, context, info) => {
        const value = (row as Record<string, unknown>)[column]
        return value === undefined ? resolver(row, args, context, info) : value
      }
    const columns = columnsOf((fieldConfig.pothosOptions as { select?: unknown }).select)
    const has = (hasLoaded ?? (columns && hasAll(columns))) as ((row: unknown) => boolean) | null
    const own = fieldConfig.resolve
    if (!has || !own) return resolver
    return (row, args, context, info) =>
      (has(row) ? own : resolver)(row as never, args as never, context, info)
  }
}

SchemaBuilder.registerPlugin(LoadedPlugin, PothosLoadedPlugin)
