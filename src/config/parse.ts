import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** Parses a variable's text; throws with a description of the valid values. */
export type Parse<T> = (text: string) => T

const takes = (what: string): Error => new Error(what)

export const port: Parse<number> = (text) => {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535) throw takes('a port: 0 to 65535')
  return value
}

export const count: Parse<number> = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw takes('a whole number from 1')
  return Number(text)
}

/** Parses a size of a content, which has at most 2 GiB. */
export const bytes: Parse<number> = (text) => {
  const value = Number(text)
  if (!/^\d{1,10}$/.test(text) || value > 2 ** 31 - 1) throw takes('a number of bytes')
  return value
}

export const seconds: Parse<number> = (text) => {
  const value = Number(text)
  if (!/^\d{1,4}$/.test(text) || value > 3600) throw takes('seconds: 0 to 3600')
  return value
}

/** Parses a share of a whole. */
export const share: Parse<number> = (text) => {
  const value = Number(text)
  if (!/^[01]?(\.\d{1,6})?$/.test(text) || value <= 0 || value > 1)
    throw takes('a share: more than 0 and at most 1, such as 0.1')
  return value
}

export const matching =
  (pattern: RegExp, what: string): Parse<string> =>
  (text) => {
    if (!pattern.test(text)) throw takes(what)
    return text
  }

const NAME = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const HOSTNAME = new RegExp(String.raw`^(?=.{1,253}$)${NAME}(?:\.${NAME})*$`, 'i')

export const host: Parse<string> = (text) => {
  if (isIP(text) === 0 && !HOSTNAME.test(text)) throw takes('a host name or an IP address')
  return text
}

export const domain: Parse<string> = (text) => {
  if (isIP(text) !== 0 || !HOSTNAME.test(text)) throw takes('a domain name')
  return text.toLowerCase()
}

/**
 * Returns a parser of URLs with one of these protocols (the first one is suggested in errors), without a
 * query or a fragment unless `whole`.
 */
export const url =
  (protocols: string[], whole = false): Parse<string> =>
  (text) => {
    const what = `a ${protocols.map((protocol) => `${protocol}//`).join(' or ')} URL${whole ? '' : ' without a query'}`
    if (!URL.canParse(text)) throw takes(what)
    const parsed = new URL(text)
    if (!protocols.includes(parsed.protocol) || parsed.host === '') throw takes(what)
    if (!whole && (parsed.search !== '' || parsed.hash !== '')) throw takes(what)
    return whole ? text : text.replace(/(?<!\/)\/+$/, '')
  }

const NO_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)(?=\/)/

/**
 * Parses a PostgreSQL URL. Its host may be only in the query, like the folder of a Unix socket:
 * `postgresql:///name?host=/run/postgresql`.
 */
export const database: Parse<string> = (text) => {
  const named = text.replace(NO_HOST, '$1host')
  if (named !== text && URL.canParse(named) && new URL(named).searchParams.get('host')) return text
  return url(['postgresql:', 'postgres:'], true)(text)
}

export const http = url(['http:', 'https:'])

const base64Key: Parse<Uint8Array> = (text) => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32 || bytes.toString('base64') !== text)
    throw takes('32 bytes in base64 (openssl rand -base64 32)')
  return bytes
}

/** Parses one key or, during a change, the new key and the previous ones. */
export const base64Keys: Parse<Uint8Array[]> = (text) => text.split(',').map((one) => base64Key(one.trim()))

export const email: Parse<string> = (text) => {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || text.length > 320 || !/^[^\s@<>(),;:"\\]+$/.test(local) || !HOSTNAME.test(text.slice(at + 1)))
    throw takes('an email address')
  return text
}

export const list =
  <T>(item: Parse<T>): Parse<T[]> =>
  (text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map(item)

export const ROLES = ['api', 'smtp', 'worker'] as const
/** A process in front of several installations is nothing else: it has no database. */
const FRONT = 'front'
export type Role = (typeof ROLES)[number] | typeof FRONT

const role: Parse<Role> = (text) => {
  const found = [...ROLES, FRONT].find((one) => one === text)
  if (!found) throw takes('some of api, smtp and worker, comma-separated, or front alone')
  return found as Role
}

export const roles: Parse<ReadonlySet<Role>> = (text) => {
  const found = new Set(list(role)(text))
  if (found.size === 0 || (found.has(FRONT) && found.size > 1))
    throw takes('some of api, smtp and worker, comma-separated, or front alone')
  return found
}

/** An installation behind a front: where it answers HTTP, without a path, and SMTP. */
export interface CellUrls {
  readonly http: string
  readonly smtp: { readonly host: string; readonly port: number }
}

/** Parses `http://10.0.0.1:4000 smtp://10.0.0.1:2525`. */
export const cell: Parse<CellUrls> = (text) => {
  const [http = '', smtp = '', ...more] = text.split(/\s+/)
  const isBare = (url: string, protocols: string[]) => {
    if (!URL.canParse(url)) return false
    const { protocol, username, password, pathname, search, hash } = new URL(url)
    return (
      protocols.includes(protocol) &&
      `${username}${password}${pathname}${search}${hash}`.replace('/', '') === ''
    )
  }
  if (more.length > 0 || !isBare(http, ['http:', 'https:']) || !isBare(smtp, ['smtp:']))
    throw takes('installations, comma-separated, each as http://HOST:PORT smtp://HOST:PORT')
  const { hostname, port: number } = new URL(smtp)
  const { origin } = new URL(http)
  return { http: origin, smtp: { host: hostname.replace(/^\[|\]$/g, ''), port: Number(number || 25) } }
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LEVELS)[number]

export const level: Parse<LogLevel> = (text) => {
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

export const nameServer: Parse<string> = (text) => {
  const parts = splitPort(text)
  if (!parts || isIP(parts.host) === 0)
    throw takes('IP addresses of name servers, with :port or without, comma-separated')
  return `${isIP(parts.host) === 6 ? `[${parts.host}]` : parts.host}:${parts.port ?? 53}`
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = isIP(address)
  return (
    more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  )
}

export const network: Parse<string> = (text) => {
  if (!isCidr(text) && isIP(text) === 0) throw takes('IP addresses and CIDRs, comma-separated')
  return text.toLowerCase()
}

export const allowed: Parse<string> = (text) => {
  if (!isCidr(text) && !splitPort(text))
    throw takes('hosts, host:port, IP addresses or CIDRs, comma-separated')
  return text.toLowerCase()
}

export const file: Parse<string> = (text) => {
  try {
    // A start would wait for a pipe.
    if (statSync(text).isFile()) return readFileSync(text, 'utf8')
  } catch (error) {
    throw takes(`a file that can be read (${(error as NodeJS.ErrnoException).code})`)
  }
  throw takes('a file, and this is not one')
}

/** Parses a file with a JSON object of strings. */
export const texts: Parse<ReadonlyMap<string, string>> = (text) => {
  const invalid = takes('a JSON file: an object of GraphQL documents by their ids')
  let read: unknown
  try {
    read = JSON.parse(file(text))
  } catch (error) {
    throw error instanceof SyntaxError ? invalid : error
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw invalid
  const entries = Object.entries(read)
  if (!entries.every(([, value]) => typeof value === 'string')) throw invalid
  return new Map(entries as [string, string][])
}

export const onOff: Parse<boolean> = (text) => {
  if (text !== 'on' && text !== 'off') throw takes('on or off')
  return text === 'on'
}
