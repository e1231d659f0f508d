import { Parameter, type Sql } from './sql.ts'

/** A statement with its values. */
export interface Statement {
  /** A statement with a name is prepared once for each connection. */
  name?: string | undefined
  text: string
  values?: unknown[]
}

/** A statement that is composed, and its values if they are parts of it. Throws when it reads rows that it does not define. */
export const composedOf = (composed: Sql): Pick<Statement, 'text' | 'values'> => {
  const { text, parameters } = composed.written()
  return parameters.length > 0 ? { text, values: parameters.map(({ value }) => value) } : { text }
}

/** The parameters of a statement, by name. */
export type ParametersOf<Values> = { readonly [Name in keyof Values]-?: Sql }

/**
 * A statement of which the text is constant: `compose` writes it with the parameters whose values are given each time.
 * With a name it is prepared once for each connection. Throws when it reads rows that it does not define.
 */
export const statement = <Values extends object>(
  name: string | undefined,
  compose: (parameters: ParametersOf<Values>) => Sql,
): ((values: Values) => Statement) => {
  const known = new Map<string, Parameter>()
  const parameterOf = (of: string): Parameter => {
    const parameter = known.get(of) ?? new Parameter({ name: of })
    known.set(of, parameter)
    return parameter
  }
  const composed = compose(new Proxy({} as ParametersOf<Values>, { get: (_, of) => parameterOf(String(of)) }))
  const { text, parameters } = composed.written()
  const names = parameters.map((parameter) => parameter.name as keyof Values)
  return (values) => ({ name, text, values: names.map((of) => values[of]) })
}
