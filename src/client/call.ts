import type { paths } from './api.ts'
import { type Http, headerOf } from './http.ts'

/** Calls of the API, typed by the paths of its description. */

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete'
type Operation<Path extends keyof paths, Verb extends Method> = NonNullable<paths[Path][Verb]>
type MethodsOf<Path extends keyof paths> = {
  [Verb in Method]: [Operation<Path, Verb>] extends [never] ? never : Verb
}[Method]

// biome-ignore lint/complexity/noBannedTypes: nothing is required
type Nothing = {}
type PathOf<Op> = Op extends { parameters: { path: infer Path } } ? Path : Nothing
export type QueryOf<Op> = Op extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never
export type BodyOf<Op> = Op extends { requestBody?: { content: { 'application/json': infer Body } } }
  ? unknown extends Body
    ? never
    : Body
  : never
type JsonOf<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined
type AnswerOf<Op> = Op extends { responses: infer Responses }
  ? [Extract<keyof Responses, 200 | 201>] extends [never]
    ? undefined
    : JsonOf<Responses[Extract<keyof Responses, 200 | 201>]>
  : never

type PathField<Path> = keyof Path extends never ? Nothing : { path: Path }
type Field<Name extends string, Value> = [Value] extends [never] ? Nothing : { [Key in Name]: Value }

export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** What an operation needs; `key` is a POST's idempotency key. `Known` are parts of the path that are filled in. */
type Given<Op, Known extends string> = CallOptions & { key?: string | undefined } & PathField<
    Omit<PathOf<Op>, Known>
  > &
  ([QueryOf<Op>] extends [never] ? Nothing : { query?: QueryOf<Op> | undefined }) &
  Field<'body', BodyOf<Op>>

type AgentPath = Extract<keyof paths, `/agents/{id}${string}`>

export type Call = <Path extends keyof paths, Verb extends MethodsOf<Path>>(
  method: Verb,
  path: Path,
  given: Given<Operation<Path, Verb>, never>,
) => Promise<AnswerOf<Operation<Path, Verb>>>

/** The same of one agent, whose id is filled in. */
export type AgentCall = <Path extends AgentPath, Verb extends MethodsOf<Path>>(
  method: Verb,
  path: Path,
  given: Given<Operation<Path, Verb>, 'id'>,
) => Promise<AnswerOf<Operation<Path, Verb>>>

interface AnyGiven extends CallOptions {
  key?: string | undefined
  path?: Record<string, string | number>
  query?: object | undefined
  body?: unknown
}

/** `/agents/{id}` with the values in place of the names. */
export const fill = (path: string, values: Record<string, string | number>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))

const call = async (http: Http, method: string, template: string, given: AnyGiven): Promise<unknown> => {
  const { path = {}, query, body, signal, key } = given
  const headers = key === undefined ? {} : { 'idempotency-key': headerOf('key', key) }
  return http.json({ method: method.toUpperCase(), path: fill(template, path), query, body, headers, signal })
}

export const callOf = (http: Http): Call =>
  ((method: string, path: string, given: AnyGiven) => call(http, method, path, given)) as Call

export const agentCallOf = (http: Http, id: () => Promise<string>): AgentCall =>
  (async (method: string, path: string, given: AnyGiven) =>
    call(http, method, path, { ...given, path: { ...given.path, id: await id() } })) as AgentCall
