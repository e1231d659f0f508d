import type { Listening } from '../core/channel/inbound.ts'
import type { ServiceMetrics } from './metrics.ts'

/** Registers the sessions of SMTP ports, and the expiry of the certificate that a port uses now, if it is the operator's. */
export const watchSmtpPorts = (metrics: ServiceMetrics, ports: readonly Listening[]): void => {
  metrics.gauge('ams_smtp_sessions', 'Open SMTP sessions', () =>
    ports.reduce((sum, { sessions }) => sum + sessions, 0),
  )
  for (const { certificate } of ports)
    if (certificate)
      metrics.gauge(
        'ams_smtp_certificate_expiry_timestamp_seconds',
        'When the certificate of SMTP_TLS_CERT expires that is in use',
        () => certificate.expiry.getTime() / 1000,
      )
}
