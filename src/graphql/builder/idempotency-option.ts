import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core'
import type { GraphQLField } from 'graphql'
import type { Needed } from '../../core/scopes.ts'

/** The name under which the builder finds the plugin. */
export const IdempotencyPlugin = 'idempotency'

/**
 * What an `Idempotency-Key` does for a mutation.
 *
 * `once`: it runs at most once, and repeating the request returns the first result. `ignored`: nothing,
 * because the mutation is idempotent, like REST's PUT, PATCH and DELETE. `rerun`: it runs each time, because
 * its result must not be stored.
 */
export type KeyMeaning = 'once' | 'ignored' | 'rerun'

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      idempotency: PothosIdempotencyPlugin<Types>
    }
    interface MutationFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      /** What an `Idempotency-Key` does for this mutation. */
      idempotency: KeyMeaning
      /** What a token needs to call it. */
      scope: Needed
      /** The input field that must not be stored, not even in the result stored for the key. */
      unstored?: string
    }
  }
}

/** Puts the options where `keyMeaningOf`, `unstoredInputOf` and `scopes.ts` find them. */
class PothosIdempotencyPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (config.kind !== 'Mutation') return config
    const { idempotency, unstored, scope } = config.pothosOptions as {
      idempotency: KeyMeaning
      unstored?: string
      scope: Needed
    }
    return { ...config, extensions: { ...config.extensions, idempotency, unstored, scope } }
  }
}

SchemaBuilder.registerPlugin(IdempotencyPlugin, PothosIdempotencyPlugin)

type Field = GraphQLField<unknown, unknown>

export const keyMeaningOf = ({ extensions }: Field): KeyMeaning => extensions.idempotency as KeyMeaning
export const unstoredInputOf = ({ extensions }: Field): string | undefined =>
  extensions.unstored as string | undefined
