import type { EnumRef, InputFieldRef, InputObjectRef, ObjectRef, OutputRef } from '@pothos/core'
import { z } from 'zod'
import type { Operation } from '../../api/operation.ts'
import {
  choiceOf,
  type Fields,
  groupOf,
  innermost,
  isEmail,
  isNullable,
  isOptional,
  partOf,
  type Resource,
  sentenceOf,
  wordsOf,
} from '../../api/resource.ts'
import type { GraphqlContext } from '../context/context.ts'
import { builder } from './builder.ts'
import { checked } from './input.ts'

/** Types and mutations that are printed from the descriptions in api/. */

type SchemaTypes = typeof builder.$inferSchemaTypes
type Enum<Value> = EnumRef<SchemaTypes, Value>

const enums = new Map<string, Enum<string>>()

/** Returns the enum of a choice, whose names have neither `-` nor `.` nor `:` in GraphQL. */
export const enumOf = <Value extends string>(rule: z.ZodType<Value>): Enum<Value> => {
  const choice = choiceOf(rule)!
  const known = enums.get(choice.name)
  if (known) return known as Enum<Value>
  const values = Object.fromEntries(
    Object.entries(choice.values).map(([value, description]) => [
      value.replaceAll(/[-.:]/g, '_'),
      { value, description },
    ]),
  )
  const made = builder.enumType(choice.name, { description: choice.sentence, values }) as Enum<Value>
  enums.set(choice.name, made as Enum<string>)
  return made
}

const inputs = new Map<string, unknown>()

/** Returns the input type of an object that others contain. */
const groupInputOf = <Shape extends Fields>(rule: z.ZodObject<Shape>) => {
  type Given = InputObjectRef<SchemaTypes, z.input<z.ZodObject<Shape>>>
  const { name, sentence } = groupOf(rule)!
  const made = (inputs.get(name) ?? inputOf(name, sentence, rule.shape)) as Given
  inputs.set(name, made)
  return made
}

const isTime = (rule: z.ZodType): boolean => rule instanceof z.ZodDate || rule.meta()?.format === 'date-time'
/** Whether a number may be larger than GraphQL's `Int`. */
const isLong = (rule: z.ZodType): boolean => rule.meta()?.maximum === Number.MAX_SAFE_INTEGER
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
    if (isEmail(inner)) return 'EmailAddress'
    // What REST also takes as text is an object here.
    if (inner instanceof z.ZodRecord || inner instanceof z.ZodUnion) return 'JSONObject'
    if (inner instanceof z.ZodNumber) return isLong(inner) ? 'SafeInt' : 'Int'
    return inner instanceof z.ZodBoolean || inner instanceof z.ZodLiteral ? 'Boolean' : 'String'
  }
  return named() as never
}

type MayBeNull<Rule extends z.ZodType> =
  null extends z.output<Rule> ? true : undefined extends z.output<Rule> ? true : false

/** What is said about a field of a resource. */
export const described = <Rule extends z.ZodType>(rule: Rule) => ({
  nullable: (isNullable(rule) || isOptional(rule)) as MayBeNull<Rule>,
  description: sentenceOf(rule),
})

/** The options of a field of a resource that is no column. */
export const fieldOf = <Rule extends z.ZodType>(rule: Rule) => ({
  type: typeOf(rule) as OutputRef<NonNullable<z.output<Rule>>>,
  ...described(rule),
})

type Declared<Shown extends Fields> = { [Name in keyof Shown]: never }

const each = <Shown extends Fields>(fields: Shown, declare: (name: string, rule: z.ZodType) => unknown) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, rule]) => [name, declare(name, rule)]),
  ) as Declared<Shown>

/** What makes fields of an object from the columns of its rows. */
interface Exposing {
  expose(name: never, options: never): unknown
}

/** The fields of a resource, each from the column of the same name; `options` are those of all. */
export const exposed = <Shown extends Fields>(t: Exposing, fields: Shown, options: object = {}) =>
  each(fields, (name, rule) => t.expose(name as never, { ...options, ...fieldOf(rule) } as never))

/** What makes fields of an object. */
interface Resolving {
  field(options: never): unknown
}

/** The fields of a resource that are made from columns. */
export const made = (t: Resolving, { fields, made }: Resource): Record<string, never> =>
  Object.fromEntries(
    Object.entries(made).map(([name, making]) => [
      name,
      t.field({
        ...fieldOf(fields[name]!),
        select: Object.fromEntries(making!.reads.map((column) => [column, true])),
        resolve: making!.make,
      } as never) as never,
    ]),
  )

/** Fields of a payload that are in the result of its operation. */
export const fromResult = <Shown extends Fields>(t: Resolving, fields: Shown) =>
  each(fields, (name, rule) => {
    const resolve = ({ result }: { result: Record<string, unknown> }) => result[name]
    return t.field({ ...fieldOf(rule), resolve } as never)
  })

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

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1)

/** `Its name. 1 to 100 characters, not blank.` */
const describe = (rule: z.ZodType): string => {
  const bounds = wordsOf(rule)
  return [sentenceOf(rule), bounds && `${capital(bounds)}.`].filter(Boolean).join(' ')
}

/** How a field of an input, or an argument, is declared. */
const asInput = (rule: z.ZodType) => ({
  type: typeOf(rule),
  required: !isOptional(rule) && !isNullable(rule),
  description: describe(rule),
})

/** What makes fields of an input, or arguments. */
interface Taking {
  field(options: never): unknown
}
type Taken<Input extends Fields> = Record<keyof Input, InputFieldRef<SchemaTypes, unknown>>

const takenFields = <Input extends Fields>(t: Taking, input: Input) =>
  each(input, (_name, rule) => t.field(asInput(rule) as never)) as Taken<Input>

const inputOf = (name: string, description: string, input: Fields) =>
  builder.inputType(name, { description, fields: (t) => takenFields(t, input) })

/** The arguments of a field that takes these; `valuesOf` checks them. */
export const argsOf = <Input extends Fields>(input: Input): Taken<Input> =>
  builder.args((t) => takenFields(t, input)) as Taken<Input>

const unchecked = new WeakMap<Fields, Fields>()

/** The rules that GraphQL's scalars have not checked, found out once for each input. */
const uncheckedOf = (input: Fields): Fields => {
  const isScalar = (rule: z.ZodType) => isId(innermost(rule)) || isTime(innermost(rule))
  const rules =
    unchecked.get(input) ?? Object.fromEntries(Object.entries(input).filter(([, rule]) => !isScalar(rule)))
  unchecked.set(input, rules)
  return rules
}

/** Checks what GraphQL's scalars have not. Null means left out, unless the field may be null. */
export const valuesOf = <Input extends Fields>(
  input: Input,
  given: Record<string, unknown>,
): z.output<z.ZodObject<Input>> => {
  const kept = Object.entries(given).filter(([name, value]) => value !== null || isNullable(input[name]!))
  return { ...Object.fromEntries(kept), ...checked(uncheckedOf(input), given) } as z.output<
    z.ZodObject<Input>
  >
}

/** What a payload is made of: what was given, and what the operation returned. */
export interface Done<Input extends Fields, Result> {
  input: z.output<z.ZodObject<Input>>
  result: Result
}

type PayloadFields<Input extends Fields, Result> = Parameters<
  ReturnType<typeof builder.objectRef<Done<Input, Result>>>['implement']
>[0]['fields']

/** What a mutation is made of. Some operations are GraphQL's alone. */
type Mutation<Input extends Fields, Result> = Pick<
  Operation<Input, Result>,
  'name' | 'says' | 'scope' | 'input' | 'key' | 'unstored' | 'run'
>

interface MutationOptions<Values> {
  /** Runs before the operation, which it ends when it throws. */
  before?(context: GraphqlContext, input: Values): void
  /** Other options of the mutation: who may call it, and what it costs. */
  authScopes?: object
  unauthorizedError?: () => Error
  complexity?: (args: { input: Values }) => object
}

/** Adds the mutation of an operation that removes something. Its payload repeats the field that says what. */
export const removal = <Input extends Fields, Result>(
  operation: Mutation<Input, Result>,
  takes: string,
  repeated: { readonly [Name in keyof Input & string]?: string },
  options?: MutationOptions<Done<Input, Result>['input']>,
): void => {
  const [[name, description]] = Object.entries(repeated) as [[string, string]]
  const type = typeOf(operation.input[name]!)
  const resolve = ({ input }: { input: Record<string, unknown> }) => input[name]
  const fields = (t: Resolving) => ({ [name]: t.field({ type, description, resolve } as never) })
  mutation(operation, takes, fields as never, options)
}

/** Adds the mutation of an operation, with its input and its payload. `takes` says what the input is. */
export const mutation = <Input extends Fields, Result>(
  { name, says, scope, input, key, unstored, run }: Mutation<Input, Result>,
  takes: string,
  fields: NonNullable<PayloadFields<Input, Result>>,
  { before, ...options }: MutationOptions<Done<Input, Result>['input']> = {},
): void => {
  const type = builder.objectRef<Done<Input, Result>>(`${capital(name)}Payload`)
  type.implement({ description: `Result of \`${name}\`.`, fields })
  const Input = inputOf(`${capital(name)}Input`, takes, input)
  builder.mutationField(name, (t) =>
    t.field({
      ...{ type, nullable: true, idempotency: key, scope, description: says, ...(unstored && { unstored }) },
      ...(options as object),
      args: { input: t.arg({ type: Input, required: true, description: takes }) },
      resolve: async (_root, args, context) => {
        const { deps, viewer, bytes } = context
        const values = valuesOf(input, args.input as Record<string, unknown>)
        before?.(context, values)
        const waiting = { via: 'graphql', gone: context.life, bytes, requests: deps.requests } as const
        return { input: values, result: await run(deps, viewer, values, waiting) } as never
      },
    }),
  )
}
