import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect, TLSSocket } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Config } from '../config/config.ts'
import { reachable } from './ports.ts'
import { type Finding, ok, problem, skipped, warning } from './report.ts'

const DAY_MS = 86_400_000
/** Certificates of Let's Encrypt are renewed 30 days before they expire. */
const SOON_DAYS = 14
const TIMEOUT_MS = 5_000

/** A certificate and the name that it is for. */
interface Subject {
  /** What to call it in sentences. */
  what: string
  certificate: X509Certificate
  name: string
  renewal: string
}

const checkDates = ({ what, certificate, renewal }: Subject, now: Date): Finding => {
  const until = new Date(certificate.validTo)
  const days = Math.floor((until.getTime() - now.getTime()) / DAY_MS)
  const date = until.toISOString().slice(0, 10)
  if (new Date(certificate.validFrom) > now)
    return problem(
      `${what} is not valid before ${certificate.validFrom}.`,
      'Check the clock of this machine.',
    )
  if (until < now) return problem(`${what} expired on ${date}.`, renewal)
  return days < SOON_DAYS
    ? warning(`${what} expires on ${date}, in ${days} days.`, renewal)
    : ok(`${what} is valid until ${date}.`)
}

const checkName = ({ what, certificate, name, renewal }: Subject): Finding => {
  const matches = isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)
  return matches
    ? ok(`${what} is for ${name}.`)
    : problem(
        `${what} is not for ${name}, but for ${certificate.subjectAltName ?? certificate.subject}.`,
        renewal,
      )
}

const SMTP_RENEWAL =
  'Get one for MAIL_HOST (certbot, acme.sh) as the files of SMTP_TLS_CERT and SMTP_TLS_KEY. A running service uses them within a minute.'

/** Returns the certificate that a running service offers to other mail servers; null if none runs here. */
const servedBy = async ({ smtp }: Config): Promise<X509Certificate | null> => {
  const connection = new SMTPConnection({
    ...{ host: reachable(smtp.host), port: smtp.port, requireTLS: true, tls: { rejectUnauthorized: false } },
    ...{ connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
  })
  try {
    await new Promise<void>((resolve, reject) => connection.on('error', reject).connect(() => resolve()))
    const { _socket: socket } = connection as unknown as { _socket: unknown }
    return socket instanceof TLSSocket ? (socket.getPeerX509Certificate() ?? null) : null
  } catch {
    return null // reported with the ports
  } finally {
    connection.close()
  }
}

/** Whether the service has taken a certificate that was renewed. */
const checkServed = async (config: Config, certificate: X509Certificate): Promise<Finding[]> => {
  const served = config.smtp.port === 0 ? null : await servedBy(config)
  if (served === null || served.fingerprint256 === certificate.fingerprint256) return []
  const until = new Date(served.validTo).toISOString().slice(0, 10)
  return [
    warning(
      `The service does not use the certificate of SMTP_TLS_CERT yet, but another one, which is valid until ${until}.`,
      'It reads the files every minute, and at once on SIGHUP (systemctl reload). If this stays, its log says why it does not take them.',
    ),
  ]
}

const checkSmtp = async (config: Config, now: Date): Promise<Finding[]> => {
  const { smtp, mailHost } = config
  if (!smtp.tls) return [ok('STARTTLS uses a certificate that the service made: senders accept it.')]
  const certificate = new X509Certificate(smtp.tls.cert)
  const subject = {
    what: 'The certificate of SMTP_TLS_CERT',
    certificate,
    name: mailHost,
    renewal: SMTP_RENEWAL,
  }
  return [checkDates(subject, now), checkName(subject), ...(await checkServed(config, certificate))]
}

const HTTP_RENEWAL = 'Renew the certificate at the proxy in front of the service.'

const checkHttp = async (publicUrl: string, now: Date): Promise<Finding[]> => {
  const { hostname, port } = new URL(publicUrl)
  const host = hostname.replace(/^\[|\]$/g, '')
  const servername = isIP(host) ? {} : { servername: host }
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...servername })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const certificate = socket.getPeerX509Certificate()
    if (!certificate) return [problem(`${publicUrl} sends no certificate.`, HTTP_RENEWAL)]
    const subject = { what: 'The certificate of PUBLIC_URL', certificate, name: host, renewal: HTTP_RENEWAL }
    const findings = [checkDates(subject, now), checkName(subject)]
    const fault = String(socket.authorizationError ?? '')
    return socket.authorized || findings.some(({ status }) => status === 'problem')
      ? findings
      : [
          ...findings,
          problem(
            `Clients do not trust the certificate of PUBLIC_URL (${fault}).`,
            'Serve the whole chain of a public authority (fullchain.pem, not cert.pem).',
          ),
        ]
  } catch (error) {
    const { code, name } = error as { code?: string; name: string }
    const advice = 'Check the DNS record of PUBLIC_URL, and that the proxy serves TLS there.'
    return [problem(`No TLS connection to ${publicUrl} (${code ?? name}).`, advice)]
  } finally {
    socket.on('error', () => undefined).destroy()
  }
}

/** Checks the certificates of SMTP and of the public URL. */
export const checkTls = async (config: Config, now: Date): Promise<Finding[]> => {
  const { publicUrl, roles } = config
  return [
    ...(roles.has('smtp') ? await checkSmtp(config, now) : []),
    ...(publicUrl?.startsWith('https:')
      ? await checkHttp(publicUrl, now)
      : [skipped('PUBLIC_URL is not an https:// URL: there is no certificate to check.')]),
  ]
}
