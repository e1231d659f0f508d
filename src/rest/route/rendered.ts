import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { type Operation, placeOf, type Shown } from '../../api/operation.ts'
import {
  choiceOf,
  type Fields,
  innermost,
  isNullable,
  isOptional,
  partOf,
  type Resource,
  sentenceOf,
} from '../../api/resource.ts'
import type { RestEnv } from './env.ts'
import { type QueryValues, withParts } from './query-parts.ts'
import {
  body,
  failures,
  flag,
  integer,
  moment,
  NEXT_LINK,
  NO_CONTENT,
  nextLink,
  ok,
  optionalBody,
  secured,
} from './route.ts'
import { pageView } from './views.ts'

/** Routes that are printed from the descriptions in api/. */

/** A sentence that stands alone in a document has no full stop. */
const plain = (text: string): string => text.replace(/\.$/, '')

/** A choice of more values than this explains itself. */
const FEW = 10

/** What is said about a field. A choice of a few values has the words about each, for which JSON Schema has no place. */
const explained = (rule: z.ZodType): string => {
  const values = Object.entries(choiceOf(rule)?.values ?? {})
  const words = values.length > FEW ? [] : values.map(([value, says]) => `\`${value}\`: ${says}`)
  return plain([sentenceOf(rule), ...words].join(' '))
}

/** How a value is written in JSON. */
const inJson = (rule: z.ZodType): z.ZodType => {
  const part = partOf(rule)
  if (part) return viewOf(part)
  if (rule instanceof z.ZodDate) return z.string().openapi({ format: 'date-time' })
  if (rule instanceof z.ZodArray) return z.array(inJson(rule.element as z.ZodType)).meta({ ...rule.meta() })
  return rule instanceof z.ZodObject ? z.object(shapeOf(rule.shape)).meta({ ...rule.meta() }) : rule
}

/** How a field of a resource is written in JSON. A reference has no sentence: its schema would get that of the first one. */
const written = (rule: z.ZodType): z.ZodType => {
  const inner = innermost(rule)
  const json = inJson(inner)
  const isReference = partOf(inner)?.example !== undefined
  const meta = isReference ? json.meta() : { ...json.meta(), ...inner.meta() }
  const sentence = isReference ? '' : explained(rule)
  const shown = isNullable(rule) ? json.nullable() : json
  const described = shown.meta({ ...meta, ...(sentence && { description: sentence }) })
  return isOptional(rule) ? described.optional() : described
}

const shapeOf = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, rule]) => [name, written(rule)]))

const views = new Map<Resource, z.ZodObject>()

/** The schema of a resource in responses. */
export const viewOf = (of: Resource): z.ZodObject => {
  const known = views.get(of)
  if (known) return known
  const { name, fields, base, example } = of
  const own = Object.entries(fields).filter(([field]) => !base || !(field in base.fields))
  const shape = shapeOf(Object.fromEntries(own))
  const whole = base ? viewOf(base).extend(shape) : z.object(shape)
  const view = example ? whole.openapi(name, { example }) : whole
  views.set(of, view)
  return view
}

const answerOf = ({ kind, of, sentence, most }: Shown<never>) => {
  const view = of instanceof z.ZodType ? of : viewOf(of)
  const all = z.array(view).openapi(most === undefined ? {} : { maxItems: most })
  if (kind === 'linked') return { 200: { ...ok(plain(sentence), all), headers: NEXT_LINK } }
  if (kind === 'added') return { 201: ok(plain(sentence), view), 200: ok('It already existed', view) }
  const schema = kind === 'list' ? all : kind === 'page' ? pageView(view) : view
  return { [kind === 'new' ? 201 : 200]: ok(plain(sentence), schema) }
}

const statusOf = ({ kind }: Shown<never>, result: unknown) => {
  const isNew = kind === 'new' || (kind === 'added' && (result as { created: boolean }).created)
  return isNew ? 201 : 200
}

/** How a value is written in a URL. */
const inUrl = (rule: z.ZodType): z.ZodType => {
  if (rule instanceof z.ZodNumber)
    return integer(rule.minValue ?? 0, rule.maxValue ?? Number.MAX_SAFE_INTEGER)
  if (rule instanceof z.ZodBoolean) return flag
  if (rule instanceof z.ZodRecord) return rule.meta({ param: { style: 'deepObject', explode: true } })
  return rule.meta()?.format === 'date-time' ? moment : rule
}

/** How a field of a request is documented and checked. */
const taken = (rule: z.ZodType, convert: (rule: z.ZodType) => z.ZodType): z.ZodType => {
  const given = innermost(rule)
  const inner = convert(given)
  const sentence = sentenceOf(rule)
  const meta = { ...inner.meta(), ...given.meta(), ...(sentence && { description: plain(sentence) }) }
  const described = inner.meta(meta)
  const nullable = isNullable(rule) ? described.nullable() : described
  return isOptional(rule) ? nullable.optional() : nullable
}

/** Paths call the agent `id`: `/agents/{id}/tokens/{tokenId}`. */
const inPath = (name: string): string => (name === 'agentId' ? 'id' : name)

/** The first sentence of what an operation does, and the rest. */
const summarize = (says: string): { summary: string; description?: string } => {
  const end = says.indexOf('. ')
  if (end < 0) return { summary: plain(says) }
  return { summary: says.slice(0, end), description: says.slice(end + 2) }
}

/** The query, in which several parameters are the parts of one field that has keys. */
const queryOf = (fields: Fields) => {
  const query = z.strictObject(fields)
  const keyed = Object.keys(fields).filter((name) => innermost(fields[name]!) instanceof z.ZodRecord)
  if (keyed.length === 0) return query
  // The route takes it as what it makes; so does the document that is printed from it.
  return z.preprocess((given) => withParts(given as QueryValues, keyed), query) as z.ZodType as typeof query
}

type Asked = Pick<Operation<Fields, never>, 'rest' | 'input' | 'example' | 'mayBeEmpty' | 'restRequires'>

/** What a request must be: path parameters, and a query or a body for all others. */
const requestOf = ({ rest, input, example, mayBeEmpty, restRequires = [] }: Asked) => {
  const { method, names } = placeOf({ rest })
  const ruleOf = (name: string, rule: z.ZodType) =>
    restRequires.includes(name) && rule instanceof z.ZodOptional ? (rule.unwrap() as z.ZodType) : rule
  const pick = (wanted: boolean, convert = (rule: z.ZodType) => rule) =>
    Object.fromEntries(
      Object.entries(input)
        .filter(([name]) => names.includes(name) === wanted)
        .map(([name, rule]) => [wanted ? inPath(name) : name, taken(ruleOf(name, rule), convert)]),
    )
  const params = names.length > 0 ? { params: z.object(pick(true, inUrl)) } : {}
  if (Object.keys(input).length === names.length) return params
  if (method === 'GET') return { ...params, query: queryOf(pick(false, inUrl)) }
  const given = z.strictObject(pick(false)).openapi(example ? { example } : {})
  return { ...params, ...(mayBeEmpty ? optionalBody(given) : body(given)) }
}

/** Takes an empty body for none: clients that always send a Content-Type would otherwise have to send `{}`. */
const emptyIsNone: MiddlewareHandler<RestEnv> = (c, next) => {
  if (!c.var.bytes) c.req.raw.headers.delete('Content-Type')
  return next()
}

/** Adds the route of an operation. */
export const route = <Input extends Fields, Result>(
  app: OpenAPIHono<RestEnv>,
  operation: Operation<Input, Result>,
): void => {
  const { method, path, names } = placeOf(operation)
  const { name, says, tag, scope, output, fails } = operation
  const request = requestOf(operation)
  const { middleware, ...rights } = secured(scope)
  const described = createRoute({
    ...{
      method: method.toLowerCase() as 'get',
      path: path.replaceAll(/\{\w+\}/g, (braced) => `{${inPath(braced.slice(1, -1))}}`),
      operationId: name,
      ...summarize(says),
    },
    ...{ tags: [tag], ...rights, request },
    middleware: operation.mayBeEmpty ? [middleware, emptyIsNone] : middleware,
    responses: {
      ...(output.kind === 'nothing' ? { 204: NO_CONTENT } : answerOf(output)),
      ...failures(
        ...fails,
        ...(scope === 'any' ? [] : (['forbidden'] as const)),
        ...('body' in request ? (['body'] as const) : []),
      ),
    },
  })
  app.openapi(described, async (c) => {
    const params = c.req.valid('param' as never) as Record<string, unknown>
    const named = Object.fromEntries(names.map((one) => [one, params[inPath(one)]]))
    const input = Object.assign(named, c.req.valid('query' as never), c.req.valid('json' as never))
    const { deps, viewer, bytes = 0 } = c.var
    const waiting = { via: 'rest', gone: () => c.req.raw.signal, bytes, requests: deps.requests } as const
    const result = await operation.run(deps, viewer, input, waiting)
    if (output.kind === 'linked') {
      const { nextCursor } = result as { nextCursor: string | null }
      const url = c.var.deps.publicUrl() + c.req.path
      if (nextCursor !== null) c.header('Link', nextLink(url, { ...c.req.query(), cursor: nextCursor }))
    }
    if (output.kind !== 'nothing' && output.isSecret) c.header('Cache-Control', 'no-store')
    return output.kind === 'nothing'
      ? c.body(null, 204)
      : (c.json(output.present(result), statusOf(output, result)) as never)
  })
}
