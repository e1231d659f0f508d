import { messageOf } from '../../../core/errors.ts'
import { isPublicAddress } from '../../../core/public-address.ts'
import type { SendResult } from '../../channel.ts'
import { domainOf } from '../address.ts'
import { rejectionOf } from '../bounce/permanent-status.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import { findAddresses, findMxHosts } from './mx.ts'
import type { OutgoingMail } from './outgoing-mail.ts'
import { openSession, type SessionOptions, type SmtpError } from './session.ts'
import {
  concluded,
  joined,
  type Passage,
  type Relay,
  type RelayTimeouts,
  type Taken,
  TOTAL_MS,
  transact,
  unopened,
} from './smtp-out.ts'
import { withTimeLimit } from './time-limit.ts'

export interface DirectOptions {
  /** What it calls itself: the host that the address it dials from is named after. */
  mailHost: string
  resolver: DnsResolver
  timeouts?: RelayTimeouts | undefined
  /** Where servers listen: 25, but in tests. */
  port?: number
  /**
   * Which addresses may be dialled: public ones, but in tests. A stranger's MX record must not lead inside.
   */
  mayDial?(address: string): boolean
}

/** Servers tried for one domain in one attempt: the next attempt is soon enough for the rest. */
const MAX_TRIED = 4
/**
 * What a server may send in one session: a certificate chain, an EHLO, and three replies of 512 octets for
 * each of 60 recipients fit in well.
 */
const MAX_OCTETS = 256 * 1024

/**
 * Sends to the servers of each recipient's domain (RFC 5321 5.1), the recipients of one domain over one
 * connection.
 */
export function createDirect(options: DirectOptions): Relay {
  const { timeouts: { totalMs = TOTAL_MS } = {} } = options
  return {
    async send(mail, signal, taken = async () => undefined) {
      const domains = [...new Set(mail.envelopes.map(({ recipient }) => domainOf(recipient)))]
      const partOf = (domain: string): OutgoingMail => ({
        ...mail,
        envelopes: mail.envelopes.filter(({ recipient }) => domainOf(recipient) === domain),
      })
      const deliver = (domain: string) =>
        withTimeLimit(totalMs, signal, (limited) =>
          sendToDomain(options, domain, partOf(domain), limited, taken),
        )
      // All of them come to an end before one that failed is told of, so that nothing is sent behind the
      // caller's back.
      const ends = await Promise.allSettled(domains.map(deliver))
      const results = ends.map((end) => {
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

const refuse = ({ envelopes }: OutgoingMail, reason: string, permanent: boolean): SendResult => ({
  accepted: [],
  rejected: envelopes.map(({ recipient }) => rejectionOf(recipient, reason, permanent)),
})

async function sendToDomain(
  options: DirectOptions,
  domain: string,
  mail: OutgoingMail,
  signal: AbortSignal,
  taken: Taken,
): Promise<SendResult> {
  const found = await findMxHosts(options.resolver, domain)
  if ('reason' in found) return refuse(mail, found.reason, found.permanent)
  const servers = await findServers(options, found.hosts)
  if (servers.length === 0)
    return refuse(mail, `4.4.3 no address found for ${found.hosts[0]} at the moment`, false)
  const open = servers.flatMap(({ host, address }) => (address === null ? [] : [{ host, address }]))
  if (open.length === 0) return refuse(mail, `5.4.4 ${domain} has no mail server on a public address`, true)
  let passage: Passage = { accepted: [], rejected: [], left: mail.envelopes, why: null }
  for (const server of open.slice(0, MAX_TRIED)) {
    passage = joined(
      passage,
      await sendToServer(options, server, { ...mail, envelopes: passage.left }, signal, taken),
    )
    if (passage.left.length === 0 || signal.aborted) break
  }
  return concluded(passage)
}

/**
 * Each host's addresses in order; null stands for those that may not be dialled or aren't there. Nothing for
 * a host nobody could look up.
 */
async function findServers({ resolver, mayDial = isPublicAddress }: DirectOptions, hosts: string[]) {
  const looked = hosts.slice(0, MAX_TRIED).map(async (host) => {
    const addresses = await findAddresses(resolver, host)
    if (addresses === null) return []
    const open = addresses.filter((address) => mayDial(address))
    return open.length > 0
      ? open.slice(0, 2).map((address) => ({ host, address }))
      : [{ host, address: null }]
  })
  return (await Promise.all(looked)).flat()
}

interface Server {
  host: string
  address: string
}

/**
 * Over TLS where it is offered, whoever's certificate it is; in the open where it isn't or doesn't work (RFC
 * 7435): better than not at all.
 */
async function sendToServer(
  options: DirectOptions,
  server: Server,
  mail: OutgoingMail,
  signal: AbortSignal,
  taken: Taken,
): Promise<Passage> {
  const secured = await sendOver(options, server, { ignoreTLS: false }, mail, signal, taken)
  if (secured.left.length === 0 || !failedOverTls(secured.why)) return secured
  return joined(
    secured,
    await sendOver(options, server, { ignoreTLS: true }, { ...mail, envelopes: secured.left }, signal, taken),
  )
}

/** nodemailer calls some of OpenSSL's errors ETLS, others ESOCKET. */
const failedOverTls = (error: SmtpError | null) =>
  error !== null && (error.code === 'ETLS' || /\bSSL routines\b/.test(messageOf(error)))

async function sendOver(
  {
    mailHost,
    port = 25,
    timeouts: { connectMs = 15_000, greetingMs = 60_000, idleMs = 120_000 } = {},
  }: DirectOptions,
  { host, address }: Server,
  { ignoreTLS }: { ignoreTLS: boolean },
  mail: OutgoingMail,
  signal: AbortSignal,
  taken: Taken,
): Promise<Passage> {
  const options: SessionOptions = {
    // The address that was checked, not the name: a name server may say something else by now.
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
  if (session instanceof Error) return unopened(mail, session)
  try {
    return await transact(session, mail, signal, taken)
  } finally {
    if (session.usable) session.quit()
  }
}
