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
  if ((name.endsWith('_URL') || name === 'CELLS') && /[@?]/.test(value))
    return `a value of ${value.length} characters (not shown)`
  return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)
}

/** What only settings of this service begin with. */
const PREFIXES = [
  'BLOB_',
  'DATABASE_',
  'INBOUND_',
  'MASTER_KEY',
  'MESSAGE_URL_',
  'OWNER_',
  'SMTP_',
  'WEBHOOK_',
]

/** Whether one letter more, less, another one or two in another order makes the same name of both. */
const isOneEdit = (one: string, other: string): boolean => {
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  const [a, b] = [one.slice(same), other.slice(same)]
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || isSwapped
}

/** Reads variables and collects their problems. An empty variable counts as not set. */
export class Reader {
  readonly problems: string[] = []
  /** Every setting that there is, once all were read. */
  readonly names = new Set<string>()
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  isSet(name: string): boolean {
    this.names.add(name)
    return (this.#environment[name] ?? '') !== ''
  }

  read<T>(name: string, parse: Parse<T>): T | undefined {
    this.names.add(name)
    const text = this.#environment[name] ?? ''
    if (text === '') return undefined
    try {
      return parse(text)
    } catch (error) {
      this.problems.push(`${name} is ${shown(name, text)}; it takes ${(error as Error).message}.`)
      return undefined
    }
  }

  /**
   * Adds a problem for each variable that is almost a setting which is not set: the service would start with a
   * default that nobody wants, such as an empty database. Short names, as HOSTS, may be somebody else's.
   */
  checkSpelling(): void {
    const unset = [...this.names].filter((name) => name.includes('_') && !this.isSet(name))
    for (const given of Object.keys(this.#environment)) {
      if (this.names.has(given)) continue
      const meant = unset.find((name) => isOneEdit(given.toUpperCase(), name))
      if (meant) this.problems.push(`${given} is not a setting; ${meant} is. Correct its name, or remove it.`)
    }
  }

  /** Variables that begin as settings do, and are none. */
  get unknown(): string[] {
    return Object.keys(this.#environment).filter(
      (given) => !this.names.has(given) && PREFIXES.some((prefix) => given.startsWith(prefix)),
    )
  }

  /** Requires all of them or none. */
  together(...names: string[]): void {
    const missing = names.filter((name) => !this.isSet(name))
    if (missing.length > 0 && missing.length < names.length) {
      this.problems.push(`${missing.join(' and ')} is not set; ${names.join(' and ')} go together.`)
    }
  }
}
