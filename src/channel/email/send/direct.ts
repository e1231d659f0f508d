import { messageOf } from '../../../core/errors.ts'
import { isPublicAddress } from '../../../core/public-address.ts'
import type { SendResult } from '../../outbound.ts'
import { domainOf } from '../address.ts'
import { rejectionOf } from '../bounce/nonexistent.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import { findAddresses, findMxHosts } from './mx.ts'
import type { OutgoingMail } from './outgoing-mail.ts'
import { openSession, type SessionOptions, type SmtpError } from './session.ts'
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
}

/** Maximum number of servers tried per domain in one attempt. The rest can wait for the next attempt. */
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

const withRemaining = (delivery: Delivery, { remaining }: ServerResult): Delivery => ({
  ...delivery,
  mail: { ...delivery.mail, envelopes: remaining },
})

async function sendToDomain(options: DirectOptions, domain: string, delivery: Delivery): Promise<SendResult> {
  const { mail, signal } = delivery
  const found = await findMxHosts(options.resolver, domain)
  if ('reason' in found) return rejectAll(mail, found.reason, found.permanent)
  const servers = await findServers(options, found.hosts)
  if (servers.length === 0)
    return rejectAll(mail, `4.4.3 no address found for ${found.hosts[0]} at the moment`, false)
  const open = servers.flatMap(({ host, address }) => (address === null ? [] : [{ host, address }]))
  if (open.length === 0)
    return rejectAll(mail, `5.4.4 ${domain} has no mail server on a public address`, true)
  let result: ServerResult = { accepted: [], rejected: [], remaining: mail.envelopes, error: null }
  for (const server of open.slice(0, MAX_TRIED)) {
    result = mergeResults(result, await sendToServer(options, server, withRemaining(delivery, result)))
    if (result.remaining.length === 0 || signal.aborted) break
  }
  return toSendResult(result)
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

/**
 * Uses TLS without verifying the certificate if it is offered, and falls back to plain text if TLS is not
 * offered or fails (RFC 7435).
 */
async function sendToServer(
  options: DirectOptions,
  server: Server,
  delivery: Delivery,
): Promise<ServerResult> {
  const secured = await sendOver(options, { ...server, ignoreTLS: false }, delivery)
  if (secured.remaining.length === 0 || !failedOverTls(secured.error)) return secured
  const plain = await sendOver(options, { ...server, ignoreTLS: true }, withRemaining(delivery, secured))
  return mergeResults(secured, plain)
}

/** nodemailer reports some OpenSSL errors as ETLS and others as ESOCKET. */
const failedOverTls = (error: SmtpError | null) =>
  error !== null && (error.code === 'ETLS' || /\bSSL routines\b/.test(messageOf(error)))

async function sendOver(
  {
    mailHost,
    port = 25,
    timeouts: { connectMs = 15_000, greetingMs = 60_000, idleMs = 120_000 } = {},
  }: DirectOptions,
  { host, address, ignoreTLS }: Server & { ignoreTLS: boolean },
  { mail, signal, onAccepted }: Delivery,
): Promise<ServerResult> {
  const options: SessionOptions = {
    // The address that was checked, because another lookup of the name could return a different one.
    host: address,
    port,
    name: mailHost,
    ignoreTLS,
    tls: { servername: host, rejectUnauthorized: false },
    connectionTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: idleMs,
    maxOctets: MAX_OCTETS,
  }
  const session = await openSession(options, signal).catch((error: SmtpError) => error)
  if (session instanceof Error) return notConnected(mail, session)
  try {
    return await transact(session, mail, signal, onAccepted)
  } finally {
    if (session.usable) session.quit()
  }
}
