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

export const resource = <const Shown extends Fields>(
  name: string,
  sentence: string,
  more: { fields: Shown; base?: Resource; example: RowOf<Shown> & Partial<Record<keyof Shown, unknown>> },
): Resource<Shown> => ({ name, sentence, ...more })

/** The columns that a row of these fields must have: the others may be left out. */
export type RowOf<Shown extends Fields> = {
  readonly [Name in keyof Shown as Shown[Name] extends z.ZodOptional ? never : Name]: unknown
}

const asJson = (rule: z.ZodType, value: unknown): unknown => {
  if (value === null || value === undefined) return isOptional(rule) && !isNullable(rule) ? undefined : null
  if (value instanceof Date) return value.toISOString()
  const inner = innermost(rule)
  if (inner instanceof z.ZodArray)
    return (value as unknown[]).map((one) => asJson(inner.element as z.ZodType, one))
  return inner instanceof z.ZodObject ? presentFields(inner.shape, value) : value
}

const presentFields = (fields: Fields, row: object) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, rule]) => [name, asJson(rule, row[name as keyof typeof row])]),
  )

/** Returns what a row shows, as JSON: its other columns are left out, and so are those of its parts. */
export const present = <Shown extends Fields>(
  { fields }: Resource<Shown>,
  row: RowOf<Shown>,
): Record<keyof Shown, unknown> => presentFields(fields, row) as Record<keyof Shown, unknown>
