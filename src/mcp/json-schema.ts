import { z } from 'zod'

const made = new WeakMap<z.ZodType, object>()

/** The JSON Schema of a rule's input, kept short: without a UUID's pattern, which repeats its format, and old names. */
export const inputSchemaOf = (rule: z.ZodType): object => {
  const known = made.get(rule)
  if (known) return known
  const { $schema: _, ...schema } = z.toJSONSchema(rule, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'uuid') delete jsonSchema.pattern
      for (const [name, property] of Object.entries(jsonSchema.properties ?? {}))
        if (Object(property).deprecated) delete jsonSchema.properties![name]
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  made.set(rule, schema)
  return schema
}
