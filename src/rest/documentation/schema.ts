import { type Html, html } from '../../core/text/html.ts'
import type { Document } from './openapi.ts'

/** The part of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  default?: unknown
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  allOf?: Schema[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  description?: string
  example?: unknown
}

/** Renders text with `code` in it. */
export const prose = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

/** Resolves a `$ref`; returns anything else unchanged. */
export const resolve = <Part>(document: Document, part: Part): Part => {
  const ref = (part as { $ref?: string } | undefined)?.$ref
  if (ref === undefined) return part
  const target = ref.split('/').slice(1)
  // biome-ignore lint/suspicious/noExplicitAny: a path into a document whose parts differ in shape
  return target.reduce<any>((at, key) => at[key], document) as Part
}

/** Lists an object's fields, starting with those of the schemas it extends. */
export const fieldsOf = (
  document: Document,
  schema: Schema,
): { name: string; field: Schema; required: boolean }[] => {
  const { allOf = [], properties = {}, required = [] } = resolve(document, schema)
  const own = Object.entries(properties).map(([name, field]) => ({
    name,
    field,
    required: required.includes(name),
  }))
  return [...allOf.flatMap((part) => fieldsOf(document, part)), ...own]
}

const nullable = ({ type }: Schema) => Array.isArray(type) && type.includes('null')

/** Renders the type of a value as a word or a link. */
export const kindOf = (schema: Schema): Html => {
  if (schema.$ref) return html`<a href="#object-${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`
  const named = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].find(
    ({ $ref }) => $ref,
  )
  if (named)
    return html`${kindOf(named)}${(schema.oneOf ?? schema.anyOf)?.some(({ type }) => type === 'null') ? ' or null' : ''}`
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  const orNull = nullable(schema) ? ' or null' : ''
  const type = [schema.type].flat().find((name) => name !== 'null') ?? 'value'
  if (type === 'array' && schema.items) return html`array of ${kindOf(schema.items)}${orNull}`
  return html`${schema.format ?? type}${orNull}`
}

const range = (min: number | undefined, max: number | undefined, unit: string): string | null => {
  const [from, to] = [min?.toLocaleString('en'), max?.toLocaleString('en')]
  const space = unit === '' ? '' : ' '
  if (max === undefined) return min ? `at least ${from}${space}${unit}` : null
  if (max === Number.MAX_SAFE_INTEGER) return min ? `at least ${from}` : null
  return min ? `${from} to ${to}${space}${unit}` : `at most ${to}${space}${unit}`
}

/** Renders the constraints on a value, each in a few words. */
export const rulesOf = (schema: Schema): Html[] => {
  const items = schema.items && !schema.items.$ref ? schema.items : {}
  const each = range(items.minLength, items.maxLength, 'characters')
  const words = [
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minimum, schema.maximum, ''),
    range(schema.minItems, schema.maxItems, 'items'),
    each && `each ${each}`,
    schema.default === undefined ? null : `${JSON.stringify(schema.default)} when left out`,
  ].filter((word) => word !== null && word !== undefined)
  const values = (schema.enum ?? items.enum ?? []).filter((value) => value !== null)
  const pattern =
    schema.format === 'uuid'
      ? undefined
      : (schema.pattern ?? (items.format === 'uuid' ? undefined : items.pattern))
  return [
    ...words.map((word) => html`<li>${word}</li>`),
    ...(values.length > 0
      ? [html`<li>one of ${values.map((value) => html`<code>${String(value)}</code> `)}</li>`]
      : []),
    ...(pattern ? [html`<li>matches <code>${pattern}</code></li>`] : []),
  ]
}

/** Returns an example of a value: its own, or one assembled from those of its parts. */
export const exampleOf = (document: Document, given: Schema): unknown => {
  const schema = resolve(document, given)
  if (schema.example !== undefined) return schema.example
  if (schema.type === 'array' && schema.items) return [exampleOf(document, schema.items)]
  if (schema.type !== 'object') return schema.enum?.[0] ?? schema.const ?? null
  return Object.fromEntries(
    fieldsOf(document, schema).map(({ name, field }) => [name, exampleOf(document, field)]),
  )
}
