import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core'
import type { GraphQLField } from 'graphql'

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
      /** The input field that must not be stored, not even in the result stored for the key. */
      unstored?: string
    }
  }
}

/** Puts the two options where `keyMeaningOf` and `unstoredInputOf` find them. */
class PothosIdempotencyPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (config.kind !== 'Mutation') return config
    const { idempotency, unstored } = config.pothosOptions as { idempotency: KeyMeaning; unstored?: string }
    return { ...config, extensions: { ...config.extensions, idempotency, unstored } }
  }
}

SchemaBuilder.registerPlugin(IdempotencyPlugin, PothosIdempotencyPlugin)

type Field = GraphQLField<unknown, unknown>

export const keyMeaningOf = ({ extensions }: Field): KeyMeaning => extensions.idempotency as KeyMeaning
export const unstoredInputOf = ({ extensions }: Field): string | undefined =>
  extensions.unstored as string | undefined
