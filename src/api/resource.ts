import { z } from 'zod'
import { compileLiteral } from '../core/literal.ts'
import { boundsOf } from '../core/rules.ts'

/**
 * What the interfaces are printed from: resources, their fields, and the operations on them (operation.ts). A field is a
 * zod rule with a sentence about it.
 */

export type Fields = Readonly<Record<string, z.ZodType>>

/** Returns the rule with a sentence about the field that it is for. */
export const says = <Rule extends z.ZodType>(rule: Rule, sentence: string): Rule =>
  rule.meta({ description: sentence }) as Rule

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
export const texts = (sentence: string, most?: number) =>
  z.array(z.string()).meta({ ...(most === undefined ? {} : { maxItems: most }), description: sentence })
export const count = (sentence: string) => z.int().min(0).meta({ description: sentence })

const emails = z.registry<{ isEmail: true }>()
export const email = (sentence: string) => {
  const rule = text(sentence)
  emails.add(rule, { isEmail: true })
  return rule
}
export const isEmail = (rule: z.ZodType): boolean => emails.get(rule) !== undefined

/** How a field is made from columns of a row. */
export interface Making<Row = never> {
  readonly reads: readonly (keyof Row & string)[]
  readonly make: (row: Row) => unknown
}
type Makings<Name> = { readonly [Field in Name & string]?: Making }

/** The columns that fields are made from. */
type ReadBy<Made> = {
  [Field in keyof Made]: (row: Made[Field] extends Making<infer Row> ? Row : never) => void
}[keyof Made] extends (row: infer Row) => void
  ? Row
  : unknown

/** The fields that must be there: the others may be left out. */
type Needed<Shown extends Fields> = {
  readonly [Name in keyof Shown as Shown[Name] extends z.ZodOptional ? never : Name]: unknown
}

/** A row that has the columns of these fields, and those that the others are made from. */
type RowOf<Shown extends Fields, Made> = Omit<Needed<Shown>, keyof Made> & ReadBy<Made>

/** Says how a field is made from columns of a row. */
export const madeFrom = <Row>(
  reads: readonly (keyof Row & string)[],
  make: (row: Row) => unknown,
): Making<Row> => ({ reads, make })

/** Something that the interfaces show. */
export interface Resource<Shown extends Fields = Fields, Row = never> {
  readonly name: string
  readonly sentence: string
  readonly fields: Shown
  /** Fields that are not columns. */
  readonly made: Makings<string>
  /** Only for its type. */
  readonly row?: (row: Row) => void
  /** What it has all fields of, and more. */
  readonly base?: Resource
  /** As JSON. One without is only ever a part of others, and has no schema of its own in REST. */
  readonly example?: Readonly<Record<string, unknown>>
}

export const resource = <
  const Shown extends Fields,
  const Made extends Makings<keyof Shown> = Record<never, never>,
>(
  name: string,
  sentence: string,
  more: {
    fields: Shown
    made?: Made
    base?: Resource
    example: Needed<Shown> & Partial<Record<keyof Shown, unknown>>
  },
): Resource<Shown, RowOf<Shown, Made>> => ({ name, sentence, made: {}, ...more })

/** The fields that are columns, except some. */
export const columnsOf = ({ fields, made }: Resource, ...except: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in made || except.includes(name))))

/** A resource that is a part of others. */
export const detail = <const Shown extends Fields>(name: string, sentence: string, fields: Shown) =>
  ({ name, sentence, fields, made: {} }) as Resource<Shown, RowOf<Shown, Record<never, never>>>

const parts = z.registry<{ of: object }>()

/** A field that shows another resource. Its sentence is that of the resource if it needs none of its own. */
export const part = <Shown extends Fields>(of: Resource<Shown>, sentence = of.sentence) => {
  const rule = z.object(of.fields).meta({ description: sentence })
  parts.add(rule, { of })
  return rule
}
/** A field that shows several of another resource. */
export const several = <Shown extends Fields>(of: Resource<Shown>, sentence: string, most?: number) =>
  z.array(part(of)).meta({ ...(most === undefined ? {} : { maxItems: most }), description: sentence })
export const partOf = (rule: z.ZodType) => parts.get(rule)?.of as Resource | undefined

type Write = (value: never) => unknown

const same: Write = (value: unknown) => value

/** A time from a column of JSON is written already. */
const writeTime = (value: Date | string): string => (value instanceof Date ? value.toISOString() : value)

/** How a value is written as JSON. */
const writeOf = (rule: z.ZodType): Write => {
  const inner = innermost(rule)
  if (inner instanceof z.ZodDate) return writeTime
  if (inner instanceof z.ZodObject) return writeAll(inner.shape, partOf(inner)?.made ?? {})
  if (!(inner instanceof z.ZodArray)) return same
  const write = writeOf(inner.element as z.ZodType)
  return write === same ? same : (values: readonly never[]) => values.map(write)
}

/** Reads a field of a row as it is written; null for none. */
const fieldOf = (name: string, rule: z.ZodType, make?: (row: never) => unknown) => {
  const write = writeOf(rule)
  const read = make ?? ((row: never) => (row as Readonly<Record<string, unknown>>)[name])
  return (row: never): unknown => {
    const value = read(row) ?? null
    return value === null ? null : write(value as never)
  }
}

const writeAll = (fields: Fields, made: Makings<string>) => {
  const each = Object.entries(fields).map(([name, rule]) => ({
    ...{ name, read: fieldOf(name, rule, made[name]?.make) },
    isLeftOut: isOptional(rule) && !isNullable(rule),
    isColumn: made[name] === undefined && writeOf(rule) === same,
  }))
  const optional = each.filter(({ isLeftOut }) => isLeftOut)
  const needed = each.filter(({ isLeftOut }) => !isLeftOut)
  // See docs/decisions.md#presented-rows.
  const write = compileLiteral<never>(
    needed.map(({ name, isColumn }, index) => [
      name,
      isColumn ? `from[${JSON.stringify(name)}] ?? null` : `using[${index}](from)`,
    ]),
    needed.map(({ read }) => read),
  )
  return (row: never): Record<string, unknown> => {
    if (optional.every(({ read }) => read(row) === null)) return write(row)
    // One that may be left out, and is not, has its place among the others.
    const values = each.map(({ name, isLeftOut, read }) => ({ name, isLeftOut, value: read(row) }))
    return Object.fromEntries(
      values
        .filter(({ isLeftOut, value }) => !isLeftOut || value !== null)
        .map(({ name, value }) => [name, value]),
    )
  }
}

const writers = new Map<object, (row: never) => Record<string, unknown>>()

/** Returns what a row shows, as JSON: its other columns are left out, and so are those of its parts. */
export const present = <Shown extends Fields, Row>(
  of: Resource<Shown, Row>,
  row: Row,
): Record<keyof Shown, unknown> => {
  const write = writers.get(of) ?? writeAll(of.fields, of.made)
  writers.set(of, write)
  return write(row as never) as Record<keyof Shown, unknown>
}
