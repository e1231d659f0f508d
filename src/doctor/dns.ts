import ipaddr from 'ipaddr.js'
import type { Config } from '../config/config.ts'
import { systemClock } from '../core/clock.ts'
import { COMMAND } from '../core/root.ts'
import type { Domain } from '../db/generated/prisma/client.ts'
import {
  type Ask,
  type CheckedRecord,
  checkRecords,
  createAsk,
  publishedDkimKeys,
  type WantedRecord,
  wantedRecords,
} from '../email-domain/index.ts'
import type { DnsResolver } from '../mail/index.ts'
import { spf } from '../mail/verify/mailauth.ts'
import type { OpenDatabase } from './database.ts'
import { type Finding, ok, problem, skipped, warning } from './report.ts'

/** Names that do not exist in the public DNS (RFC 6761, RFC 6762, RFC 9476). */
const LOCAL = /^[^.]+$|(?:^|\.)(?:localhost|local|test|invalid|internal|alt)$/

/** Whether other mail servers can look up this domain. */
export const isPublic = (domain: string): boolean => !LOCAL.test(domain)

/** Workspaces' domains whose records are looked up, the oldest first. */
const MAX_DOMAINS = 200
/** Domains that are looked up at a time. */
const AT_ONCE = 10

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? 'no answer'
const isAbsent = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(codeOf(error))

/** Returns the addresses of a host; throws when DNS does not answer. */
export const addressesOf = async (resolver: DnsResolver, host: string): Promise<string[]> => {
  const found = await Promise.all(
    ['A', 'AAAA'].map((type) =>
      resolver(host, type).catch((error: unknown) => (isAbsent(error) ? [] : Promise.reject(error))),
    ),
  )
  return found.flat() as string[]
}

/** Returns the name of an address for a reverse lookup (RFC 1035 3.5, RFC 3596 2.5). */
const reverseName = (address: string): string => {
  const bytes = ipaddr.process(address).toByteArray()
  return bytes.length === 4
    ? `${bytes.reverse().join('.')}.in-addr.arpa`
    : `${bytes
        .flatMap((byte) => [byte >> 4, byte & 15])
        .reverse()
        .map((nibble) => nibble.toString(16))
        .join('.')}.ip6.arpa`
}

const recordFinding = ({ type, name, value, problem: fault, required, certain }: CheckedRecord): Finding => {
  if (fault === null) return ok(`${type} ${name} is right.`)
  const message = `${type} ${name}: ${fault}.`
  if (!certain) return warning(message, 'Check the resolvers (DNS_SERVERS) and run the doctor again.')
  return (required ? problem : warning)(message, `Publish ${type} ${name} with the value ${value}`)
}

const MX_BY_HTTP =
  'Mail also arrives by HTTP (SES_TOPIC_ARN, INBOUND_SECRET): ignore this if the MX is that of your provider.'

const ownRecords = async (
  { mailDomain, mailHost }: Config,
  database: OpenDatabase | null,
): Promise<WantedRecord[]> => {
  const keys = database?.migrated
    ? await publishedDkimKeys(
        { ...database.db, clock: systemClock },
        { domain: mailDomain, workspaceId: null },
      )
    : []
  const subject = { name: mailDomain, ownershipToken: '' }
  return wantedRecords(subject, keys, { mailDomain, mailHost })
    .filter(({ purpose }) => purpose === 'mx' || purpose === 'dkim' || purpose === 'dmarc')
    .map((record) => (record.type === 'MX' ? { ...record, value: mailHost } : record))
}

const checkOwnRecords = async (
  config: Config,
  database: OpenDatabase | null,
  ask: Ask,
): Promise<Finding[]> => {
  const wanted = await ownRecords(config, database)
  const byHttp = config.sesTopics.length > 0 || config.inboundSecrets.length > 0
  const findings = (await checkRecords(wanted, ask, config)).map((record) =>
    record.purpose === 'mx' && byHttp && record.problem !== null
      ? warning(`MX ${record.name}: ${record.problem}.`, MX_BY_HTTP)
      : recordFinding(record),
  )
  if (wanted.some(({ purpose }) => purpose === 'dkim')) return findings
  return [
    ...findings,
    warning(
      'The DKIM record could not be checked: there is no key yet.',
      `Run ${COMMAND} domain, and publish the record that it prints.`,
    ),
  ]
}

const checkSpf = async ({ mailDomain, mailHost, smtp }: Config, ask: Ask): Promise<Finding> => {
  const answer = await ask(mailDomain, 'TXT')
  if (answer.status === 'unknown')
    return warning(`TXT ${mailDomain}: DNS gave no answer (${answer.code}).`, 'Check DNS_SERVERS.')
  const records =
    answer.status === 'found' ? answer.values.filter((value) => /^v=spf1(?: |$)/i.test(value)) : []
  if (records.length === 1) return ok(`SPF ${mailDomain} is ${records[0]!.slice(0, 200)}`)
  const terms = smtp.direct ? `a:${mailHost}` : "include: and your relay's SPF domain"
  return records.length === 0
    ? problem(
        `SPF ${mailDomain}: there is no such record.`,
        `Publish TXT ${mailDomain} with v=spf1, ${terms}, and ~all.`,
      )
    : problem(`SPF ${mailDomain}: there are ${records.length} records, so receivers ignore all.`, 'Keep one.')
}

/** Whether the receivers of mail that this host sends directly find what they expect of its address. */
const checkAddress = async (
  { mailDomain, mailHost }: Config,
  resolver: DnsResolver,
  address: string,
): Promise<Finding[]> => {
  const result = await spf({
    sender: `postmaster@${mailDomain}`,
    ip: address,
    helo: mailHost,
    mta: mailHost,
    resolver,
  } as never).catch(() => null)
  const verdict = result ? result.status.result : 'temperror'
  const names = (await resolver(reverseName(address), 'PTR').catch(() => [])) as string[]
  const advice = `Ask whoever gave you ${address} to set its PTR record to ${mailHost}. Many servers refuse mail from others.`
  const ptr =
    names.length === 0
      ? problem(`PTR of ${address} (${mailHost}): there is no such record.`, advice)
      : names.some((name) => name.toLowerCase().replace(/\.$/, '') === mailHost)
        ? ok(`PTR of ${address} is ${mailHost}.`)
        : warning(`PTR of ${address} is ${names[0]}, not ${mailHost}.`, advice)
  return [
    verdict === 'pass'
      ? ok(`SPF allows ${address} to send for ${mailDomain}.`)
      : problem(
          `SPF does not allow ${address} to send for ${mailDomain} (${verdict}).`,
          `Add a:${mailHost} to the SPF record of ${mailDomain}.`,
        ),
    ptr,
  ]
}

const checkHost = async (config: Config, resolver: DnsResolver): Promise<Finding[]> => {
  const { mailHost, smtp } = config
  let addresses: string[]
  try {
    addresses = await addressesOf(resolver, mailHost)
  } catch (error) {
    return [warning(`A ${mailHost}: DNS gave no answer (${codeOf(error)}).`, 'Check DNS_SERVERS.')]
  }
  if (addresses.length === 0)
    return [
      problem(
        `${mailHost} has no address: no mail server can connect to it.`,
        'Publish an A record (and AAAA), or set MAIL_HOST to the name of this SMTP server.',
      ),
    ]
  const found = ok(`${mailHost} has the address ${addresses.join(', ')}.`)
  if (!smtp.direct)
    return [found, skipped('PTR is not needed: mail leaves through a relay, whose address counts.')]
  return [
    found,
    ...(await Promise.all(addresses.map((address) => checkAddress(config, resolver, address)))).flat(),
  ]
}

const checkDomain = async (
  config: Config,
  { db }: OpenDatabase,
  resolver: DnsResolver,
  domain: Domain,
): Promise<Finding[]> => {
  const owner = { domain: domain.name, workspaceId: domain.workspaceId }
  const keys = await publishedDkimKeys({ ...db, clock: systemClock }, owner)
  const records = await checkRecords(wantedRecords(domain, keys, config), createAsk(resolver), config)
  const wrong = records.filter((record) => record.problem !== null)
  if (wrong.length === 0) return [ok(`The records of ${domain.name} (a workspace's domain) are right.`)]
  // A domain that was never verified is its workspace's business: nothing depends on it yet.
  return wrong.map((record) =>
    recordFinding(domain.state === 'pending' ? { ...record, required: false } : record),
  )
}

const checkDomains = async (
  config: Config,
  database: OpenDatabase,
  resolver: DnsResolver,
): Promise<Finding[]> => {
  const domains = await database.db.prisma.domain.findMany({ orderBy: { id: 'asc' }, take: MAX_DOMAINS + 1 })
  const findings: Finding[] = []
  for (let at = 0; at < Math.min(domains.length, MAX_DOMAINS); at += AT_ONCE) {
    const group = domains.slice(at, Math.min(at + AT_ONCE, MAX_DOMAINS))
    const checked = group.map((domain) => checkDomain(config, database, resolver, domain))
    findings.push(...(await Promise.all(checked)).flat())
  }
  return domains.length > MAX_DOMAINS
    ? [...findings, skipped(`Only the first ${MAX_DOMAINS} of the workspaces' domains were looked up.`)]
    : findings
}

/** Checks the records of the mail domain, of this host, and of the workspaces' domains. */
export const checkDns = async (
  config: Config,
  database: OpenDatabase | null,
  resolver: DnsResolver,
): Promise<Finding[]> => {
  const { mailDomain } = config
  const ask = createAsk(resolver)
  const own = isPublic(mailDomain)
    ? [
        ...(await checkOwnRecords(config, database, ask)),
        await checkSpf(config, ask),
        ...(await checkHost(config, resolver)),
      ]
    : [skipped(`MAIL_DOMAIN ${mailDomain} is not a public name: no mail arrives from the internet.`)]
  return database?.migrated ? [...own, ...(await checkDomains(config, database, resolver))] : own
}
