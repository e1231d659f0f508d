import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: a JSON document whose parts differ in shape
export type Json = any

export interface Described {
  id: string
  method: string
  path: string
  operation: Json
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete']

/** Reads an OpenAPI document as a client's tools do. */
export const createDescription = (document: Json) => {
  const resolve = (part: Json): Json =>
    part?.$ref
      ? resolve(
          part.$ref
            .split('/')
            .slice(1)
            .reduce((at: Json, key: string) => at[key], document),
        )
      : part

  /** Returns the schema without references. `closed` rejects fields that are not described. */
  const whole = (given: Json, closed: boolean): Json => {
    const { example: _, ...schema } = resolve(given)
    const each = (schemas: Json) =>
      Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, whole(value, closed)]))
    if (schema.properties) schema.properties = each(schema.properties)
    if (schema.items) schema.items = whole(schema.items, closed)
    if (schema.anyOf) schema.anyOf = schema.anyOf.map((part: Json) => whole(part, closed))
    if (schema.allOf) schema.allOf = schema.allOf.map((part: Json) => whole(part, false))
    if (typeof schema.additionalProperties === 'object')
      schema.additionalProperties = whole(schema.additionalProperties, closed)
    const isOpen = schema.additionalProperties === undefined
    return closed && isOpen && (schema.properties || schema.allOf)
      ? { ...schema, unevaluatedProperties: false }
      : schema
  }

  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { binary: true } })
  addFormats.default(ajv)
  const compiled = new Map<Json, ReturnType<typeof ajv.compile>>()
  const operations: Described[] = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) =>
      item[method] ? [{ id: item[method].operationId, method, path, operation: item[method] }] : [],
    ),
  )
  return {
    operations,
    resolve,
    schemaOf: (schema: Json) => whole(schema, false),
    /** Returns how a value violates a schema, including every field that is not described. */
    faultsOf(schema: Json, value: unknown): string[] {
      const validate = compiled.get(schema) ?? ajv.compile(whole(schema, true))
      compiled.set(schema, validate)
      if (validate(value)) return []
      return (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
      )
    },
    /** Returns the operation that a request is for, or undefined. */
    operationOf: (method: string, path: string): Described | undefined => {
      const parts = path.split('?', 1)[0]!.split('/')
      const fits = (pattern: string) => {
        const wanted = pattern.split('/')
        return (
          wanted.length === parts.length &&
          wanted.every((part, n) => part === parts[n] || part.startsWith('{'))
        )
      }
      const found = operations.filter((one) => one.method === method.toLowerCase() && fits(one.path))
      // As in the router, a literal segment takes precedence over a parameter.
      return found.sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
    },
  }
}
export type Description = ReturnType<typeof createDescription>
