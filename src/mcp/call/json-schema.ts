import { z } from 'zod'

const made = new WeakMap<z.ZodType, object>()

/** What an error says when it matters, and a model reads at every turn otherwise. */
const LIMITS = [
  ...(['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum'] as const),
  ...(['pattern', 'format', 'propertyNames'] as const),
]

/** The JSON Schema of a rule's input, kept short: without limits, formats and old names. */
export const inputSchemaOf = (rule: z.ZodType): object => {
  const known = made.get(rule)
  if (known) return known
  const { $schema: _, ...schema } = z.toJSONSchema(rule, {
    io: 'input',
    override: ({ jsonSchema, path }) => {
      for (const [name, property] of Object.entries(jsonSchema.properties ?? {}))
        if (Object(property).deprecated) delete jsonSchema.properties![name]
      for (const limit of LIMITS) delete jsonSchema[limit]
      // Only the list of arguments says that there are no others.
      if (path.length > 0) delete jsonSchema.additionalProperties
    },
  })
  made.set(rule, schema)
  return schema
}
