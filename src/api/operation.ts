import { z } from 'zod'
import type { Waiting } from '../agent/index.ts'
import type { Context } from '../context.ts'
import type { Needed } from '../core/scopes.ts'
import type { Viewer } from '../workspace/index.ts'
import { type Fields, present, type Resource, says } from './resource.ts'

/** Why an operation can fail, beside what any can: a wrong token, too many requests, a service that is not available. */
export type Failure =
  /** It concerns an agent, which may not exist or may not be accessible. */
  'agent' | 'input' | 'forbidden' | 'missing' | 'plan' | 'conflict'

/**
 * What an `Idempotency-Key` does: `once`, it runs at most once, and repeating the request returns the first result;
 * `ignored`, nothing, because it is idempotent; `rerun`, it runs each time, because its result must not be stored.
 */
export type KeyMeaning = 'once' | 'ignored' | 'rerun'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * What REST answers: one resource, one that was created or was there already, a list of them, or a page of a list,
 * which is an array with a `Link` when it is linked.
 */
export interface Shown<Row> {
  readonly kind: 'one' | 'new' | 'added' | 'list' | 'page' | 'linked'
  readonly of: Resource | z.ZodType
  readonly sentence: string
  readonly most?: number | undefined
  /** Whether it must not be stored on its way. */
  readonly isSecret?: true
  readonly present: (row: Row) => unknown
}

interface Described<Input extends Fields, Out, Result> {
  readonly name: string
  /** What it does; the first sentence is its summary. */
  readonly says: string
  readonly rest: `${Method} /${string}`
  readonly tag: string
  /** What a token needs to call it, besides the rights of its holder. */
  readonly scope: Needed
  readonly input: Input
  /** Whether REST takes no body for an empty one. */
  readonly mayBeEmpty?: true
  /** Optional fields that REST requires. */
  readonly restRequires?: readonly (keyof Input & string)[]
  /** An example of what it takes. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly fails: readonly Failure[]
  readonly output: Shown<Out> | { readonly kind: 'nothing' }
  readonly key?: KeyMeaning
  /** The field that must not be stored, not even in the result stored for a key. */
  readonly unstored?: keyof Input & string
  readonly run: (
    deps: Context,
    viewer: Viewer,
    input: z.output<z.ZodObject<Input>>,
    waiting?: Waiting,
  ) => Promise<Result>
}

export interface Operation<Input extends Fields, Result> extends Described<Input, Result, Result> {
  readonly key: KeyMeaning
}

/** Describes an operation once: REST's route, GraphQL's input and mutation, and their documentation follow from it. */
export const operation = <const Input extends Fields, Out, Result extends Out>(
  described: Described<Input, Out, Result>,
): Operation<Input, Result> => ({
  key: described.rest.startsWith('POST') ? 'once' : 'ignored',
  ...described,
})

/** Says where the page before ended. */
export const cursor = z.string().max(500)

const DEFAULT_LIMIT = 20

/** What a page of a list takes. */
export const PAGE = {
  limit: z
    .int()
    .min(1)
    .max(100)
    .meta({
      default: DEFAULT_LIMIT,
      description: `Maximum number of entries to return; defaults to ${DEFAULT_LIMIT}.`,
    })
    .optional(),
  cursor: says(cursor, '`nextCursor` of the previous page.').optional(),
}

/** The page that is meant by what was given. */
export const pageOf = ({
  limit = DEFAULT_LIMIT,
  cursor,
}: {
  limit?: number | undefined
  cursor?: string | undefined
}) => ({
  limit,
  cursor,
})

/** `POST /agents/{agentId}/tokens` → its method, its path and the names in it. */
export const placeOf = ({ rest }: { rest: string }) => {
  const [method, path] = rest.split(' ') as [Method, string]
  return { method, path, names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!) }
}

export const one = <Row>(of: Resource<Fields, Row>, sentence: string): Shown<Row> => ({
  kind: 'one',
  ...{ of, sentence },
  present: (row) => present(of, row),
})
export const created = <Row>(of: Resource<Fields, Row>, sentence: string): Shown<Row> => ({
  ...one(of, sentence),
  kind: 'new',
})
/** One that was created, or had been before. */
export const added = <Row>(
  of: Resource<Fields, Row>,
  sentence: string,
): Shown<Row & { created: boolean }> => ({ ...one(of, sentence), kind: 'added' })
export const list = <Row>(
  of: Resource<Fields, Row>,
  sentence: string,
  most?: number,
): Shown<readonly Row[]> => ({
  kind: 'list',
  ...{ of, sentence, most },
  present: (rows) => rows.map((row) => present(of, row)),
})
export const page = <Row>(
  of: Resource<Fields, Row>,
  sentence: string,
): Shown<{ items: readonly Row[]; nextCursor: string | null }> => ({
  kind: 'page',
  ...{ of, sentence },
  present: ({ items, nextCursor }) => ({ items: items.map((row) => present(of, row)), nextCursor }),
})
/** A list of at most `most` that names its next page in `Link`. */
export const linked = <Row>(
  of: Resource<Fields, Row>,
  sentence: string,
  most: number,
): Shown<{ items: readonly Row[]; nextCursor: string | null }> => ({
  kind: 'linked',
  ...{ of, sentence, most },
  present: ({ items }) => items.map((row) => present(of, row)),
})
/** Something that is no resource. */
export const value = <Rule extends z.ZodType>(rule: Rule, sentence: string): Shown<z.output<Rule>> => ({
  kind: 'one',
  of: rule,
  sentence,
  present: (given) => given,
})
export const nothing = { kind: 'nothing' } as const
