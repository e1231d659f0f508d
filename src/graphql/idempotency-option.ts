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
 * What an `Idempotency-Key` means to a mutation.
 *
 * `once`: it is done at most once, and the same request gets the first result again. `ignored`: nothing,
 * because doing it twice is the same as doing it once, as with REST's PUT, PATCH and DELETE. `rerun`: it runs
 * each time, because its result must not be kept.
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
      /** What an `Idempotency-Key` means to it. */
      idempotency: KeyMeaning
      /**
       * The field of its input of which the service keeps no copy, not in the result that it keeps for the
       * key either.
       */
      unkept?: string
    }
  }
}

/** Puts the two options where `keyMeaningOf` and `unkeptInputOf` find them. */
class PothosIdempotencyPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (config.kind !== 'Mutation') return config
    const { idempotency, unkept } = config.pothosOptions as { idempotency: KeyMeaning; unkept?: string }
    return { ...config, extensions: { ...config.extensions, idempotency, unkept } }
  }
}

SchemaBuilder.registerPlugin(IdempotencyPlugin, PothosIdempotencyPlugin)

type Field = GraphQLField<unknown, unknown>

export const keyMeaningOf = ({ extensions }: Field): KeyMeaning => extensions.idempotency as KeyMeaning
export const unkeptInputOf = ({ extensions }: Field): string | undefined =>
  extensions.unkept as string | undefined
