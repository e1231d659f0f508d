import { domainOf } from '../../core/address/email-address.ts'
import { isPublicAddress } from '../../core/address/public-address.ts'
import type { SendResult } from '../../core/channel/outbound.ts'
import { messageOf } from '../../core/errors.ts'
import { rejectionOf } from '../bounce/nonexistent.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import { findAddresses, findMxHosts } from './mx.ts'
import type { OutgoingMail } from './outgoing-mail.ts'
import { openSession, type Session, type SessionOptions, type SmtpError } from './session.ts'
import {
  mergeResults,
  notConnected,
  type OnAccepted,
  type Relay,
  type RelayTimeouts,
  type ServerResult,
  TOTAL_MS,
  toSendResult,
  transact,
} from './smtp-out.ts'
import { withTimeLimit } from './time-limit.ts'
import { type Failure, failureOf, type OnTlsResult, policyOf } from './tls/result.ts'
import type { StsPolicies } from './tls/sts-policies.ts'
import { namesHost, type StsPolicy } from './tls/sts-policy.ts'

export interface DirectOptions {
  /** Host name for EHLO: the reverse DNS name of our address. */
  mailHost: string
  resolver: DnsResolver
  timeouts?: RelayTimeouts | undefined
  /** Port of the servers; 25 except in tests. */
  port?: number
  /**
   * Whether connections to an address are allowed: public addresses only, except in tests. An MX record must
   * not give access to the internal network.
   */
  mayDial?(address: string): boolean
  /** The policies of domains for mail sent to them (MTA-STS). If omitted, none is enforced. */
  policies?: StsPolicies
  /** Certificate authorities that replace the public ones. */
  ca?: string
  onTlsResult?: OnTlsResult
}

/** Maximum number of servers tried per domain in one attempt. The rest can wait for the next attempt. @limit Sending */
const MAX_TRIED = 4
/**
 * Maximum number of octets a server may send in one session. A certificate chain, an EHLO reply and three
 * replies of 512 octets for each of 60 recipients take far less.
 */
const MAX_OCTETS = 256 * 1024

/**
 * Creates a relay that sends directly to the servers of each recipient's domain (RFC 5321 5.1), with one
 * connection per domain.
 */
export function createDirect(options: DirectOptions): Relay {
  const { timeouts: { totalMs = TOTAL_MS } = {} } = options
  return {
    async send(mail, signal, onAccepted = async () => undefined) {
      const domains = [...new Set(mail.envelopes.map(({ recipient }) => domainOf(recipient)))]
      const partOf = (domain: string): OutgoingMail => ({
        ...mail,
        envelopes: mail.envelopes.filter(({ recipient }) => domainOf(recipient) === domain),
      })
      const deliver = (domain: string) =>
        withTimeLimit(totalMs, signal, (limited) =>
          sendToDomain(options, domain, { mail: partOf(domain), signal: limited, onAccepted }),
        )
      // Wait for all domains before reporting a failure, so that nothing is sent after the promise has
      // settled.
      const outcomes = await Promise.allSettled(domains.map(deliver))
      const results = outcomes.map((end) => {
        if (end.status === 'rejected') throw end.reason
        return end.value
      })
      return {
        accepted: results.flatMap(({ accepted }) => accepted),
        rejected: results.flatMap(({ rejected }) => rejected),
      }
    },
    close: () => undefined,
  }
}

const rejectAll = ({ envelopes }: OutgoingMail, reason: string, permanent: boolean): SendResult => ({
  accepted: [],
  rejected: envelopes.map(({ recipient }) => rejectionOf(recipient, reason, permanent)),
})

/** A mail that is being sent, what ends that, and what is called for recipients whose server accepted it. */
interface Delivery {
  mail: OutgoingMail
  signal: AbortSignal
  onAccepted: OnAccepted
}

/** A domain that is sent to, with its policy. */
interface Destination {
  domain: string
  policy: StsPolicy | null
  report(server: Server | null, failure: Failure | null): void
}

/** Reads the domain's policy, and reports if that failed. */
const destinationOf = async (options: DirectOptions, domain: string): Promise<Destination> => {
  const { policy, failure } = (await options.policies?.find(domain)) ?? { policy: null, failure: null }
  const applied = policy?.mode === 'none' ? null : policy
  const report =
    (isSts: boolean): Destination['report'] =>
    (server, failure) =>
      options.onTlsResult?.({ domain, policy: policyOf(applied, isSts), server, failure })
  if (failure) report(true)(null, failure)
  return { domain, policy: applied, report: report(false) }
}

const withRemaining = (delivery: Delivery, { remaining }: ServerResult): Delivery => ({
  ...delivery,
  mail: { ...delivery.mail, envelopes: remaining },
})

async function sendToDomain(options: DirectOptions, domain: string, delivery: Delivery): Promise<SendResult> {
  const { mail, signal } = delivery
  const found = await findMxHosts(options.resolver, domain)
  if ('reason' in found) return rejectAll(mail, found.reason, found.permanent)
  const destination = await destinationOf(options, domain)
  const hosts = hostsOf(destination, found.hosts)
  if (hosts.length === 0)
    return rejectAll(mail, `4.7.5 the MTA-STS policy of ${domain} names none of its mail servers`, false)
  const servers = await findServers(options, hosts)
  if (servers.length === 0)
    return rejectAll(mail, `4.4.3 no address found for ${hosts[0]} at the moment`, false)
  const open = servers.flatMap(({ host, address }) => (address === null ? [] : [{ host, address }]))
  if (open.length === 0)
    return rejectAll(mail, `5.4.4 ${domain} has no mail server on a public address`, true)
  let result: ServerResult = { accepted: [], rejected: [], remaining: mail.envelopes, error: null }
  for (const server of open.slice(0, MAX_TRIED)) {
    result = mergeResults(
      result,
      await sendToServer(options, { ...server, destination }, withRemaining(delivery, result)),
    )
    if (result.remaining.length === 0 || signal.aborted) break
  }
  return toSendResult(result)
}

/** Returns the hosts that may be sent to: if the policy is enforced, only those that it names. */
const hostsOf = ({ policy, report }: Destination, hosts: readonly string[]): string[] => {
  if (policy === null) return [...hosts]
  const named = hosts.filter((host) => namesHost(policy, host))
  for (const host of hosts.filter((one) => !named.includes(one)))
    report({ host, address: '' }, { type: 'validation-failure', reason: 'not named by the policy' })
  return policy.mode === 'enforce' ? named : [...hosts]
}

/**
 * Returns the hosts' addresses in order. The address is null if the host has none that is allowed. Hosts
 * whose lookup failed are left out.
 */
async function findServers({ resolver, mayDial = isPublicAddress }: DirectOptions, hosts: string[]) {
  const lookups = hosts.slice(0, MAX_TRIED).map(async (host) => {
    const addresses = await findAddresses(resolver, host)
    if (addresses === null) return []
    const open = addresses.filter((address) => mayDial(address))
    return open.length > 0
      ? open.slice(0, 2).map((address) => ({ host, address }))
      : [{ host, address: null }]
  })
  return (await Promise.all(lookups)).flat()
}

interface Server {
  host: string
  address: string
}

interface Target extends Server {
  destination: Destination
}

/**
 * Uses TLS without verifying the certificate if it is offered, and falls back to plain text if TLS is not
 * offered or fails (RFC 7435); with an enforced policy, only TLS with a valid certificate (RFC 8461 5).
 */
async function sendToServer(
  options: DirectOptions,
  target: Target,
  delivery: Delivery,
): Promise<ServerResult> {
  const secured = await sendOver(options, { ...target, ignoreTLS: false }, delivery)
  const fell = failedOverTls(secured.error)
  if (fell) target.destination.report(target, { type: 'validation-failure', reason: reasonOf(secured.error) })
  const isEnforced = target.destination.policy?.mode === 'enforce'
  if (secured.remaining.length === 0 || !fell || isEnforced) return secured
  const plain = await sendOver(options, { ...target, ignoreTLS: true }, withRemaining(delivery, secured))
  return mergeResults(secured, plain)
}

/** nodemailer reports some OpenSSL errors as ETLS and others as ESOCKET. */
const failedOverTls = (error: SmtpError | null) =>
  error !== null && (error.code === 'ETLS' || /\bSSL routines\b/.test(messageOf(error)))

const reasonOf = (error: SmtpError | null): string | null => error && messageOf(error).slice(0, 200)

/** The certificate is not verified by the connection, but afterwards: the reason is reported in any case. */
const sessionOptionsOf = (
  {
    mailHost,
    port = 25,
    ca,
    timeouts: { connectMs = 15_000, greetingMs = 60_000, idleMs = 120_000 } = {},
  }: DirectOptions,
  { host, address, ignoreTLS }: Server & { ignoreTLS: boolean },
): SessionOptions => ({
  // The address that was checked, because another lookup of the name could return a different one.
  host: address,
  port,
  name: mailHost,
  ignoreTLS,
  tls: { servername: host, rejectUnauthorized: false, ...(ca === undefined ? {} : { ca }) },
  connectionTimeout: connectMs,
  greetingTimeout: greetingMs,
  socketTimeout: idleMs,
  maxOctets: MAX_OCTETS,
})

/** Reports a session, and returns why the policy forbids it; null if it does not. */
const forbidden = ({ tls }: Session, target: Target & { ignoreTLS: boolean }): SmtpError | null => {
  const { policy, domain, report } = target.destination
  const failure = failureOf(tls)
  // Without a policy, any TLS is as good as could be expected.
  if (!target.ignoreTLS) report(target, policy === null && tls !== null ? null : failure)
  if (policy?.mode !== 'enforce' || failure === null) return null
  const why = failure.reason === null ? failure.type : `${failure.type}: ${failure.reason}`
  const response = `4.7.5 ${target.host} is not secured as the MTA-STS policy of ${domain} demands (${why})`
  return Object.assign(new Error(response), { code: 'EPOLICY', response })
}

async function sendOver(
  options: DirectOptions,
  target: Target & { ignoreTLS: boolean },
  { mail, signal, onAccepted }: Delivery,
): Promise<ServerResult> {
  const session = await openSession(sessionOptionsOf(options, target), signal).catch(
    (error: SmtpError) => error,
  )
  if (session instanceof Error) return notConnected(mail, session)
  try {
    const error = forbidden(session, target)
    return error ? notConnected(mail, error) : await transact(session, mail, signal, onAccepted)
  } finally {
    if (session.usable) session.quit()
  }
}
