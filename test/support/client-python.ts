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

interface Argument {
  name: string
  schema: Schema
  place: 'needed' | 'free' | 'named'
}

/** What is done with a message by sending one: the same request, with other arguments. */
const ANSWERS: {
  name: string
  says: string
  fields: Record<string, Argument['place']>
  without: string[]
}[] = [
  {
    name: 'reply_to_message',
    says: 'Replies in the same thread, to whoever the message is from unless `to` says otherwise',
    fields: { replyTo: 'needed', text: 'free' },
    without: ['forward', 'channel'],
  },
  {
    name: 'forward_message',
    says: 'Passes a message on with its text and attachments',
    fields: { forward: 'needed', to: 'needed', text: 'free' },
    without: ['replyTo', 'replyAll', 'channel'],
  },
]

const JSON_TYPE = 'application/json'
const KEYWORDS = new Set(['and', 'as', 'class', 'from', 'import', 'in', 'is', 'not', 'or', 'pass', 'with'])
const SCALARS: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }
/** What a message to the Message URL has besides: the service stores none. */
const WIDER: Record<string, string> = {
  'Message.channel': '{} | Literal["url"]',
  'Message.addressId': '{} | None',
  'Message.threadId': '{} | None',
}

/** Fields of a message that its class has in another way: objects with methods, and what a method is called. */
const OTHERWISE = new Set(['attachments', 'conversation'])

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const nameOf = (name: string): string => (KEYWORDS.has(snake(name)) ? `${snake(name)}_` : snake(name))
const pascal = (name: string): string => name[0]?.toUpperCase() + name.slice(1)
const refOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)
/** Of a list of texts, a single one can be given. */
const isList = ({ schema }: Argument): boolean => schema.type === 'array' && schema.items?.type === 'string'
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
    if (schema.$ref) {
      const { type } = this.#resolved(schema, this.#document.components.schemas)
      return [type].flat().includes('null') ? `${refOf(schema.$ref)} | None` : refOf(schema.$ref)
    }
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
    const fields = Object.entries(properties).filter(([key]) => !OTHERWISE.has(key))
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

  #resolved<Part extends { $ref?: string }>(part: Part, parts: Record<string, Part> = {}): Part {
    return part.$ref ? parts[refOf(part.$ref)]! : part
  }

  /** How arguments are written: those without a default first; those with one must be named, unless they are `free`. */
  #arguments(id: string, all: Argument[], isPost: boolean): string {
    const written = ({ name, schema, place }: Argument): string => {
      const type = this.#typeOf(schema, pascal(id) + pascal(name), true)
      return `${nameOf(name)}: ${place === 'needed' ? type : `${type} | NotGiven = NOT_GIVEN`}`
    }
    const of = (place: Argument['place']) => all.filter((one) => one.place === place).map(written)
    const named = [...of('named'), ...(isPost ? ['key: str | None = None'] : [])]
    return [...of('needed'), ...of('free'), ...(named.length > 0 ? ['*', ...named] : [])].join(', ')
  }

  #parts(operation: Operation): Record<'path' | 'query' | 'body', Argument[]> {
    const { parameters: known, schemas } = this.#document.components
    const parameters = (operation.parameters ?? []).map((one) => this.#resolved(one, known))
    const schema = operation.requestBody?.content[JSON_TYPE]?.schema
    const { properties = {}, required = [] } = schema ? this.#resolved(schema, schemas) : {}
    const body = Object.entries(properties)
    const inPlace = (place: string, left: string) =>
      parameters
        .filter((one) => one.in === place && one.name !== left)
        .map(
          ({ name, schema, required }): Argument => ({ name, schema, place: required ? 'needed' : 'named' }),
        )
    return {
      path: inPlace('path', 'id'),
      query: inPlace('query', 'cursor'),
      body: body.map(([name, schema]) => {
        const optional = body.length === 1 ? 'free' : 'named' // a body's only field needs no name
        return { name, schema, place: required.includes(name) ? 'needed' : optional }
      }),
    }
  }

  /** None for an operation whose request or response is no JSON: those are written by hand. */
  #operation(method: string, path: string, operation: Operation): string[] {
    const { operationId: id, summary = '', requestBody } = operation
    const [status, response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2'))!
    const answer = response.content?.[JSON_TYPE]?.schema
    if ((status !== '204' && !answer) || (requestBody && !requestBody.content[JSON_TYPE])) return []
    const isPaged = operation.parameters?.some((one) => one.name === 'cursor')
    const list = isPaged && (answer?.items ?? answer?.properties?.items?.items)?.$ref
    const type = list ? `Page[${refOf(list)}]` : answer ? this.#typeOf(answer, `${pascal(id)}Result`) : 'None'
    const parts = this.#parts(operation)
    const isPost = method === 'post'
    const pairs = (from: Argument[]) =>
      `{${from.map((one) => `"${one.name}": ${isList(one) ? `listed(${nameOf(one.name)})` : nameOf(one.name)}`).join(', ')}}`
    const call = (body: Argument[]) => [
      `"${method.toUpperCase()}", "${path}", ${pairs(parts.path)}`,
      ...(parts.query.length > 0 ? [`query=${pairs(parts.query)}`] : []),
      ...(requestBody ? [`body=${pairs(body)}`] : []),
      ...(isPost ? ['key=key'] : []),
    ]
    const print = (name: string, says: string, body: Argument[]) => {
      const given = this.#arguments(id, [...parts.path, ...parts.query, ...body], isPost)
      return `def ${name}(${given}) -> Call[${type}]:\n    """${says}."""\n    return Call(${call(body).join(', ')})\n`
    }
    return [
      print(snake(id), summary, parts.body),
      ...(id === 'sendMessage' ? ANSWERS : []).map(({ name, says, fields, without }) => {
        const left = parts.body.filter((one) => !without.includes(one.name))
        return print(name, says, [
          ...Object.entries(fields).map(([field, place]) => ({
            ...left.find((one) => one.name === field)!,
            place,
          })),
          ...left.filter((one) => !(one.name in fields)),
        ])
      }),
    ]
  }

  print(): string {
    this.#schemas()
    const operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, one]) => this.#operation(method, path, one)),
    )
    return `# Printed from the API's description by \`npm run client:types\`; do not change it by hand.
"""What the API takes and returns, with the names of its JSON, and a function for each of its operations."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from ._call import NOT_GIVEN, Call, Fields, NotGiven, Page, listed

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

${[...this.#types.values(), ...operations].join('\n\n')}`
  }
}

export const pythonTypes = (): string => new Printer(printedDocument() as unknown as Document).print()

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(pythonTypes())
