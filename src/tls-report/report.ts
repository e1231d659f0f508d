import type { Detail } from './results.ts'

/** A result, and how often it happened. */
export interface CountedDetail {
  detail: Detail
  count: number
}

/** What a report is about, and whose it is. */
export interface ReportSubject {
  domain: string
  /** UTC, as `2026-11-20`. */
  day: string
  mailDomain: string
}

export const reportIdOf = ({ domain, day, mailDomain }: ReportSubject): string =>
  `${day}.${domain}@${mailDomain}`

const sumOf = (results: readonly CountedDetail[]): number =>
  results.reduce((sum, { count }) => sum + count, 0)

/** RFC 8460 4.3: the failures of one policy. */
const detailsOf = (failed: readonly CountedDetail[]) =>
  failed.map(({ detail: { server, failure }, count }) => ({
    'result-type': failure!.type,
    ...(server ? { 'receiving-mx-hostname': server.host } : {}),
    ...(server?.address ? { 'receiving-ip': server.address } : {}),
    'failed-session-count': count,
    ...(failure!.reason === null ? {} : { 'failure-reason-code': failure!.reason }),
  }))

const policyOf = (domain: string, results: readonly CountedDetail[]) => {
  const { type, lines, mx } = results[0]!.detail.policy
  const failed = results.filter(({ detail }) => detail.failure !== null)
  return {
    policy: {
      'policy-type': type,
      ...(lines.length > 0 ? { 'policy-string': lines, 'mx-host': mx } : {}),
      'policy-domain': domain,
    },
    summary: {
      'total-successful-session-count': sumOf(results) - sumOf(failed),
      'total-failure-session-count': sumOf(failed),
    },
    ...(failed.length > 0 ? { 'failure-details': detailsOf(failed) } : {}),
  }
}

/** Returns the report of a day about TLS with a domain's servers (RFC 8460 4.4). */
export const reportOf = (subject: ReportSubject, results: readonly CountedDetail[]) => {
  const { domain, day, mailDomain } = subject
  const byPolicy = new Map<string, CountedDetail[]>()
  for (const result of results) {
    const policy = JSON.stringify(result.detail.policy)
    byPolicy.set(policy, [...(byPolicy.get(policy) ?? []), result])
  }
  return {
    'organization-name': mailDomain,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': `postmaster@${mailDomain}`,
    'report-id': reportIdOf(subject),
    policies: [...byPolicy.values()].map((one) => policyOf(domain, one)),
  }
}
