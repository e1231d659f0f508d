import type { AddressInfo } from 'node:net'
import type { Listening } from '../../core/channel/inbound.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { TlsFiles, TlsPair } from '../../core/tls-pair.ts'
import { FollowedTls } from './followed-tls.ts'
import type { PromptSmtpServer } from './smtp-server.ts'

export interface PortOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  tls: TlsPair | TlsFiles
  clock: Clock
  log: Logger
}

/** Opens the port of an SMTP server, and follows the files of its certificate. Rejects if it cannot listen. */
export const openPort = async (
  server: PromptSmtpServer,
  { host, port, tls, clock, log }: PortOptions,
  stop: (graceMs: number) => Promise<void>,
): Promise<Listening> => {
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(port, host, () => {
      server.server.off('error', reject)
      resolve()
    })
  })
  const bound = server.server.address() as AddressInfo
  // Sessions keep the certificate that they began TLS with.
  const use = (pair: TlsPair) => server.updateSecureContext({ cert: pair.cert, key: pair.key })
  const certificate = 'certFile' in tls ? new FollowedTls({ files: tls, use, clock, log }) : undefined
  return {
    address: `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    get sessions() {
      return server.connections.size
    },
    ...(certificate && { certificate }),
    stop(graceMs) {
      void certificate?.stop() // not awaited: a network file system may not answer
      return stop(graceMs)
    },
  }
}
