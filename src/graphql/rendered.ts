import type { EnumRef, InputFieldRef, InputObjectRef, ObjectRef } from '@pothos/core'
import { z } from 'zod'
import type { Operation } from '../api/operation.ts'
import {
  choiceOf,
  type Fields,
  groupOf,
  innermost,
  isNullable,
  isOptional,
  partOf,
  type Resource,
  sentenceOf,
  wordsOf,
} from '../api/resource.ts'
import { builder } from './builder.ts'
import type { GraphqlContext } from './execution/context.ts'
import type { GraphqlDeps } from './execution/deps.ts'
import { checked } from './input.ts'

/** Types and mutations that are printed from the descriptions in api/. */

type SchemaTypes = typeof builder.$inferSchemaTypes
type Enum<Value> = EnumRef<SchemaTypes, Value>

const enums = new Map<string, Enum<string>>()

/** Returns the enum of a choice, whose names have neither `-` nor `.` in GraphQL. */
export const enumOf = <Value extends string>(rule: z.ZodType<Value>): Enum<Value> => {
  const choice = choiceOf(rule)!
  const known = enums.get(choice.name)
  if (known) return known as Enum<Value>
  const values = Object.fromEntries(
    Object.entries(choice.values).map(([value, description]) => [
      value.replaceAll(/[-.]/g, '_'),
      { value, description },
    ]),
  )
  const made = builder.enumType(choice.name, { description: choice.sentence, values }) as Enum<Value>
  enums.set(choice.name, made as Enum<string>)
  return made
}

const inputs = new Map<string, unknown>()

/** Returns the input type of an object that others contain. */
export const groupInputOf = <Shape extends Fields>(rule: z.ZodObject<Shape>) => {
  type Given = InputObjectRef<SchemaTypes, z.input<z.ZodObject<Shape>>>
  const { name, sentence } = groupOf(rule)!
  const made = (inputs.get(name) ?? inputOf(name, sentence, rule.shape)) as Given
  inputs.set(name, made)
  return made
}

const isTime = (rule: z.ZodType): boolean => rule instanceof z.ZodDate || rule.meta()?.format === 'date-time'
const isId = (rule: z.ZodType): boolean => rule.meta()?.format === 'uuid'

/** The type of a field. Pothos knows it by name, or by what the builder made. */
const typeOf = (rule: z.ZodType): never => {
  const inner = innermost(rule)
  const named = () => {
    if (choiceOf(inner)) return enumOf(inner as z.ZodType<string>)
    if (isId(inner)) return 'UUID'
    if (isTime(inner)) return 'DateTime'
    if (inner instanceof z.ZodArray) return [typeOf(inner.element as z.ZodType)]
    const part = partOf(inner)
    if (part) return objectOf(part)
    if (groupOf(inner)) return groupInputOf(inner as z.ZodObject)
    if (inner instanceof z.ZodNumber) return 'Int'
    return inner instanceof z.ZodBoolean ? 'Boolean' : 'String'
  }
  return named() as never
}

/** What makes fields of an object from the columns of its rows. */
interface Exposing {
  expose(name: never, options: never): unknown
}

/** The fields of a resource, each from the column of the same name; `options` are those of all. */
export const exposed = <Shown extends Fields>(
  t: Exposing,
  fields: Shown,
  options: object = {},
): { [Name in keyof Shown]: never } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, rule]) => [
      name,
      t.expose(
        name as never,
        {
          ...options,
          type: typeOf(rule),
          nullable: isNullable(rule),
          description: sentenceOf(rule),
        } as never,
      ),
    ]),
  ) as { [Name in keyof Shown]: never }

type Row<Shown extends Fields> = z.output<z.ZodObject<Shown>>

const objects = new Map<Resource, ObjectRef<SchemaTypes, unknown>>()

/** The type of a resource all of whose fields are in its rows. */
export const objectOf = <Shown extends Fields>(of: Resource<Shown>): ObjectRef<SchemaTypes, Row<Shown>> => {
  const known = objects.get(of)
  if (known) return known as ObjectRef<SchemaTypes, Row<Shown>>
  const made = builder.objectRef<Row<Shown>>(of.name)
  objects.set(of, made as ObjectRef<SchemaTypes, unknown>)
  made.implement({ description: of.sentence, fields: (t) => exposed(t, of.fields) })
  return made
}

/** What makes fields of an object from several columns of its rows. */
interface Making {
  field(options: never): unknown
}

/** The fields of a resource that are made from columns. */
export const made = (t: Making, { fields, made }: Resource): Record<string, never> =>
  Object.fromEntries(
    Object.entries(made).map(([name, making]) => [
      name,
      t.field({
        type: typeOf(fields[name]!),
        nullable: isNullable(fields[name]!),
        description: sentenceOf(fields[name]!),
        select: Object.fromEntries(making!.reads.map((column) => [column, true])),
        resolve: making!.make,
      } as never) as never,
    ]),
  )

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1)

/** `Its name. 1 to 100 characters, not blank.` */
const describe = (rule: z.ZodType): string => {
  const bounds = wordsOf(rule)
  return [sentenceOf(rule), bounds && `${capital(bounds)}.`].filter(Boolean).join(' ')
}

/** How a field of an input, or an argument, is declared. */
const declared = (rule: z.ZodType) => ({
  type: typeOf(rule),
  required: !isOptional(rule) && !isNullable(rule),
  description: describe(rule),
})

const inputOf = (name: string, description: string, input: Fields) =>
  builder.inputType(name, {
    description,
    fields: (t) =>
      Object.fromEntries(Object.entries(input).map(([field, rule]) => [field, t.field(declared(rule))])),
  })

/** What makes arguments of a field. */
type Arguing = (options: never) => unknown

/** The arguments of a field that takes what an operation takes; `valuesOf` checks them. */
export const argsOf = <Input extends Fields>(
  arg: Arguing,
  input: Input,
): Record<keyof Input, InputFieldRef<SchemaTypes, unknown>> =>
  Object.fromEntries(
    Object.entries(input).map(([name, rule]) => [name, arg(declared(rule) as never)]),
  ) as Record<keyof Input, InputFieldRef<SchemaTypes, unknown>>

/** Checks what GraphQL's scalars have not. Null means left out, unless the field may be null. */
export const valuesOf = <Input extends Fields>(
  input: Input,
  given: Record<string, unknown>,
): z.output<z.ZodObject<Input>> => {
  const isScalar = (rule: z.ZodType) => isId(innermost(rule)) || isTime(innermost(rule))
  const rules = Object.fromEntries(Object.entries(input).filter(([, rule]) => !isScalar(rule)))
  const kept = Object.entries(given).filter(([name, value]) => value !== null || isNullable(input[name]!))
  return { ...Object.fromEntries(kept), ...checked(rules, given) } as z.output<z.ZodObject<Input>>
}

/** What a payload is made of: what was given, and what the operation returned. */
export interface Done<Input extends Fields, Result> {
  input: z.output<z.ZodObject<Input>>
  result: Result
}

type PayloadFields<Input extends Fields, Result> = Parameters<
  ReturnType<typeof builder.objectRef<Done<Input, Result>>>['implement']
>[0]['fields']

interface MutationOptions<Values> {
  /** Runs before the operation, which it ends when it throws. */
  before?(context: GraphqlContext, input: Values): void
  /** Other options of the mutation: who may call it, and what it costs. */
  authScopes?: object
  unauthorizedError?: () => Error
  complexity?: (args: { input: Values }) => object
}

/** Adds the mutation of an operation, with its input and its payload. `takes` says what the input is. */
export const mutation = <Input extends Fields, Result>(
  { name, says, input, key, run }: Operation<GraphqlDeps, Input, Result>,
  takes: string,
  fields: NonNullable<PayloadFields<Input, Result>>,
  { before, ...options }: MutationOptions<Done<Input, Result>['input']> = {},
): void => {
  const type = builder.objectRef<Done<Input, Result>>(`${capital(name)}Payload`)
  type.implement({ description: `Result of \`${name}\`.`, fields })
  const Input = inputOf(`${capital(name)}Input`, takes, input)
  builder.mutationField(name, (t) =>
    t.field({
      ...{ type, nullable: true, idempotency: key, description: says, ...(options as object) },
      args: { input: t.arg({ type: Input, required: true, description: takes }) },
      resolve: async (_root, args, context) => {
        const { deps, viewer } = context
        const values = valuesOf(input, args.input as Record<string, unknown>)
        before?.(context, values)
        return { input: values, result: await run(deps, viewer, values) } as never
      },
    }),
  )
}
