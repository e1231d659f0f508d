import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { SystemMailer } from '../channel/system-mailer.ts'
import { messageOf } from '../core/errors.ts'
import { type CountedDetail, type ReportSubject, reportIdOf, reportOf } from './report.ts'
import type { TlsResultsDeps } from './results.ts'
import { reportAddresses } from './rua.ts'

export interface TlsReportDeps extends TlsResultsDeps {
  mailer: Pick<SystemMailer, 'deliver'>
  mailDomain: string
}

const HOUR_MS = 3_600_000
/** Time after the end of a day until its results are complete: each process stores them once a minute. */
const COMPLETE_MS = HOUR_MS
/** Time in milliseconds after which a report that a process began to send is sent by another. */
const CLAIM_MS = HOUR_MS
/** Days after which a report that could not be sent is given up. */
const MAX_DAYS = 3

interface Claimed extends ReportSubject {
  results: CountedDetail[]
}

/** Takes the results of one day and domain whose report is due; null if there is none. */
const claim = async ({ pool, clock, mailDomain }: TlsReportDeps): Promise<Claimed | null> => {
  const now = clock.now()
  const { rows } = await pool.query<CountedDetail & { day: string; domain: string }>({
    text: `update tls_result t set claimed_at = $1
            where (t.claimed_at is null or t.claimed_at < $2)
              and (t.day, t.domain) = (select day, domain from tls_result
                                        where day < $3 and (claimed_at is null or claimed_at < $2)
                                        order by day, domain limit 1)
           returning t.day::text, t.domain, t.detail, t.count`,
    values: [
      now,
      new Date(now.getTime() - CLAIM_MS),
      new Date(now.getTime() - COMPLETE_MS).toISOString().slice(0, 10),
    ],
  })
  const [first] = rows
  return first ? { day: first.day, domain: first.domain, mailDomain, results: rows } : null
}

const remove = async ({ prisma }: TlsReportDeps, { day, domain }: ReportSubject): Promise<void> => {
  await prisma.tlsResult.deleteMany({ where: { day: new Date(`${day}T00:00:00Z`), domain } })
}

const compress = promisify(gzip)

/** Mails a report as RFC 8460 5.3 describes. Resolves with whether it need not be sent again. */
const send = async (deps: TlsReportDeps, { results, ...subject }: Claimed): Promise<boolean> => {
  const { domain, day, mailDomain } = subject
  const addresses = await reportAddresses(deps.resolver, domain)
  if (addresses.length === 0) return true
  const start = Date.parse(`${day}T00:00:00Z`) / 1000
  const content = await compress(JSON.stringify(reportOf(subject, results)))
  return deps.mailer.deliver(addresses, {
    subject: `Report Domain: ${domain} Submitter: ${mailDomain} Report-ID: <${reportIdOf(subject)}>`,
    text: `This is a report about TLS with the mail servers of ${domain} on ${day} (UTC), as seen by ${mailDomain}.\n`,
    attachments: [
      {
        name: `${mailDomain}!${domain}!${start}!${start + 86_399}.json.gz`,
        type: 'application/tlsrpt+gzip',
        content: Uint8Array.from(content),
      },
    ],
    report: { type: 'tlsrpt', headers: { 'TLS-Report-Domain': domain, 'TLS-Report-Submitter': mailDomain } },
  })
}

/**
 * Sends the reports of past days to the domains that ask for them (RFC 8460), each once over all processes.
 * One that cannot be sent is tried again an hour later, for some days. Returns the number of reports sent.
 */
export const sendTlsReports = async (deps: TlsReportDeps, signal: AbortSignal): Promise<number> => {
  const oldest = new Date(deps.clock.now().getTime() - MAX_DAYS * 24 * HOUR_MS)
  await deps.prisma.tlsResult.deleteMany({ where: { day: { lt: oldest } } })
  let sent = 0
  while (!signal.aborted) {
    const due = await claim(deps)
    if (due === null) break
    const settled = await send(deps, due).catch((error: unknown) => {
      deps.log.warn({ domain: due.domain, error: messageOf(error) }, 'could not send a report about TLS')
      return false
    })
    if (!settled) continue
    await remove(deps, due)
    sent++
  }
  return sent
}
