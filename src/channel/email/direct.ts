import { createTransport } from 'nodemailer'
import { isPublicAddress } from '../../core/public-address.ts'
import type { SendResult } from '../channel.ts'
import { domainOf } from './address.ts'
import type { Departure } from './departure.ts'
import { findAddresses, findExchangers } from './exchangers.ts'
import { rejectionOf } from './lasting.ts'
import type { DnsResolver } from './resolver.ts'
import { type Relay, type RelayTimeouts, transact } from './smtp-out.ts'

export interface DirectOptions {
  /** What it calls itself: the host that the address it dials from is named after. */
  mailHost: string
  resolver: DnsResolver
  timeouts?: RelayTimeouts | undefined
  /** Where servers listen: 25, but in tests. */
  port?: number
  /** Which addresses may be dialled: public ones, but in tests. A stranger's MX record must not lead inside. */
  mayDial?(address: string): boolean
}

/** Servers tried for one domain in one attempt: the next attempt is soon enough for the rest. */
const MOST_TRIED = 4

/** Sends to the servers of each recipient's domain (RFC 5321 5.1), one transaction for each domain. */
export function createDirect(options: DirectOptions): Relay {
  return {
    async send(mail, signal) {
      const domains = [...new Set(mail.recipients.map(domainOf))]
      const partOf = (domain: string): Departure => ({ ...mail, recipients: mail.recipients.filter((one) => domainOf(one) === domain) })
      const results = await Promise.all(domains.map((domain) => sendToDomain(options, domain, partOf(domain), signal)))
      return { accepted: results.flatMap(({ accepted }) => accepted), rejected: results.flatMap(({ rejected }) => rejected) }
    },
    close: () => undefined,
  }
}

const refuse = ({ recipients }: Departure, reason: string, permanent: boolean): SendResult => ({
  accepted: [],
  rejected: recipients.map((recipient) => rejectionOf(recipient, reason, permanent)),
})

async function sendToDomain(options: DirectOptions, domain: string, mail: Departure, signal: AbortSignal): Promise<SendResult> {
  const found = await findExchangers(options.resolver, domain)
  if ('reason' in found) return refuse(mail, found.reason, found.permanent)
  const servers = await findServers(options, found.hosts)
  if (servers.length === 0) return refuse(mail, `4.4.3 no address is known of ${found.hosts[0]} now`, false)
  const open = servers.filter(({ address }) => address !== null)
  if (open.length === 0) return refuse(mail, `5.4.4 ${domain} has no mail server on a public address`, true)
  let last = refuse(mail, '4.4.1 no server was tried', false)
  for (const { host, address } of open.slice(0, MOST_TRIED)) {
    const { result, reached } = await sendToServer(options, host, address!, mail, signal)
    if (reached || signal.aborted) return result
    last = result
  }
  return last
}

/** Each host's addresses in order; null stands for those that may not be dialled or aren't there. Nothing for a host nobody could look up. */
async function findServers({ resolver, mayDial = isPublicAddress }: DirectOptions, hosts: string[]) {
  const looked = hosts.slice(0, MOST_TRIED).map(async (host) => {
    const addresses = await findAddresses(resolver, host)
    if (addresses === null) return []
    const open = addresses.filter((address) => mayDial(address))
    return open.length > 0 ? open.slice(0, 2).map((address) => ({ host, address })) : [{ host, address: null }]
  })
  return (await Promise.all(looked)).flat()
}

/** Over TLS where it is offered, whoever's certificate it is; in the open where it isn't or doesn't work (RFC 7435): better than not at all. */
async function sendToServer(options: DirectOptions, host: string, address: string, mail: Departure, signal: AbortSignal) {
  const { mailHost, port = 25, timeouts: { connectMs = 15_000, greetingMs = 60_000, idleMs = 120_000 } = {} } = options
  // The address that was checked, not the name: a name server may say something else by now.
  const server = (ignoreTLS: boolean) => {
    const options = {
      host: address,
      port,
      name: mailHost,
      ignoreTLS,
      tls: { servername: host, rejectUnauthorized: false },
      connectionTimeout: connectMs,
      greetingTimeout: greetingMs,
      socketTimeout: idleMs,
    }
    return { options, transport: createTransport({ ...options, disableFileAccess: true, disableUrlAccess: true }) }
  }
  const secured = await transact(server(false), mail, signal)
  return secured.tlsFailed ? transact(server(true), mail, signal) : secured
}
