import type { Environment } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { createFreshResolver, type DnsResolver } from '../mail/index.ts'
import { checkDatabase } from './database.ts'
import { checkDns } from './dns.ts'
import { checkPorts } from './ports.ts'
import { checkProviders } from './providers.ts'
import { type Area, asText, type Finding, problem, type Report, reportOf, skipped } from './report.ts'
import { checkSettings, readValid } from './settings.ts'
import { checkClock } from './time.ts'
import { checkTls } from './tls.ts'

/** Settings without which a group of checks would examine something other than what is meant. */
const NEEDS: Partial<Record<Area, readonly string[]>> = {
  database: ['DATABASE_URL', 'MASTER_KEY', 'DATA_DIR'],
  dns: ['MAIL_DOMAIN', 'MAIL_HOST', 'DNS_SERVERS'],
  ports: ['HOST', 'PORT', 'SMTP_HOST', 'SMTP_PORT', 'ROLES'],
  tls: ['SMTP_TLS_CERT', 'SMTP_TLS_KEY', 'MAIL_HOST', 'PUBLIC_URL'],
  providers: [
    'TWILIO_ACCOUNT_SID',
    'TWILIO_AUTH_TOKEN',
    'TELEGRAM_MANAGER_TOKEN',
    'SMTP_RELAY_URL',
    'BLOB_URL',
  ],
}

const ADVICE = 'This is a fault of the doctor itself: please report it, with the message.'

/** Runs a group of checks; an unexpected error is a finding too, so that the other groups are reported. */
const group = async (
  area: Area,
  invalid: ReadonlySet<string>,
  check: () => Promise<Finding[]>,
): Promise<Report['findings']> => {
  const wrong = NEEDS[area]?.filter((name) => invalid.has(name)) ?? []
  const findings =
    wrong.length > 0
      ? [skipped(`Not checked, because ${wrong.join(' and ')} cannot be used.`)]
      : await check().catch((error) => [problem(`The check failed: ${messageOf(error)}`, ADVICE)])
  return findings.map((finding) => ({ area, ...finding }))
}

/** Checks a set-up from the outside. It changes nothing, and runs beside a service or without one. */
const examine = async (environment: Environment): Promise<Report> => {
  const settings = readValid(environment)
  const { config, invalid } = settings
  const servers = config.dnsServers.length > 0 ? [...config.dnsServers] : null
  const resolver: DnsResolver = createFreshResolver(servers)
  let database: Awaited<ReturnType<typeof checkDatabase>>['database'] = null
  const findings = [
    ...(await group('settings', new Set(), () => checkSettings(settings))),
    ...(await group('database', invalid, async () => {
      const checked = await checkDatabase(config)
      database = checked.database
      return checked.findings
    })),
  ]
  try {
    const groups = await Promise.all([
      group('dns', invalid, () => checkDns(config, database, resolver)),
      group('ports', invalid, () => checkPorts(config, resolver)),
      group('tls', invalid, () => checkTls(config, new Date())),
      group('clock', invalid, () => checkClock(config, database)),
      group('providers', invalid, () => checkProviders(config, database)),
    ])
    return reportOf([...findings, ...groups.flat()])
  } finally {
    await (database as { close(): Promise<void> } | null)?.close()
  }
}

/** Runs `npm start -- doctor`: returns the text to print, and whether there is no problem. */
export const runDoctor = async (
  environment: Environment,
  { json }: { json: boolean },
): Promise<{ text: string; ok: boolean }> => {
  const report = await examine(environment)
  return { text: json ? JSON.stringify(report) : asText(report), ok: report.ok }
}
