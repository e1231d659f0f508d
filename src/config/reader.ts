import type { Parse } from './parse.ts'

/** One or more settings are invalid: exit code 2. The message has one line for each, without secrets. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

const isSecret = (name: string) =>
  name === 'MASTER_KEY' || /_(?:TOKEN|SECRET|ACCESS_KEY|ACCESS_KEY_ID)$/.test(name)

/**
 * Formats a value for an error: without secrets, without the credentials of a URL (even of one that does not
 * parse), without control characters.
 */
export function shown(name: string, value: string): string {
  if (isSecret(name)) return `a value of ${value.length} characters (not shown)`
  if (URL.canParse(value) && value.includes('//')) {
    const url = new URL(value)
    const login = url.username || url.password ? '***@' : ''
    return JSON.stringify(`${url.protocol}//${login}${url.host}${url.pathname}${url.search ? '?***' : ''}`)
  }
  if (name.endsWith('_URL') && /[@?]/.test(value)) return `a value of ${value.length} characters (not shown)`
  return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)
}

/** Reads variables and collects their problems. An empty variable counts as not set. */
export class Reader {
  readonly problems: string[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  isSet(name: string): boolean {
    return (this.#environment[name] ?? '') !== ''
  }

  read<T>(name: string, parse: Parse<T>): T | undefined {
    const text = this.#environment[name] ?? ''
    if (text === '') return undefined
    try {
      return parse(text)
    } catch (error) {
      this.problems.push(`${name} is ${shown(name, text)}; it takes ${(error as Error).message}.`)
      return undefined
    }
  }

  /** Requires all of them or none. */
  together(...names: string[]): void {
    const missing = names.filter((name) => !this.isSet(name))
    if (missing.length > 0 && missing.length < names.length) {
      this.problems.push(`${missing.join(' and ')} is not set; ${names.join(' and ')} go together.`)
    }
  }
}
