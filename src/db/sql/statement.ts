import { Parameter, type Sql } from './sql.ts'

/** A statement with its values. */
export interface Statement {
  /** A statement with a name is prepared once for each connection. */
  name?: string | undefined
  text: string
  values?: unknown[]
  /** What the text is composed of: a distributed database gets another. */
  composed?: Sql
  /** The agents whose rows it uses, where they are known: see `amongAgents`. */
  agents?: readonly string[] | undefined
}

/** A statement that is composed, and its values if they are parts of it. Throws when it reads rows that it does not define. */
export const composedOf = (composed: Sql): Pick<Statement, 'text' | 'values' | 'composed'> => {
  const { text, parameters } = composed.for({ isDistributed: false })
  return parameters.length > 0
    ? { text, composed, values: parameters.map(({ value }) => value) }
    : { text, composed }
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
): ((values: Values, agents?: readonly string[]) => Statement) => {
  const known = new Map<string, Parameter>()
  const parameterOf = (of: string): Parameter => {
    const parameter = known.get(of) ?? new Parameter({ name: of })
    known.set(of, parameter)
    return parameter
  }
  const composed = compose(new Proxy({} as ParametersOf<Values>, { get: (_, of) => parameterOf(String(of)) }))
  const { text, parameters } = composed.for({ isDistributed: false })
  const names = parameters.map((parameter) => parameter.name as keyof Values)
  return (values, agents) => ({ name, text, composed, agents, values: names.map((of) => values[of]) })
}

/** Returns a statement as a distributed database needs it. */
export const distributed = (given: Statement): Statement => {
  const { name, composed, agents, values = [] } = given
  if (!composed) return given
  const plain = composed.for({ isDistributed: false })
  const { text, parameters, varies } = composed.for({ isDistributed: true, agents })
  const valueFor = (parameter: Parameter) => values[plain.parameters.indexOf(parameter)]
  return {
    text,
    values: parameters.length > 0 ? parameters.map(valueFor) : values,
    // A connection from before the distribution may have prepared the name with the other text.
    ...(name !== undefined && !varies && { name: text === plain.text ? name : `${name}, distributed` }),
  }
}
