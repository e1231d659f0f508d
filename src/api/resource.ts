import { z } from 'zod'
import { bounded, boundsOf } from '../core/rules.ts'

/**
 * What the interfaces are printed from: resources, their fields, and the operations on them (operation.ts). A field is a
 * zod rule with a sentence about it.
 */

export type Fields = Readonly<Record<string, z.ZodType>>

/** Returns the rule with a sentence about the field that it is for. */
export const says = <Rule extends z.ZodType>(rule: Rule, sentence: string): Rule => {
  const described = rule.meta({ ...rule.meta(), description: sentence }) as Rule
  const bounds = boundsOf(rule)
  return bounds ? bounded(described, bounds) : described
}

/** The rule inside of those that make it optional or nullable. */
export const innermost = (rule: z.ZodType): z.ZodType =>
  rule instanceof z.ZodOptional || rule instanceof z.ZodNullable
    ? innermost(rule.unwrap() as z.ZodType)
    : rule

/** Looks at the rule, and at those inside of it. */
const find = <Found>(rule: z.ZodType, look: (rule: z.ZodType) => Found | undefined): Found | undefined => {
  const found = look(rule)
  if (found !== undefined || !(rule instanceof z.ZodOptional || rule instanceof z.ZodNullable)) return found
  return find(rule.unwrap() as z.ZodType, look)
}

export const sentenceOf = (rule: z.ZodType): string => find(rule, (one) => one.meta()?.description) ?? ''
/** The bounds of a rule in words, if they were noted. */
export const wordsOf = (rule: z.ZodType): string | undefined => find(rule, boundsOf)
export const isNullable = (rule: z.ZodType): boolean =>
  find(rule, (one) => (one instanceof z.ZodNullable ? true : undefined)) ?? false
export const isOptional = (rule: z.ZodType): boolean =>
  find(rule, (one) => (one instanceof z.ZodOptional ? true : undefined)) ?? false

/** One of a few values, each with a sentence about it. */
export interface Choice<Value extends string = string> {
  /** Its name as a type. */
  name: string
  sentence: string
  values: Readonly<Record<Value, string>>
}

const choices = z.registry<{ choice: Choice }>()

export const choice = <const Values extends Record<string, string>>(
  name: string,
  sentence: string,
  values: Values,
) => {
  const rule = z.enum(Object.keys(values) as (keyof Values & string)[])
  choices.add(rule, { choice: { name, sentence, values } })
  return rule
}

const groups = z.registry<{ group: { name: string; sentence: string } }>()

/** Gives an object that requests contain a name as a type, and a sentence about it. */
export const group = <Shape extends Fields>(name: string, sentence: string, shape: Shape) => {
  const rule = z.strictObject(shape)
  groups.add(rule, { group: { name, sentence } })
  return rule
}
export const groupOf = (rule: z.ZodType) => groups.get(rule)?.group

/** The choice that a rule allows, if it is one. */
export const choiceOf = (rule: z.ZodType): Choice | undefined => choices.get(innermost(rule))?.choice

/** Fields of resources, as they are stored; interfaces write them in their own way. */
export const id = (sentence: string) => z.string().meta({ format: 'uuid', description: sentence })
export const time = (sentence: string) => z.date().meta({ description: sentence })
export const text = (
  sentence: string,
  limits: { minLength?: number; maxLength?: number; pattern?: string } = {},
) => z.string().meta({ ...limits, description: sentence })
export const count = (sentence: string) => z.int().min(0).meta({ description: sentence })

/** Something that the interfaces show. */
export interface Resource<Shown extends Fields = Fields> {
  readonly name: string
  readonly sentence: string
  readonly fields: Shown
  /** What it has all fields of, and more. */
  readonly base?: Resource
  /** As JSON. */
  readonly example: Readonly<Record<string, unknown>>
}

type Left<Shown extends Fields> = {
  [Name in keyof Shown]: Shown[Name] extends z.ZodOptional ? Name : never
}[keyof Shown]

/** What has a value for each of the fields; those that are optional may be left out. */
export type RowOf<Shown extends Fields> = Record<Exclude<keyof Shown, Left<Shown>>, unknown> &
  Partial<Record<Left<Shown>, unknown>>

export const resource = <const Shown extends Fields>(
  name: string,
  sentence: string,
  more: { fields: Shown; base?: Resource; example: RowOf<Shown> },
): Resource<Shown> => ({ name, sentence, ...more })

const nested = new WeakMap<z.ZodType, Resource>()

/** A field that contains a resource. */
export const shows = <Shown extends Fields>(of: Resource<Shown>, sentence: string) => {
  const rule = z.object(of.fields).meta({ description: sentence })
  nested.set(rule, of)
  return rule
}
/** The resource that a rule is, if `shows` made it. */
export const resourceOf = (rule: z.ZodType): Resource | undefined => nested.get(rule)

const shownOf = (fields: Fields, row: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, rule]) => [name, asJson(rule, Reflect.get(row, name))]),
  )

const asJson = (rule: z.ZodType, value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString()
  if (value === undefined || value === null) return isOptional(rule) ? value : null
  const inner = innermost(rule)
  if (inner instanceof z.ZodObject) return shownOf(inner.shape, value)
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((one) => asJson(inner.element as z.ZodType, one))
  return value
}

/** Returns what a row shows, as JSON: its other columns are left out. */
export const present = <Shown extends Fields>(
  { fields }: Resource<Shown>,
  row: RowOf<Shown>,
): Record<string, unknown> => shownOf(fields, row)
