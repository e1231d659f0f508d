import type { EnumRef } from '@pothos/core'
import { z } from 'zod'
import type { Operation } from '../api/operation.ts'
import {
  choiceOf,
  type Fields,
  groupOf,
  innermost,
  isNullable,
  isOptional,
  sentenceOf,
  wordsOf,
} from '../api/resource.ts'
import { builder } from './builder.ts'
import type { GraphqlDeps } from './execution/deps.ts'
import { checked } from './input.ts'

/** Types and mutations that are printed from the descriptions in api/. */

type Enum<Value> = EnumRef<typeof builder.$inferSchemaTypes, Value>

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

/** The input type of an object that is part of others. */
const groupTypeOf = (rule: z.ZodObject): unknown => {
  const { name, sentence } = groupOf(rule)!
  const made = inputs.get(name) ?? inputOf(name, sentence, rule.shape)
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
    if (groupOf(inner)) return groupTypeOf(inner as z.ZodObject)
    if (inner instanceof z.ZodNumber) return isLong(inner) ? 'SafeInt' : 'Int'
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
          nullable: isNullable(rule) || isOptional(rule),
          description: sentenceOf(rule),
        } as never,
      ),
    ]),
  ) as { [Name in keyof Shown]: never }

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1)

/** `Its name. 1 to 100 characters, not blank.` */
const describe = (rule: z.ZodType): string => {
  const bounds = wordsOf(rule)
  return [sentenceOf(rule), bounds && `${capital(bounds)}.`].filter(Boolean).join(' ')
}

const inputOf = (name: string, description: string, input: Fields) =>
  builder.inputType(name, {
    description,
    fields: (t) =>
      Object.fromEntries(
        Object.entries(input).map(([field, rule]) => [
          field,
          t.field({
            type: typeOf(rule),
            required: !isOptional(rule) && !isNullable(rule),
            description: describe(rule),
          }),
        ]),
      ),
  })

/** Checks what GraphQL's scalars have not. Null means left out, unless the field may be null. */
const valuesOf = (input: Fields, given: Record<string, unknown>): Record<string, unknown> => {
  const isScalar = (rule: z.ZodType) => isId(innermost(rule)) || isTime(innermost(rule))
  const rules = Object.fromEntries(Object.entries(input).filter(([, rule]) => !isScalar(rule)))
  const kept = Object.entries(given).filter(([name, value]) => value !== null || isNullable(input[name]!))
  return { ...Object.fromEntries(kept), ...checked(rules, given) }
}

/** What a payload is made of: what was given, and what the operation returned. */
export interface Done<Input extends Fields, Result> {
  input: z.output<z.ZodObject<Input>>
  result: Result
}

type PayloadFields<Input extends Fields, Result> = Parameters<
  ReturnType<typeof builder.objectRef<Done<Input, Result>>>['implement']
>[0]['fields']

/** Adds the mutation of an operation, with its input and its payload. `takes` says what the input is. */
export const mutation = <Input extends Fields, Result>(
  { name, says, input, key, unstored, run }: Operation<GraphqlDeps, Input, Result>,
  takes: string,
  fields: NonNullable<PayloadFields<Input, Result>>,
): void => {
  const type = builder.objectRef<Done<Input, Result>>(`${capital(name)}Payload`)
  type.implement({ description: `Result of \`${name}\`.`, fields })
  const Input = inputOf(`${capital(name)}Input`, takes, input)
  builder.mutationField(name, (t) =>
    t.field({
      ...{ type, nullable: true, idempotency: key, description: says, ...(unstored && { unstored }) },
      args: { input: t.arg({ type: Input, required: true, description: takes }) },
      resolve: async (_root, args, { deps, viewer }) => {
        const values = valuesOf(input, args.input as Record<string, unknown>) as Done<Input, Result>['input']
        return { input: values, result: await run(deps, viewer, values) } as never
      },
    }),
  )
}
