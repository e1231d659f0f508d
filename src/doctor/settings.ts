import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDataDir } from '../boot/data-dir.ts'
import { type Config, ConfigError, type Environment, readConfig } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { type Finding, ok, problem, warning } from './report.ts'

/** The settings that can be used, and the names of the others. */
export interface Settings {
  config: Config
  problems: readonly string[]
  invalid: ReadonlySet<string>
}

/** Reads the settings without those that are invalid, so that the rest can be checked too. */
export const readValid = (environment: Environment): Settings => {
  const problems: string[] = []
  const invalid = new Set<string>()
  for (let valid = environment; ; ) {
    try {
      return { config: readConfig(valid), problems, invalid }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      const named = Object.keys(valid).filter((name) =>
        error.problems.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
      )
      if (named.length === 0) throw error
      problems.push(...error.problems)
      for (const name of named) invalid.add(name)
      valid = Object.fromEntries(Object.entries(valid).filter(([name]) => !invalid.has(name)))
    }
  }
}

const isLoopback = (host: string): boolean => /^(?:localhost|127\..*|::1|\[::1\])$/.test(host)

const checkPublicUrl = ({ publicUrl, host, port }: Config): Finding => {
  if (!publicUrl)
    return isLoopback(host)
      ? ok(`PUBLIC_URL is not set: clients on this machine use http://localhost:${port || 'PORT'}.`)
      : warning(
          `PUBLIC_URL is not set, but HOST is ${host}: links in mails and pages point to localhost.`,
          'Set PUBLIC_URL to the URL at which people and providers reach the service.',
        )
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'http:' && !isLoopback(hostname)
    ? warning(
        `PUBLIC_URL is ${publicUrl}: tokens and sessions are sent unencrypted.`,
        'Put a proxy with TLS in front of the service, and set PUBLIC_URL to its https:// URL.',
      )
    : ok(`PUBLIC_URL is ${publicUrl}.`)
}

const checkSending = ({ smtp, mailDomain, dataDir }: Config): Finding => {
  if (smtp.relayUrl) return ok('Mail is sent through the relay of SMTP_RELAY_URL.')
  if (smtp.direct) return ok("Mail is sent directly to the recipients' servers (SMTP_DIRECT).")
  return warning(
    `Outgoing mail of ${mailDomain} is not sent, but stored in ${join(dataDir, 'outbox')}.`,
    'Set SMTP_RELAY_URL to your mail server, or SMTP_DIRECT to "on".',
  )
}

/** What the service keeps in DATA_DIR for itself. A copy from a backup may have another mode. */
const PRIVATE = ['master.key', 'owner-token', 'pg-password', 'smtp.key']

/** Returns those that other users may read or change, where files have such modes. */
const exposedIn = (dataDir: string): string[] =>
  process.platform === 'win32'
    ? []
    : PRIVATE.map((name) => join(dataDir, name)).filter(
        (file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
      )

const checkDataDir = async ({ dataDir }: Config): Promise<Finding> => {
  if (!existsSync(dataDir)) return ok(`DATA_DIR ${dataDir} does not exist yet: the first start creates it.`)
  try {
    await openDataDir(dataDir)
    const exposed = exposedIn(dataDir).join(' ')
    if (exposed) return problem(`Other users may read or change ${exposed}.`, `Run chmod 600 ${exposed}`)
    return ok(`DATA_DIR is ${dataDir}.`)
  } catch (error) {
    return problem(messageOf(error), 'Run the service as the user that owns DATA_DIR, or correct its mode.')
  }
}

/** Reports invalid settings, and valid ones that are rarely meant. */
export const checkSettings = async ({ config, problems }: Settings): Promise<Finding[]> => [
  ...problems.map((text) => problem(text, 'Correct it: the service does not start with it.')),
  ...(problems.length === 0 ? [ok('All settings are valid.')] : []),
  ...config.unknown.map((name) =>
    warning(
      `${name} is not a setting.`,
      'See docs/configuration.md; remove it if it is not for another program.',
    ),
  ),
  checkPublicUrl(config),
  checkSending(config),
  await checkDataDir(config),
]
