import { z } from 'zod'

const made = new WeakMap<z.ZodType, object>()

/** What a rule takes, as JSON Schema, in few words: a UUID's pattern says no more than its format. */
export const inputSchemaOf = (rule: z.ZodType): object => {
  const known = made.get(rule)
  if (known) return known
  const { $schema: _, ...schema } = z.toJSONSchema(rule, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'uuid') delete jsonSchema.pattern
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  made.set(rule, schema)
  return schema
}
