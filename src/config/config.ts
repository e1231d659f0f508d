import { resolve } from 'node:path'
import { certificateOf, type TlsFiles } from '../core/tls-pair.ts'
import { readObjectStore } from './object-store.ts'
import {
  allowed,
  base64Keys,
  type CellUrls,
  cell,
  count,
  database,
  domain,
  email,
  file,
  host,
  http,
  type LogLevel,
  level,
  list,
  matching,
  nameServer,
  network,
  onOff,
  port,
  ROLES,
  type Role,
  roles,
  seconds,
  share,
  texts,
  url,
} from './parse.ts'
import { ConfigError, type Environment, Reader } from './reader.ts'

export { ConfigError, type Environment }

/**
 * All settings, read once. docs/configuration.md describes them. A setting without a value and a default is
 * undefined.
 */
export interface Config {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Without a trailing slash, like all URLs here. Its default depends on the port that is bound. */
  readonly publicUrl: string | undefined
  readonly messageUrlBase: string | undefined
  /** Absolute. */
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  /** URL of the same database without the pooler (such as PgBouncer) that `databaseUrl` leads to. */
  readonly databaseDirectUrl: string | undefined
  /** A streaming replica of the database, for lists and searches. */
  readonly databaseReadUrl: string | undefined
  /**
   * 32 bytes each: the current key, then others that may have encrypted data. Empty: the keys are in
   * DATA_DIR.
   */
  readonly masterKeys: readonly Uint8Array[]
  /** Where the contents of messages are stored; undefined: in the database. */
  readonly objectStore: ReturnType<typeof readObjectStore>
  readonly ownerEmail: string
  readonly ownerToken: string | undefined
  readonly roles: ReadonlySet<Role>
  /** The installations that a process with the role `front` is in front of. */
  readonly cells: readonly CellUrls[]
  /** What fronts and the installations behind them have in common; undefined: this installation has no front. */
  readonly cellSecret: string | undefined
  readonly mailDomain: string
  /** Host that the MX records of customers' own domains point at. */
  readonly mailHost: string
  readonly smtp: {
    readonly host: string
    readonly port: number
    readonly tls: TlsFiles | undefined
    readonly relayUrl: string | undefined
    /** Whether mail is sent directly to its recipients' servers. */
    readonly direct: boolean
  }
  /** `address:port`; empty: the system's. */
  readonly dnsServers: readonly string[]
  readonly rspamdUrl: string | undefined
  /** Secrets that sign mail handed over by HTTP; empty: none is accepted. */
  readonly inboundSecrets: readonly string[]
  /** Topics of Amazon SNS through which Amazon SES delivers mail. */
  readonly sesTopics: readonly string[]
  readonly twilio:
    | { readonly accountSid: string; readonly authToken: string; readonly apiUrl: string }
    | undefined
  readonly telegram: { readonly managerToken: string | undefined; readonly apiUrl: string }
  /** Hosts, `host:port`, IP addresses and CIDRs, in lowercase. */
  readonly webhookAllow: readonly string[]
  /** Addresses and CIDRs of proxies whose X-Forwarded-For and PROXY headers are trusted. */
  readonly trustProxy: readonly string[]
  /** Maximum number of requests per minute and token. */
  readonly rateLimit: number
  /** How long a process that was asked to stop continues to serve while it reports that it is not ready. */
  readonly drainSeconds: number
  readonly graphql: {
    /** The only operations that GraphQL accepts, by id; undefined for no restriction. */
    readonly persisted: ReadonlyMap<string, string> | undefined
    /** Whether introspection and GraphiQL are enabled. */
    readonly introspection: boolean
  }
  /** Key of a plan. Whether it exists is checked in the database. */
  readonly plan: string
  readonly logLevel: LogLevel
  /** Share of the log's lines about single requests, mails and deliveries to keep. */
  readonly logSample: number
  /** Variables that begin as settings do, and are none. */
  readonly unknown: readonly string[]
  readonly tracing: {
    /** Base URL of an OpenTelemetry collector; undefined: no traces. */
    readonly endpoint: string | undefined
    readonly serviceName: string
  }
}

const topic = matching(
  /^arn:aws(-[a-z-]{1,20})?:sns:[a-z0-9-]{1,40}:\d{12}:[A-Za-z0-9_-]{1,256}$/,
  'ARNs of SNS topics, comma-separated',
)
const inboundSecret = matching(
  /^[\x21-\x7e]{16,200}$/,
  'secrets of 16 to 200 printable characters without spaces, comma-separated',
)

function readTls(reader: Reader): TlsFiles | undefined {
  reader.together('SMTP_TLS_CERT', 'SMTP_TLS_KEY')
  const named = (path: string) => ({ path, text: file(path) })
  const [cert, key] = [reader.read('SMTP_TLS_CERT', named), reader.read('SMTP_TLS_KEY', named)]
  if (!cert || !key) return undefined
  const tls = { cert: cert.text, key: key.text, certFile: cert.path, keyFile: key.path }
  try {
    certificateOf(tls)
    return tls
  } catch {
    reader.problems.push(
      'SMTP_TLS_CERT and SMTP_TLS_KEY do not match; they take PEM files of a certificate and its key, without a passphrase.',
    )
    return undefined
  }
}

function readSmtp(reader: Reader): Config['smtp'] {
  const relayUrl = reader.read('SMTP_RELAY_URL', url(['smtp:', 'smtps:'], true))
  const direct = reader.read('SMTP_DIRECT', onOff) ?? false
  if (direct && relayUrl !== undefined)
    reader.problems.push('SMTP_DIRECT is "on" and SMTP_RELAY_URL is set; use only one of them.')
  return {
    host: reader.read('SMTP_HOST', host) ?? '127.0.0.1',
    port: reader.read('SMTP_PORT', port) ?? 2525,
    tls: readTls(reader),
    relayUrl,
    direct,
  }
}

function readTwilio(reader: Reader): Config['twilio'] {
  reader.together('TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN')
  const apiUrl = reader.read('TWILIO_API_URL', http) ?? 'https://api.twilio.com'
  const accountSid = reader.read('TWILIO_ACCOUNT_SID', matching(/^[A-Za-z0-9]{2,64}$/, "an account's SID"))
  const authToken = reader.read(
    'TWILIO_AUTH_TOKEN',
    matching(/^[\x21-\x7e]{1,200}$/, 'printable characters without spaces'),
  )
  return accountSid !== undefined && authToken !== undefined ? { accountSid, authToken, apiUrl } : undefined
}

function readDatabase(
  reader: Reader,
): Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'databaseReadUrl' | 'masterKeys'> {
  const databaseUrl = reader.read('DATABASE_URL', database)
  const databaseDirectUrl = reader.read('DATABASE_DIRECT_URL', database)
  if (reader.isSet('DATABASE_DIRECT_URL') && !reader.isSet('DATABASE_URL'))
    reader.problems.push(
      'DATABASE_DIRECT_URL is set, but DATABASE_URL is not; the first is only for a database behind a pooler.',
    )
  const databaseReadUrl = reader.read('DATABASE_READ_URL', database)
  if (reader.isSet('DATABASE_READ_URL') && !reader.isSet('DATABASE_URL'))
    reader.problems.push(
      'DATABASE_READ_URL is set, but DATABASE_URL is not; the first is a replica of the second.',
    )
  const masterKeys = reader.read('MASTER_KEY', base64Keys) ?? []
  if (reader.isSet('DATABASE_URL') && !reader.isSet('MASTER_KEY')) {
    reader.problems.push(
      'MASTER_KEY is not set; with DATABASE_URL it takes 32 bytes in base64 (openssl rand -base64 32).',
    )
  }
  return { databaseUrl, databaseDirectUrl, databaseReadUrl, masterKeys }
}

/** Installations behind a front, which asks all of them. @limit Fronts */
const MAX_CELLS = 100

function readCells(reader: Reader): Pick<Config, 'roles' | 'cells' | 'cellSecret'> {
  const chosen = reader.read('ROLES', roles) ?? new Set<Role>(ROLES)
  const secret = matching(/^[\x21-\x7e]{32,200}$/, '32 to 200 printable characters without spaces')
  const cellSecret = reader.read('CELL_SECRET', secret)
  const cells = reader.read('CELLS', list(cell)) ?? []
  const isFront = chosen.has('front')
  if (isFront && !(reader.isSet('CELLS') && reader.isSet('CELL_SECRET')))
    reader.problems.push('ROLES is "front"; it needs CELLS and CELL_SECRET.')
  if (!isFront && reader.isSet('CELLS'))
    reader.problems.push('CELLS is set, but ROLES is not "front"; only a front has installations behind it.')
  if (cells.length > MAX_CELLS || new Set(cells.map(({ http }) => http)).size < cells.length)
    reader.problems.push(`CELLS names an installation twice, or more than ${MAX_CELLS}.`)
  return { roles: chosen, cells, cellSecret }
}

/** Freezes a value deeply (except a key's bytes). */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}

/** Reads and checks every variable of `environment`. Throws one `ConfigError` with all problems. */
export function readConfig(environment: Environment): Config {
  const reader = new Reader(environment)
  const mailDomain = reader.read('MAIL_DOMAIN', domain) ?? 'agents.localhost'
  const config: Omit<Config, 'unknown'> = {
    host: reader.read('HOST', host) ?? '127.0.0.1',
    port: reader.read('PORT', port) ?? 4000,
    publicUrl: reader.read('PUBLIC_URL', http),
    messageUrlBase: reader.read('MESSAGE_URL_BASE', http),
    dataDir: resolve(reader.read('DATA_DIR', (text) => text) ?? 'data'),
    ...readDatabase(reader),
    objectStore: readObjectStore(reader),
    ownerEmail: reader.read('OWNER_EMAIL', email) ?? 'owner@localhost',
    ownerToken: reader.read(
      'OWNER_TOKEN',
      matching(/^[\x20-\x7e]{20,200}$/, '20 to 200 printable characters'),
    ),
    ...readCells(reader),
    mailDomain,
    mailHost: reader.read('MAIL_HOST', domain) ?? mailDomain,
    smtp: readSmtp(reader),
    dnsServers: reader.read('DNS_SERVERS', list(nameServer)) ?? [],
    rspamdUrl: reader.read('RSPAMD_URL', http),
    inboundSecrets: reader.read('INBOUND_SECRET', list(inboundSecret)) ?? [],
    sesTopics: reader.read('SES_TOPIC_ARN', list(topic)) ?? [],
    twilio: readTwilio(reader),
    telegram: {
      managerToken: reader.read(
        'TELEGRAM_MANAGER_TOKEN',
        matching(/^\d+:[A-Za-z0-9_-]+$/, "a bot's token (digits, a colon, letters)"),
      ),
      apiUrl: reader.read('TELEGRAM_API_URL', http) ?? 'https://api.telegram.org',
    },
    webhookAllow: reader.read('WEBHOOK_ALLOW', list(allowed)) ?? [],
    trustProxy: reader.read('TRUST_PROXY', list(network)) ?? [],
    rateLimit: reader.read('RATE_LIMIT', count) ?? 600,
    drainSeconds: reader.read('DRAIN_SECONDS', seconds) ?? 0,
    graphql: {
      persisted: reader.read('PERSISTED_ONLY', texts),
      introspection: reader.read('INTROSPECTION', onOff) ?? true,
    },
    plan: reader.read('PLAN', matching(/^[a-z0-9][a-z0-9_-]{0,62}$/i, "a plan's key")) ?? 'unlimited',
    logLevel: reader.read('LOG_LEVEL', level) ?? 'info',
    logSample: reader.read('LOG_SAMPLE', share) ?? 1,
    tracing: {
      endpoint: reader.read('OTEL_EXPORTER_OTLP_ENDPOINT', http),
      serviceName:
        reader.read('OTEL_SERVICE_NAME', matching(/^[\x20-\x7e]{1,100}$/, '1 to 100 printable characters')) ??
        'agent-messaging-service',
    },
  }
  reader.checkSpelling()
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return freeze({ ...config, unknown: reader.unknown })
}
