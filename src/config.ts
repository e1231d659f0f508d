import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'

export type Role = 'api' | 'smtp' | 'worker'
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Every setting, read once. The README's table says what each is for. Undefined: not set, and there is no default. */
export interface Config {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Without a slash at its end, like all URLs here. Its default needs the port really bound. */
  readonly publicUrl: string | undefined
  readonly messageUrlBase: string | undefined
  /** Absolute. */
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  /** 32 bytes. */
  readonly masterKey: Uint8Array | undefined
  readonly ownerEmail: string
  readonly ownerToken: string | undefined
  readonly roles: ReadonlySet<Role>
  readonly mailDomain: string
  readonly smtp: {
    readonly host: string
    readonly port: number
    /** PEM texts. */
    readonly tls: { readonly cert: string; readonly key: string } | undefined
    readonly relayUrl: string | undefined
  }
  /** `host:port`; empty: the system's. */
  readonly dnsServers: readonly string[]
  readonly rspamdUrl: string | undefined
  readonly twilio: { readonly accountSid: string; readonly authToken: string; readonly apiUrl: string } | undefined
  readonly telegram: { readonly managerToken: string | undefined; readonly apiUrl: string }
  /** Hosts, `host:port`, IP addresses and CIDRs, in lower case. */
  readonly webhookAllow: readonly string[]
  /** Requests a minute for each token. */
  readonly rateLimit: number
  readonly graphql: {
    /** The only operations that GraphQL serves, by their ids; undefined: any. */
    readonly persisted: ReadonlyMap<string, string> | undefined
    /** Whether its schema may be asked for, and GraphiQL is there. */
    readonly introspection: boolean
  }
  /** The key of a plan; whether there is such a one, the database knows. */
  readonly plan: string
  readonly logLevel: LogLevel
}

/** One or more settings cannot be used: exit code 2. The message has a line for each, and no secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

const isSecret = (name: string) => name === 'MASTER_KEY' || name.endsWith('_TOKEN')

/** A value as an error may show it: no secret, no credentials of a URL (also of one that does not parse), no control characters. */
function shown(name: string, value: string): string {
  if (isSecret(name)) return `a value of ${value.length} characters (not shown)`
  if (URL.canParse(value) && value.includes('//')) {
    const url = new URL(value)
    const login = url.username || url.password ? '***@' : ''
    return JSON.stringify(`${url.protocol}//${login}${url.host}${url.pathname}${url.search ? '?***' : ''}`)
  }
  if (name.endsWith('_URL') && /[@?]/.test(value)) return `a value of ${value.length} characters (not shown)`
  return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)
}

/** Turns a variable's text into its value; throws with what it takes when it can't. */
type Parse<T> = (text: string) => T

const takes = (what: string): Error => new Error(what)

const port: Parse<number> = (text) => {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535) throw takes('a port: 0 to 65535')
  return value
}

const count: Parse<number> = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw takes('a whole number from 1')
  return Number(text)
}

const matching =
  (pattern: RegExp, what: string): Parse<string> =>
  (text) => {
    if (!pattern.test(text)) throw takes(what)
    return text
  }

const NAME = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const HOSTNAME = new RegExp(String.raw`^(?=.{1,253}$)${NAME}(?:\.${NAME})*$`, 'i')

const host: Parse<string> = (text) => {
  if (isIP(text) === 0 && !HOSTNAME.test(text)) throw takes('a host name or an IP address')
  return text
}

const domain: Parse<string> = (text) => {
  if (isIP(text) !== 0 || !HOSTNAME.test(text)) throw takes('a domain name')
  return text.toLowerCase()
}

/** A URL with one of these protocols (the first is the one to suggest), without a query or a fragment unless `whole`. */
const url =
  (protocols: string[], whole = false): Parse<string> =>
  (text) => {
    const what = `a ${protocols.map((protocol) => `${protocol}//`).join(' or ')} URL${whole ? '' : ' without a query'}`
    if (!URL.canParse(text)) throw takes(what)
    const parsed = new URL(text)
    if (!protocols.includes(parsed.protocol) || parsed.host === '') throw takes(what)
    if (!whole && (parsed.search !== '' || parsed.hash !== '')) throw takes(what)
    return whole ? text : text.replace(/\/+$/, '')
  }

const http = url(['http:', 'https:'])

const base64Key: Parse<Uint8Array> = (text) => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32 || bytes.toString('base64') !== text) throw takes('32 bytes in base64 (openssl rand -base64 32)')
  return bytes
}

const email: Parse<string> = (text) => {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || text.length > 320 || !/^[^\s@<>(),;:"\\]+$/.test(local) || !HOSTNAME.test(text.slice(at + 1)))
    throw takes('an email address')
  return text
}

const list =
  <T>(item: Parse<T>): Parse<T[]> =>
  (text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map(item)

const ROLES = ['api', 'smtp', 'worker'] as const

const role: Parse<Role> = (text) => {
  const found = ROLES.find((one) => one === text)
  if (!found) throw takes('some of api, smtp and worker, comma-separated')
  return found
}

const roles: Parse<ReadonlySet<Role>> = (text) => {
  const found = new Set(list(role)(text))
  if (found.size === 0) throw takes('some of api, smtp and worker, comma-separated')
  return found
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const level: Parse<LogLevel> = (text) => {
  const found = LEVELS.find((one) => one === text)
  if (!found) throw takes(`one of ${LEVELS.join(', ')}`)
  return found
}

/** `host`, `host:port`, `1.2.3.4:53`, `[::1]:53`, `::1` */
function splitPort(text: string): { host: string; port: number | undefined } | undefined {
  if (isIP(text) !== 0) return { host: text, port: undefined }
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text)
  const name = match?.[1] ?? match?.[2]
  const number = match?.[3] === undefined ? undefined : Number(match[3])
  if (name === undefined || (number ?? 1) > 65_535 || number === 0) return undefined
  if (match?.[1] !== undefined ? isIP(name) !== 6 : isIP(name) === 0 && !HOSTNAME.test(name)) return undefined
  return { host: name, port: number }
}

const server: Parse<string> = (text) => {
  const parts = splitPort(text)
  if (!parts) throw takes('host or host:port, comma-separated')
  return `${isIP(parts.host) === 6 ? `[${parts.host}]` : parts.host}:${parts.port ?? 53}`
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = isIP(address)
  return more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

const allowed: Parse<string> = (text) => {
  if (!isCidr(text) && !splitPort(text)) throw takes('hosts, host:port, IP addresses or CIDRs, comma-separated')
  return text.toLowerCase()
}

const file: Parse<string> = (text) => {
  try {
    return readFileSync(text, 'utf8')
  } catch (error) {
    throw takes(`a file that can be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Reads variables and gathers what is wrong with them. An empty one counts as not set. */
class Reader {
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

  /** All of them or none. */
  together(...names: string[]): void {
    const missing = names.filter((name) => !this.isSet(name))
    if (missing.length > 0 && missing.length < names.length) {
      this.problems.push(`${missing.join(' and ')} is not set; ${names.join(' and ')} go together.`)
    }
  }
}

/** A JSON object of texts in a file. */
const texts: Parse<ReadonlyMap<string, string>> = (text) => {
  const wrong = takes('a JSON file: an object of GraphQL documents by their ids')
  let read: unknown
  try {
    read = JSON.parse(file(text))
  } catch (error) {
    throw error instanceof SyntaxError ? wrong : error
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw wrong
  const entries = Object.entries(read)
  if (!entries.every(([, value]) => typeof value === 'string')) throw wrong
  return new Map(entries as [string, string][])
}

const onOff: Parse<boolean> = (text) => {
  if (text !== 'on' && text !== 'off') throw takes('on or off')
  return text === 'on'
}

function readSmtp(reader: Reader): Config['smtp'] {
  reader.together('SMTP_TLS_CERT', 'SMTP_TLS_KEY')
  const [cert, key] = [reader.read('SMTP_TLS_CERT', file), reader.read('SMTP_TLS_KEY', file)]
  return {
    host: reader.read('SMTP_HOST', host) ?? '127.0.0.1',
    port: reader.read('SMTP_PORT', port) ?? 2525,
    tls: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    relayUrl: reader.read('SMTP_RELAY_URL', url(['smtp:', 'smtps:'], true)),
  }
}

function readTwilio(reader: Reader): Config['twilio'] {
  reader.together('TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN')
  const apiUrl = reader.read('TWILIO_API_URL', http) ?? 'https://api.twilio.com'
  const accountSid = reader.read('TWILIO_ACCOUNT_SID', matching(/^[A-Za-z0-9]{2,64}$/, "an account's SID"))
  const authToken = reader.read('TWILIO_AUTH_TOKEN', matching(/^[\x21-\x7e]{1,200}$/, 'printable characters without spaces'))
  return accountSid !== undefined && authToken !== undefined ? { accountSid, authToken, apiUrl } : undefined
}

function readDatabase(reader: Reader): Pick<Config, 'databaseUrl' | 'masterKey'> {
  const databaseUrl = reader.read('DATABASE_URL', url(['postgresql:', 'postgres:'], true))
  const masterKey = reader.read('MASTER_KEY', base64Key)
  if (reader.isSet('DATABASE_URL') && !reader.isSet('MASTER_KEY')) {
    reader.problems.push('MASTER_KEY is not set; with DATABASE_URL it takes 32 bytes in base64 (openssl rand -base64 32).')
  }
  return { databaseUrl, masterKey }
}

/** Nothing can change it any more (a key's bytes excepted). */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}

/** Reads and checks every variable of `environment`. Throws one `ConfigError` that names all that is wrong. */
export function readConfig(environment: Environment): Config {
  const reader = new Reader(environment)
  const config: Config = {
    host: reader.read('HOST', host) ?? '127.0.0.1',
    port: reader.read('PORT', port) ?? 4000,
    publicUrl: reader.read('PUBLIC_URL', http),
    messageUrlBase: reader.read('MESSAGE_URL_BASE', http),
    dataDir: resolve(reader.read('DATA_DIR', (text) => text) ?? 'data'),
    ...readDatabase(reader),
    ownerEmail: reader.read('OWNER_EMAIL', email) ?? 'owner@localhost',
    ownerToken: reader.read('OWNER_TOKEN', matching(/^[\x20-\x7e]{20,200}$/, '20 to 200 printable characters')),
    roles: reader.read('ROLES', roles) ?? new Set(ROLES),
    mailDomain: reader.read('MAIL_DOMAIN', domain) ?? 'agents.localhost',
    smtp: readSmtp(reader),
    dnsServers: reader.read('DNS_SERVERS', list(server)) ?? [],
    rspamdUrl: reader.read('RSPAMD_URL', http),
    twilio: readTwilio(reader),
    telegram: {
      managerToken: reader.read('TELEGRAM_MANAGER_TOKEN', matching(/^\d+:[A-Za-z0-9_-]+$/, "a bot's token (digits, a colon, letters)")),
      apiUrl: reader.read('TELEGRAM_API_URL', http) ?? 'https://api.telegram.org',
    },
    webhookAllow: reader.read('WEBHOOK_ALLOW', list(allowed)) ?? [],
    rateLimit: reader.read('RATE_LIMIT', count) ?? 600,
    graphql: { persisted: reader.read('PERSISTED_ONLY', texts), introspection: reader.read('INTROSPECTION', onOff) ?? true },
    plan: reader.read('PLAN', matching(/^[a-z0-9][a-z0-9_-]{0,62}$/i, "a plan's key")) ?? 'unlimited',
    logLevel: reader.read('LOG_LEVEL', level) ?? 'info',
  }
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return freeze(config)
}
