import fc from 'fast-check'
import type { Described, Description, Json } from './description.ts'

/**
 * Valid and invalid requests that no normal client sends, generated from the OpenAPI description. An invalid
 * one has a single fault.
 */

export interface FuzzRequest {
  /** Operation ID. */
  id: string
  method: string
  /** Path with its query. */
  path: string
  headers: Record<string, string>
  body: string | null
  /** Kind of token that the request has. */
  who: 'member' | 'agent' | 'nobody' | 'garbage'
  /** Whether the request violates the description, so that the response must not be a success. */
  broken: boolean
}

/** Existing IDs, by the name of the parameter that they are used for. */
export type Pool = Record<string, readonly string[]>

interface Piece<Value> {
  value: Value
  broken: boolean
}
const good = <Value>(value: Value): Piece<Value> => ({ value, broken: false })
const bad = <Value>(value: Value): Piece<Value> => ({ value, broken: true })

const CHARACTERS = [
  'a',
  'Z',
  '7',
  ' ',
  '-',
  "'",
  '"',
  '\\',
  '<',
  '&',
  '\n',
  '\t',
  '\u202e',
  'é',
  'ß',
  '漢',
  '😀',
  '𝒳',
  '\u0301',
  '%',
  ';',
]
const textOf = (length: number): fc.Arbitrary<string> =>
  length > 2_000
    ? fc.constantFrom('x', '😀').map((character) => character.repeat(length))
    : fc
        .array(fc.constantFrom(...CHARACTERS), { minLength: length, maxLength: length })
        .map((parts) => parts.join(''))

const lengths = (min: number, max: number) =>
  [...new Set([min, min + 1, Math.min(12, max), Math.max(min, max - 1), max])].filter((n) => n <= max)

const SAMPLES: [RegExp, string[]][] = [
  [/@/, ['wild@agents.localhost', 'a.b_c@agents.localhost', 'x@example.com']],
  [/128/, ['KEY', 'a', '_.-', 'K'.repeat(128)]],
]

const goodText = (
  { format, pattern, contentEncoding, enum: values, minLength = 0, maxLength = 40 }: Json,
  pool: Pool,
): fc.Arbitrary<string> => {
  if (values) return fc.constantFrom(...values)
  if (contentEncoding === 'base64') return fc.constantFrom('aGVsbG8=', 'AAECAwQ=', 'A'.repeat(4_000))
  if (format === 'uuid')
    return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...(pool.messageId ?? [])) }, fc.uuid())
  if (format === 'date-time') return fc.constantFrom('2030-01-01T00:00:00Z', '2099-12-31T23:59:59.999+14:00')
  const samples = pattern ? SAMPLES.find(([mark]) => mark.test(pattern))?.[1] : undefined
  if (samples) return fc.constantFrom(...samples)
  const useful = [
    'ann@example.com',
    '*@example.com',
    'http://127.0.0.1:9/hook',
    '+15551234567',
    '@someone',
  ].filter((one) => one.length >= minLength)
  return fc.oneof(
    fc.constantFrom(...useful),
    ...lengths(minLength, maxLength).map((length) => textOf(length)),
  )
}

/** Returns a value that the schema accepts. The operation may still refuse it. */
const goodValue = (schema: Json, pool: Pool): fc.Arbitrary<Json> => {
  const types = [schema.type].flat()
  const orNull = types.includes('null') ? [fc.constant(null)] : []
  if (types.includes('string')) return fc.oneof(goodText(schema, pool), ...orNull)
  if (types.includes('boolean')) return fc.boolean()
  if (types.includes('integer'))
    return fc.constantFrom(...new Set([schema.minimum ?? 0, (schema.minimum ?? 0) + 1, schema.maximum ?? 9]))
  if (types.includes('array')) {
    const { minItems: minLength = 0, maxItems = 5 } = schema
    return fc.array(goodValue(schema.items, pool), {
      minLength,
      maxLength: Math.min(maxItems, 60),
      size: 'medium',
    })
  }
  const required = schema.required ?? []
  const fields = Object.entries<Json>(schema.properties ?? {}).map(
    ([name, value]) => [name, goodValue(value, pool)] as const,
  )
  return fc.record(Object.fromEntries(fields), { requiredKeys: required })
}

const HALVES = ['\ud800', 'a\udc00b']
const wrongTypes = (types: string[]): Json[] => {
  const values: Json[] = [0, -1, 1.5, 1e308, true, null, [], {}, 'x', [[]], { a: null }]
  const kindOf = (value: Json) =>
    value === null
      ? 'null'
      : Array.isArray(value)
        ? 'array'
        : Number.isInteger(value)
          ? 'integer'
          : typeof value
  return values.filter((value) => !types.includes(kindOf(value)))
}

/** Returns values that the schema refuses, each for one reason. */
const badValues = (schema: Json): Json[] => {
  const types: string[] = [schema.type].flat()
  const values = wrongTypes(types)
  if (types.includes('string')) {
    values.push('a\0b', ...HALVES)
    if (schema.minLength > 0) values.push('')
    if (schema.contentEncoding) values.push('no base64', 'aGVsbG8')
    else if (schema.maxLength)
      values.push('x'.repeat(schema.maxLength + 1), '😀'.repeat(schema.maxLength + 1))
    if (schema.enum || schema.format || schema.pattern) values.push('nonsense!', '', ' ')
  }
  if (types.includes('array')) {
    const [one] = fc.sample(
      goodValue(schema.items, { messageId: ['00000000-0000-4000-8000-000000000000'] }),
      { numRuns: 1, seed: 1 },
    )
    if (schema.minItems > 0) values.push([])
    if (schema.maxItems) values.push(Array.from({ length: schema.maxItems + 1 }, () => one))
    values.push(
      ...badValues(schema.items)
        .slice(0, 8)
        .map((value) => [value]),
    )
  }
  return values
}

const UNKNOWN = ['extra', '__proto__', 'constructor', 'toString', 'id', '', 'ключ', 'a\0b']

const brokenBody = (schema: Json, pool: Pool): fc.Arbitrary<string> => {
  const names = Object.keys(schema.properties)
  const whole = goodValue(schema, pool)
  const wrongField = fc
    .tuple(whole, fc.constantFrom(...names))
    .chain(([body, name]) =>
      fc
        .constantFrom(...badValues(schema.properties[name]))
        .map((value) => JSON.stringify({ ...body, [name]: value })),
    )
  const required: string[] = schema.required ?? []
  const missing = required.map((name) =>
    whole.map((body) => {
      const { [name]: _, ...rest } = body
      return JSON.stringify(rest)
    }),
  )
  const unknown = fc.tuple(whole, fc.constantFrom(...UNKNOWN), fc.jsonValue()).map(([body, name, value]) => {
    const text = JSON.stringify(body)
    // Built as text: __proto__ in an object literal would not become an own field.
    return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}}`
  })
  const noObject = fc.oneof(
    fc.constantFrom('null', '[]', '"text"', '5', 'true', '[{}]'),
    fc
      .jsonValue()
      .filter((value) => typeof value !== 'object' || Array.isArray(value))
      .map((value) => JSON.stringify(value)),
  )
  const noJson = fc.constantFrom(
    '',
    '{',
    '{"a":',
    'NaN',
    '\0',
    "{'a':1}",
    '{"a":1,}',
    `${'['.repeat(20_000)}`,
    '\ufeff{',
    '{}{}',
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  )
  const huge = fc.constant(JSON.stringify({ [names[0]!]: 'x'.repeat(1024 * 1024) }))
  return fc.oneof(
    { weight: 8, arbitrary: wrongField },
    ...missing,
    { weight: 2, arbitrary: unknown },
    noObject,
    noJson,
    {
      weight: 1,
      arbitrary: huge,
    },
  )
}

/**
 * Returns a body with duplicate fields. The last one is used, as in every JSON parser; whatever the response,
 * it must not be a 500.
 */
const doubled = (schema: Json, pool: Pool): fc.Arbitrary<string> =>
  fc.tuple(goodValue(schema, pool), goodValue(schema, pool)).map(([one, two]) => {
    const [first, second] = [JSON.stringify(one), JSON.stringify(two)]
    return first === '{}' || second === '{}' ? first : `${first.slice(0, -1)},${second.slice(1)}`
  })

const bodyOf = (schema: Json | undefined, pool: Pool): fc.Arbitrary<Piece<string | null>> =>
  schema
    ? fc.oneof(
        { weight: 4, arbitrary: goodValue(schema, pool).map((value) => good(JSON.stringify(value))) },
        { weight: 5, arbitrary: brokenBody(schema, pool).map(bad) },
        { weight: 1, arbitrary: doubled(schema, pool).map(good) },
      )
    : fc.constant(good(null))

const WRONG_SEGMENTS = [
  'x',
  '%00',
  '%ff',
  '%zz',
  'a%20b',
  '0',
  '-1',
  '%F0%9F%98%80',
  'x'.repeat(3_000),
  "'%20or%201=1--",
  '%5C',
  '99999999999999999999',
]
const goodSegment = (name: string, schema: Json, pool: Pool): fc.Arbitrary<string> => {
  const known = pool[name] ?? []
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.format === 'uuid')
    return known.length > 0
      ? fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...known) }, fc.uuid())
      : fc.uuid()
  return schema.type === 'integer'
    ? fc.constantFrom('0', '1', '9999')
    : fc.constantFrom('KEY', 'OTHER', 'K'.repeat(128), 'a.b-c_d')
}

/** Tests whether the path accepts the segment after all: a secret can have the name `x`. */
const takes = (schema: Json, segment: string): boolean =>
  schema.type === 'integer'
    ? /^\d{1,4}$/.test(segment)
    : schema.format !== 'uuid' && new RegExp(schema.pattern ?? '(?!)').test(segment)

const segmentOf = (name: string, schema: Json, pool: Pool): fc.Arbitrary<Piece<string>> =>
  fc.oneof(
    { weight: 12, arbitrary: goodSegment(name, schema, pool).map(good) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...WRONG_SEGMENTS)
        .map((segment) => (takes(schema, segment) ? good(segment) : bad(segment))),
    },
  )

const pathOf = ({ path }: Described, parameters: Json[], pool: Pool): fc.Arbitrary<Piece<string>> => {
  const inside = parameters.filter((parameter) => parameter.in === 'path')
  return fc.tuple(...inside.map(({ name, schema }) => segmentOf(name, schema, pool))).map((segments) => ({
    value: inside.reduce(
      (whole, { name }, index) => whole.replace(`{${name}}`, () => segments[index]!.value),
      path,
    ),
    broken: segments.some(({ broken }) => broken),
  }))
}

const QUERY_JUNK = [
  '%00',
  '%zz',
  'a%00b',
  '-1',
  '1.5',
  '1e3',
  '99999999999999999999',
  '%F0%9F%98%80',
  "';--",
  'x'.repeat(600),
]
/** Objects may have no prototype, and no text then. */
const inQuery = (value: unknown): string =>
  typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value)

const queryOf = (parameters: Json[], pool: Pool): fc.Arbitrary<string> => {
  const names = parameters.filter((parameter) => parameter.in === 'query')
  if (names.length === 0) return fc.constant('')
  const one = fc.constantFrom(...names).chain(({ name, schema }: Json) =>
    fc
      .oneof(
        goodValue(schema, pool).map((value) => encodeURIComponent(inQuery(value).toWellFormed())),
        fc.constantFrom(...QUERY_JUNK),
      )
      .map((value) => `${name}=${value}`),
  )
  const any = fc.oneof(
    { weight: 9, arbitrary: one },
    fc.constantFrom('unknown=1', '=', '&&', '__proto__=1', '%', 'limit'),
  )
  return fc.array(any, { maxLength: 3 }).map((pairs) => (pairs.length > 0 ? `?${pairs.join('&')}` : ''))
}

const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/jsonp',
  'nonsense',
  '',
]
const KEYS = [
  'one',
  '"two"',
  '""',
  '"',
  'k'.repeat(255),
  'k'.repeat(256),
  'caf\xe9',
  'a b',
  '\t',
  "'; drop table token; --",
]

const headersOf = (hasBody: boolean): fc.Arbitrary<Piece<Record<string, string>>> => {
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant(good('application/json')) },
    { weight: 1, arbitrary: fc.constantFrom(...TYPES).map(bad) },
  )
  const key = fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, fc.constantFrom(...KEYS), fc.uuid())
  return fc.tuple(type, key).map(([{ value, broken }, idempotency]) => ({
    value: {
      ...(hasBody ? { 'Content-Type': value } : {}),
      ...(idempotency === null ? {} : { 'Idempotency-Key': idempotency }),
    },
    broken: hasBody && broken,
  }))
}

const METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'POST', 'DELETE', 'PROPFIND', 'BREW', 'get']
const who = fc.oneof(
  { weight: 10, arbitrary: fc.constant('member' as const) },
  { weight: 6, arbitrary: fc.constant('agent' as const) },
  { weight: 1, arbitrary: fc.constantFrom('nobody' as const, 'garbage' as const) },
)

const requestOf = (description: Description, operation: Described, pool: Pool): fc.Arbitrary<FuzzRequest> => {
  const parameters = (operation.operation.parameters ?? []).map(description.resolve)
  const given = operation.operation.requestBody?.content['application/json']?.schema
  const schema = given && description.schemaOf(given)
  const own = operation.method.toUpperCase()
  // Another operation's method on the same path would run that operation, which might delete shared data.
  const others = METHODS.filter((method) => !description.operationOf(method, operation.path))
  const method = fc.oneof(
    { weight: 14, arbitrary: fc.constant(own) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
  return fc
    .tuple(
      pathOf(operation, parameters, pool),
      queryOf(parameters, pool),
      bodyOf(schema, pool),
      headersOf(schema !== undefined),
      method,
      who,
    )
    .map(([path, query, body, headers, method, who]) => ({
      id: operation.id,
      method,
      path: path.value + query,
      headers: headers.value,
      body: body.value,
      who,
      broken: path.broken || body.broken || headers.broken,
    }))
}

/** Generates a request to any of the operations. */
export const fuzzRequest = (
  description: Description,
  poolOf: (operation: Described) => Pool,
): fc.Arbitrary<FuzzRequest> =>
  fc.oneof(...description.operations.map((operation) => requestOf(description, operation, poolOf(operation))))
