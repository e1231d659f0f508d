import type { AddressInfo } from 'node:net'
import type { Listening } from '../../core/channel/inbound.ts'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
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

/**
 * Opens the port of an SMTP server, and follows the files of its certificate. Rejects if it cannot listen. `stopping` is aborted
 * when the server begins to stop.
 */
export const openPort = async (
  server: PromptSmtpServer,
  { host, port, tls, clock, log }: PortOptions,
  stopping: AbortController,
): Promise<Listening> => {
  // Broken handshakes, resets and invalid input are caused by the client.
  server.on('error', (error) =>
    log.debug({ event: 'smtp.error', reason: messageOf(error) }, 'SMTP connection failed'),
  )
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
      stopping.abort()
      return server.shutDown(graceMs)
    },
  }
}
