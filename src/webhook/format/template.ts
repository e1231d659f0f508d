import { invalidInput } from '../../core/errors.ts'
import { checkShape } from '../../core/http/json.ts'
import { dataSchemaOf, EVENT_NAMES, type EventSender } from '../../event/index.ts'

/** Template of a webhook's body, in UTF-8. @limit Webhooks */
const MAX_TEMPLATE_BYTES = 8 * 1024

/**
 * Body that a template makes. A template can name a long value many times, and receivers such as Slack and GitHub
 * accept about as much. A larger body is not sent, and its event is skipped.
 * @limit Webhooks
 */
export const MAX_BODY_BYTES = 64 * 1024

/** The names that lead to a value in an event. */
type Path = readonly string[]

/** A compiled template: JSON as it is, and between it the values of events, whole or within a string. */
export type Template = readonly (string | { path: Path; isWhole: boolean })[]

interface Schema {
  properties?: Record<string, Schema>
  /** What it is, or null. */
  anyOf?: readonly Schema[]
}

const SENDER = ['id', 'kind', 'name', 'email', 'phone'] as const satisfies (keyof EventSender)[]

const pathsIn = ({ properties = {}, anyOf = [] }: Schema, path: Path): Path[] => [
  path,
  ...Object.entries(properties).flatMap(([name, schema]) => pathsIn(schema, [...path, name])),
  ...anyOf.flatMap((schema) => pathsIn(schema, path)),
]

/** The paths of all types of events, by how they are written. */
const PATHS: ReadonlyMap<string, Path> = new Map(
  [
    ...['eventId', 'name', 'timestamp', 'cursor'].map((name) => [name]),
    ...EVENT_NAMES.flatMap((type) => pathsIn(dataSchemaOf(type), ['data'])),
    ...SENDER.map((name) => ['data', 'message', 'sender', name]),
  ].map((path) => [path.join('.'), path]),
)

const SHOWN = 60

const pathOf = (written: string): Path => {
  const path = PATHS.get(written.trim())
  if (path) return path
  const shown = written.length > SHOWN ? `${written.slice(0, SHOWN)}…` : written
  throw invalidInput(
    'body',
    `\`{{${shown}}}\` names no value of an event. There are: ${[...PATHS.keys()].join(', ')}`,
  )
}

/** A string of JSON, and the colon after it if it is a name. */
const STRING = /"((?:[^"\\]|\\.)*)"(:?)/g

/** Divides what is between the quotes of a string, where `{` is never part of an escape. */
const partsOf = (inside: string): Template => {
  const [first = '', ...others] = inside.split('{{')
  const parts = others.flatMap((rest) => {
    const end = rest.indexOf('}}')
    const path = pathOf(end < 0 ? rest : rest.slice(0, end))
    if (end < 0) throw invalidInput('body', `\`{{${rest.slice(0, SHOWN)}\` has no \`}}\``)
    return [{ path, isWhole: false }, rest.slice(end + 2)]
  })
  const [only, after] = parts
  const isWhole = first === '' && parts.length === 2 && after === '' && typeof only === 'object'
  return isWhole ? [{ ...only, isWhole }] : (['"', first, ...parts, '"'] as Template)
}

/** Compiles a template, written as by `JSON.stringify`. Throws `invalid_input` for a path that no event has. */
export const compileTemplate = (json: string): Template => {
  const parts: Template[number][] = []
  let end = 0
  for (const match of json.matchAll(STRING)) {
    const [string, inside = '', colon] = match
    if (!inside.includes('{{')) continue
    if (colon) throw invalidInput('body', 'must not have `{{` in a name: values alone are replaced')
    parts.push(json.slice(end, match.index), ...partsOf(inside))
    end = match.index + string.length
  }
  return [...parts, json.slice(end)]
}

/**
 * Returns a template in the form in which it is stored; it was given as an object, or as its JSON. Throws
 * `invalid_input`.
 */
export const readTemplate = (given: string | object): string => {
  const json = typeof given === 'string' ? given : JSON.stringify(given)
  if (Buffer.byteLength(json) > MAX_TEMPLATE_BYTES)
    throw invalidInput('body', `must be at most ${MAX_TEMPLATE_BYTES} bytes of JSON`)
  checkShape(json, 'body')
  const value = parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidInput('body', 'must be a JSON object')
  const stored = JSON.stringify(value)
  compileTemplate(stored)
  return stored
}

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    throw invalidInput('body', 'must be a JSON object')
  }
}

/** Returns the value at a path of own properties. */
const valueAt = (event: unknown, path: Path): unknown => {
  let value = event
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * Returns the body for an event, in time proportional to its length: a value that the event does not have is null, and
 * empty within a string. Returns null for a body that would be too large.
 */
export const render = (template: Template, event: object): Buffer | null => {
  let body = ''
  for (const part of template) {
    if (typeof part === 'string') body += part
    else {
      const value = valueAt(event, part.path)
      body += part.isWhole ? JSON.stringify(value ?? null) : JSON.stringify(textOf(value)).slice(1, -1)
    }
    if (body.length > MAX_BODY_BYTES) return null
  }
  const bytes = Buffer.from(body)
  return bytes.length > MAX_BODY_BYTES ? null : bytes
}
