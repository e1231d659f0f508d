import { pathToFileURL } from 'node:url'
import { printedDocument } from '../../src/rest/print.ts'

/** Prints src/client/python/agent_messaging/api.py: a type for each schema, and a function for each operation. */

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  allOf?: Schema[]
  anyOf?: Schema[]
  description?: string
}
interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  schema: Schema
}
type Content = Record<string, { schema: Schema }>
interface Operation {
  operationId: string
  summary?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> }
}

const JSON_TYPE = 'application/json'
const KEYWORDS = new Set(['and', 'as', 'class', 'from', 'import', 'in', 'is', 'not', 'or', 'pass', 'with'])
const SCALARS: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }
/** What a message to the Message URL has besides: the service stores none. */
const WIDER: Record<string, string> = {
  'Message.channel': '{} | Literal["url"]',
  'Message.addressId': '{} | None',
  'Message.threadId': '{} | None',
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const nameOf = (name: string): string => (KEYWORDS.has(snake(name)) ? `${snake(name)}_` : snake(name))
const pascal = (name: string): string => name[0]?.toUpperCase() + name.slice(1)
const refOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)
const literal = (value: unknown): string => (value === true ? 'True' : JSON.stringify(value))
const comment = (text = ''): string => (text ? `    # ${text.replace(/\s+/g, ' ')}\n` : '')

class Printer {
  readonly #types = new Map<string, string>()
  readonly #document: Document

  constructor(document: Document) {
    this.#document = document
  }

  /** `name` is given to an object that has none of its own; `given` is what a caller passes, not what comes. */
  #typeOf(schema: Schema, name: string, given = false): string {
    if (schema.$ref) return refOf(schema.$ref)
    const types = [schema.type ?? []].flat()
    const values = schema.enum?.filter((one) => one !== null).map(literal)
    if (values) this.#types.set(name, `${name} = Literal[${values.join(', ')}]\n`)
    const plain = values ? name : this.#plain(schema, types.find((one) => one !== 'null') ?? '', name, given)
    return types.includes('null') ? `${plain} | None` : plain
  }

  #plain(schema: Schema, type: string, name: string, given: boolean): string {
    if (type === 'array' && schema.items)
      return `${given ? 'Sequence' : 'list'}[${this.#typeOf(schema.items, name.replace(/s$/, ''), given)}]`
    if (schema.properties) return this.#object(name, schema)
    if (type === 'object' && typeof schema.additionalProperties === 'object')
      return `dict[str, ${this.#typeOf(schema.additionalProperties, name, given)}]`
    if (given && schema.format === 'date-time') return 'datetime | str'
    return SCALARS[type] ?? (type === 'object' ? 'dict[str, Any]' : 'Any')
  }

  #object(name: string, { properties = {}, required = [] }: Schema, base = 'TypedDict'): string {
    const fields = Object.entries(properties).map(([key, schema]) => {
      const type = this.#typeOf(schema, name + pascal(key))
      return { key, schema, type: required.includes(key) ? type : `NotRequired[${type}]` }
    })
    const isPlain = fields.every(({ key }) => !KEYWORDS.has(key))
    const lines = fields.map(({ key, schema, type }) => `${comment(schema.description)}    ${key}: ${type}\n`)
    const pairs = fields.map(({ key, type }) => `"${key}": ${JSON.stringify(type)}`)
    const text = isPlain
      ? `class ${name}(${base}):\n${lines.join('') || '    pass\n'}`
      : `${name} = TypedDict("${name}", {${pairs.join(', ')}})\n`
    this.#types.set(name, text)
    return name
  }

  /** A class with the same fields as attributes. */
  #attributes(name: string): void {
    const { properties = {}, required = [] } = this.#document.components.schemas[name]!
    const fields = Object.entries(properties).filter(([key]) => key !== 'attachments') // objects with methods
    const lines = fields.map(([key, schema]) => {
      const plain = this.#typeOf(schema, name + pascal(key))
      const type = (WIDER[`${name}.${key}`] ?? '{}').replace('{}', plain)
      const isNull = type.endsWith('| None') || !required.includes(key)
      const annotation = isNull && !type.endsWith('| None') ? `${type} | None` : type
      return `${comment(schema.description)}    ${nameOf(key)}: ${annotation}${isNull ? ' = None' : ''}\n`
    })
    this.#types.set(`${name}Fields`, `class ${name}Fields(Fields):\n${lines.join('')}`)
  }

  #schemas(): void {
    const all = Object.entries(this.#document.components.schemas).filter(([name]) => !name.endsWith('Input'))
    for (const [name, schema] of all) {
      if (schema.allOf ?? schema.anyOf) continue
      if (schema.properties) this.#object(name, schema)
      else this.#typeOf(schema, name)
    }
    for (const [name, { allOf, anyOf }] of all) {
      if (allOf) this.#object(name, allOf[1]!, refOf(allOf[0]!.$ref!))
      const kinds = anyOf?.map((one) => refOf(one.$ref!)).join(', ')
      if (anyOf) this.#types.set(name, `${name} = Union[${kinds}]\n`)
    }
    for (const name of ['Message', 'Event']) this.#attributes(name)
  }

  /** None for an operation whose request or response is no JSON: those are written by hand. */
  #operation(method: string, path: string, operation: Operation): string | null {
    const { operationId: id, summary = '' } = operation
    const parameters = (operation.parameters ?? []).map((one) =>
      one.$ref ? this.#document.components.parameters![refOf(one.$ref)]! : one,
    )
    const [status, response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2'))!
    const answer = response.content?.[JSON_TYPE]?.schema
    const bodySchema = operation.requestBody?.content[JSON_TYPE]?.schema
    if ((status !== '204' && !answer) || (operation.requestBody && !bodySchema)) return null
    const body = bodySchema?.$ref ? this.#document.components.schemas[refOf(bodySchema.$ref)]! : bodySchema
    const inPath = parameters.filter((one) => one.in === 'path' && one.name !== 'id')
    const inQuery = parameters.filter((one) => one.in === 'query' && one.name !== 'cursor')
    const inBody = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({ name, schema }))
    const needed = [...inPath, ...inQuery.filter((one) => one.required)].map((one) => one.name)
    needed.push(...(body?.required ?? []))
    const [first, second] = inBody
    // A body's only field can be given without its name.
    const isFree = (name: string) => first?.name === name && !second
    const typed = ({ name, schema }: { name: string; schema: Schema }) =>
      `${nameOf(name)}: ${this.#typeOf(schema, pascal(id) + pascal(name), true)}`
    const optional = ({ name, schema }: { name: string; schema: Schema }) =>
      `${nameOf(name)}: ${this.#typeOf(schema, pascal(id) + pascal(name), true)} | NotGiven = NOT_GIVEN`
    const all = [...inPath, ...inQuery, ...inBody]
    const free = all.filter(({ name }) => !needed.includes(name) && isFree(name)).map(optional)
    const named = all.filter(({ name }) => !needed.includes(name) && !isFree(name)).map(optional)
    if (method === 'post') named.push('key: str | None = None')
    const given = [
      ...all.filter(({ name }) => needed.includes(name)).map(typed),
      ...free,
      ...(named.length > 0 ? ['*', ...named] : []),
    ]
    const pairs = (from: { name: string }[]) =>
      `{${from.map(({ name }) => `"${name}": ${nameOf(name)}`).join(', ')}}`
    const parts = [
      `"${method.toUpperCase()}", "${path}", ${pairs(inPath)}`,
      ...(inQuery.length > 0 ? [`query=${pairs(inQuery)}`] : []),
      ...(body ? [`body=${pairs(inBody)}`] : []),
      ...(method === 'post' ? ['key=key'] : []),
    ]
    const isPaged = parameters.some((one) => one.name === 'cursor')
    const list = isPaged && (answer?.items ?? answer?.properties?.items?.items)?.$ref
    const type = list ? `Page[${refOf(list)}]` : answer ? this.#typeOf(answer, `${pascal(id)}Result`) : 'None'
    return `def ${snake(id)}(${given.join(', ')}) -> Call[${type}]:
    """${summary}."""
    return Call(${parts.join(', ')})
`
  }

  print(): string {
    this.#schemas()
    const operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, one]) => this.#operation(method, path, one) ?? []),
    )
    return `# Printed from the API's description by \`npm run client:types\`; do not change it by hand.
"""What the API takes and returns, with the names of its JSON, and a function for each of its operations."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from ._call import NOT_GIVEN, Call, Fields, NotGiven, Page

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

${[...this.#types.values(), ...operations].join('\n\n')}`
  }
}

export const pythonTypes = (): string => new Printer(printedDocument() as unknown as Document).print()

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(pythonTypes())
