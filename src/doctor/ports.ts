import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { type DnsResolver, findMxHosts } from '../mail/index.ts'
import { addressesOf, isPublic } from './dns.ts'
import { type Finding, ok, problem, skipped, warning } from './report.ts'

const TIMEOUT_MS = 5_000
/** The port of SMTP between mail servers (RFC 5321 2.3.5). */
const SMTP_PORT = 25

const codeOf = (error: unknown): string => {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  return code ?? cause?.code ?? 'no answer'
}

/** Whether this process could listen there: null, or the system's error code. */
const refusalOf = async (host: string, port: number): Promise<string | null> => {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return null
  } catch (error) {
    return codeOf(error)
  } finally {
    server.close()
  }
}

/** Returns the address to connect to for what listens on `host`. */
export const reachable = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host

/** Returns the first line that a server sends; throws when there is none in time. */
const greetingOf = async (host: string, port: number): Promise<string> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const socket = connect({ host, port })
  try {
    const [chunk] = (await once(socket, 'data', { signal })) as [Buffer]
    return chunk.toString('latin1').split('\r\n', 1)[0]!.slice(0, 200)
  } catch (error) {
    throw signal.aborted ? Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }) : error
  } finally {
    socket.on('error', () => undefined).destroy()
  }
}

/** Returns the status of a service's path; throws when nothing that speaks HTTP answers. */
const statusOf = async (url: string): Promise<{ status: number; service: boolean }> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' })
  const text = (await response.text()).slice(0, 100)
  return { status: response.status, service: text.includes('"status"') || text.includes('"error"') }
}

interface Place {
  names: { host: string; port: string }
  host: string
  port: number
}

const unusable = ({ names, host, port }: Place, code: string): Finding =>
  code === 'EACCES'
    ? problem(
        `${names.port} ${port} cannot be used: this user may not listen on it (EACCES).`,
        `Use a port from 1024 and forward ${port} to it, or give the service the right (AmbientCapabilities=CAP_NET_BIND_SERVICE in systemd).`,
      )
    : problem(
        `${names.host} ${host} cannot be used (${code}).`,
        `Set ${names.host} to an address of this machine; 0.0.0.0 is all of them.`,
      )

/** Checks a port that the service listens on. `ask` returns what answers there, or null when it is not the service. */
const checkPort = async (
  place: Place,
  ask: (host: string) => Promise<Finding | null>,
): Promise<{ finding: Finding; running: boolean }> => {
  const { names, host, port } = place
  if (port === 0) return { finding: skipped(`${names.port} is 0: any free port is used.`), running: false }
  const code = await refusalOf(host, port)
  if (code === null)
    return { finding: ok(`${names.port} ${port} is free: the service is not running here.`), running: false }
  if (code !== 'EADDRINUSE') return { finding: unusable(place, code), running: false }
  const finding = await ask(reachable(host)).catch(() => null)
  const other = problem(
    `${names.port} ${port} is in use by another program.`,
    `Stop it (ss -ltnp shows which one it is), or set ${names.port} to another port.`,
  )
  return { finding: finding ?? other, running: finding !== null }
}

const askHttp = async (host: string, port: number): Promise<Finding | null> => {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const health = await statusOf(`${url}/healthz`)
  if (health.status !== 200 || !health.service) return null
  const { status } = await statusOf(`${url}/readyz`)
  return status === 200
    ? ok(`The service answers on PORT ${port} and is ready.`)
    : problem(
        `The service answers on PORT ${port} but is not ready (${status}).`,
        'See the database above, and the log of the service.',
      )
}

const askSmtp = async (host: string, port: number): Promise<Finding | null> => {
  const greeting = await greetingOf(host, port)
  return /^220[ -]/.test(greeting) ? ok(`A mail server answers on SMTP_PORT ${port}: ${greeting}`) : null
}

const checkPublicUrl = async (publicUrl: string, running: boolean): Promise<Finding> => {
  if (!running) return skipped('PUBLIC_URL is not tried while the service is not running here.')
  const advice =
    'Check its DNS record, the proxy in front of the service and the firewall. A network that cannot reach its own public address shows this too: try it from outside.'
  try {
    const { status, service } = await statusOf(`${publicUrl}/healthz`)
    return status === 200 && service
      ? ok(`The service is reached at PUBLIC_URL ${publicUrl}.`)
      : problem(`PUBLIC_URL ${publicUrl} answers with ${status}, and not as this service does.`, advice)
  } catch (error) {
    return problem(`PUBLIC_URL ${publicUrl} cannot be reached (${codeOf(error)}).`, advice)
  }
}

/** Other mail servers connect to port 25 of MAIL_HOST, whatever SMTP_PORT is. */
const checkIncoming = async ({ mailHost, smtp }: Config, resolver: DnsResolver): Promise<Finding[]> => {
  const [address] = await addressesOf(resolver, mailHost).catch(() => [])
  if (address === undefined) return [] // reported with the DNS records
  const forward = smtp.port === SMTP_PORT ? '' : ` Forward port 25 to SMTP_PORT ${smtp.port}.`
  const advice = `Open port 25 in the firewall.${forward} A network that cannot reach its own public address shows this too: try it from outside.`
  try {
    const greeting = await greetingOf(address, SMTP_PORT)
    return [ok(`Port 25 of ${mailHost} (${address}) answers: ${greeting}`)]
  } catch (error) {
    const message = `Port 25 of ${mailHost} (${address}) cannot be reached (${codeOf(error)}): no mail arrives from the internet.`
    return [codeOf(error) === 'ETIMEDOUT' ? warning(message, advice) : problem(message, advice)]
  }
}

/** Many networks block connections to port 25: the owner's own mail server shows it. */
const checkOutgoing = async ({ ownerEmail }: Config, resolver: DnsResolver): Promise<Finding[]> => {
  const domain = ownerEmail.slice(ownerEmail.lastIndexOf('@') + 1)
  if (!isPublic(domain)) return []
  const found = await findMxHosts(resolver, domain)
  const [host] = 'hosts' in found ? found.hosts : []
  const [address] = host === undefined ? [] : await addressesOf(resolver, host).catch(() => [])
  if (address === undefined) return [skipped(`Sending was not tried: ${domain} has no mail server.`)]
  try {
    await greetingOf(address, SMTP_PORT)
    return [ok(`Port 25 of other mail servers can be reached (tried: ${host}).`)]
  } catch (error) {
    return [
      problem(
        `Port 25 of ${host} cannot be reached (${codeOf(error)}): SMTP_DIRECT does not work here.`,
        'Ask the provider of this machine to open outgoing port 25, or use SMTP_RELAY_URL.',
      ),
    ]
  }
}

/** Checks the ports that the service listens on, and those that others must reach. */
export const checkPorts = async (config: Config, resolver: DnsResolver): Promise<Finding[]> => {
  const { host, port, smtp, roles, publicUrl, mailDomain } = config
  const http = await checkPort({ names: { host: 'HOST', port: 'PORT' }, host, port }, (address) =>
    askHttp(address, port),
  )
  const findings = [http.finding]
  if (publicUrl) findings.push(await checkPublicUrl(publicUrl, http.running))
  if (roles.has('smtp')) {
    const place = { names: { host: 'SMTP_HOST', port: 'SMTP_PORT' }, host: smtp.host, port: smtp.port }
    const { finding, running } = await checkPort(place, (address) => askSmtp(address, smtp.port))
    findings.push(finding)
    if (isPublic(mailDomain) && running) findings.push(...(await checkIncoming(config, resolver)))
  }
  if (smtp.direct && roles.has('worker')) findings.push(...(await checkOutgoing(config, resolver)))
  return findings
}
