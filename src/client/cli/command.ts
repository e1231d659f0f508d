import type { Agent } from '../agent.ts'
import type { AmsError } from '../errors.ts'
import type { ClientOptions } from '../http.ts'
import { type Credentials, openAgent, readCredentials } from './settings.ts'
import { UsageError } from './terminal/failure.ts'
import { oneLine, printableJson, type Terminal } from './terminal/terminal.ts'

interface Option {
  type: 'string' | 'boolean'
  multiple?: true
  short?: string
  /** What the value is called in the help. */
  value?: string
  help: string
}

/** An option with a value. */
export const valued = (value: string, help: string) => ({ type: 'string', value, help }) as const
/** The same, that can be given several times. */
export const repeated = (value: string, help: string) =>
  ({ ...valued(value, `${help}; can be repeated`), multiple: true }) as const

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** The fields of a request that were given: the service chooses for the others, as for options that nobody wrote. */
export const given = <const Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  ) as Given<Fields>

/** One command of `ams`: what the help, the completions and the parser know of it. */
export interface Command {
  usage: string
  summary: string
  options: Record<string, Option>
  examples: string[]
  /** Words that can follow it, for completions. */
  words?: string[]
  /** Whether what follows `--` is a program with its arguments, in `Input.rest`. */
  runsProgram?: true
  run(input: Input): Promise<number | undefined>
}

/** Options of every command. */
export const COMMON: Record<string, Option> = {
  agent: valued('ID', "the agent, with a member's token (or AMS_AGENT)"),
  json: { type: 'boolean', help: 'print JSON, one value a line' },
  help: { type: 'boolean', short: 'h', help: 'print this help' },
}

const AGENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

/** What a command was called with. */
export class Input {
  readonly terminal: Terminal
  readonly positionals: string[]
  /** The program to run, with its arguments. */
  readonly rest: string[]
  readonly #values: Values

  constructor(terminal: Terminal, values: Values, positionals: string[], rest: string[]) {
    this.terminal = terminal
    this.#values = values
    this.positionals = positionals
    this.rest = rest
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return typeof value === 'string' ? value : undefined
  }

  texts(name: string): string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? value.map(String) : []
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }

  integer(name: string, fallback: number): number {
    const value = this.text(name)
    if (value === undefined) return fallback
    if (/^[1-9]\d{0,5}$/.test(value)) return Number(value)
    throw new UsageError(`--${name} must be a whole number from 1 on.`)
  }

  get agentId(): string | undefined {
    const given = this.text('agent')
    const id = given ?? (process.env.AMS_AGENT || undefined)
    if (id === undefined || AGENT_ID.test(id)) return id
    throw new UsageError(
      `${given === undefined ? 'AMS_AGENT' : '--agent'} must be the id of an agent, a UUID.`,
    )
  }

  get json(): boolean {
    return this.flag('json')
  }

  /** The positional argument at an index. */
  required(index: number, name: string): string {
    const value = this.positionals[index]
    if (value !== undefined && value !== '') return value
    throw new UsageError(`${name} is missing.`)
  }

  /** Refuses arguments that no one reads. */
  atMost(count: number): void {
    const extra = this.positionals[count]
    if (extra !== undefined)
      throw new UsageError(`Unexpected argument: ${extra} (quote text that contains spaces)`)
  }

  /** Where the service is and who asks; `onWaiting` says meanwhile why nothing happens. */
  access(credentials: Credentials): Credentials & ClientOptions {
    const onWaiting = ({ code, message }: AmsError) =>
      this.terminal.note(
        this.json
          ? printableJson({ waiting: { code, message } })
          : `ams: waiting for the service (Ctrl-C ends this): ${oneLine(message)}`,
      )
    return { ...credentials, onWaiting }
  }

  /** `options` are those of the client. */
  async open(options: ClientOptions = {}): Promise<{ agent: Agent; credentials: Credentials }> {
    const credentials = await readCredentials()
    const access = { ...this.access(credentials), ...options }
    return { agent: openAgent(access, this.agentId), credentials }
  }
}
