import type { Foundation } from './boot/foundation.ts'
import type { Config } from './config/config.ts'
import type { Logger } from './core/logger.ts'
import { untilAvailable } from './db/patience.ts'
import { watchDatabase, watchDumps } from './gauges.ts'
import { createTracer } from './observability/tracing.ts'
import { buildOperations } from './operations.ts'
import type { World } from './platform.ts'
import { startChannels, startInterfaces, startWorkers } from './start.ts'

export interface App {
  /** URL of the HTTP server: `http://host:port`. */
  readonly http: string
  /** The URL at which clients reach the service. */
  readonly publicUrl: string
  /** Address of the SMTP server, `host:port`; null when this process does not have the `smtp` role. */
  readonly smtp: string | null
  /** Reads files again that are replaced while it runs: certificates. */
  reload(): void
  /** Tells load balancers to choose another process, and goes on. To be called some time before `stop`. */
  drain(): void
  /** Stops accepting work, finishes work in progress for at most `graceMs`, closes all but the foundation. */
  stop(graceMs: number): Promise<void>
}

/** Builds the service from its configuration, and starts the parts that its roles require. */
export const startApp = async (
  config: Config,
  foundation: Foundation,
  log: Logger,
  replaced: Partial<World> = {},
): Promise<App> => {
  const tracer = await createTracer(config.tracing.endpoint, config.tracing.serviceName)
  const operations = buildOperations(config, foundation, log, { tracer, ...replaced })
  watchDatabase(operations)
  watchDumps(operations, config.dataDir)
  await untilAvailable(log, 'listen for notifications', () => operations.notifier.start())
  operations.feed.start()
  operations.rates.start()
  const forget = operations.knownViewers.follow(operations.notifier)
  const { server, interfaces } = await startInterfaces(config, operations)
  const ports = config.roles.has('smtp') ? await startChannels(config, operations) : []
  operations.place.smtp = ports[0]?.address ?? null
  const workers = config.roles.has('worker') ? startWorkers(operations) : []
  return {
    http: server.url,
    publicUrl: operations.publicUrl(),
    smtp: operations.place.smtp,
    drain: () => server.drain(),
    reload: () => void Promise.all(ports.map((port) => port.certificate?.reload())),
    stop: async (graceMs) => {
      // Streams first: otherwise their clients would keep the HTTP server open.
      await Promise.all(interfaces.map((each) => each.stop(graceMs)))
      await Promise.all([server, ...ports, ...workers].map((part) => part.stop(graceMs)))
      await operations.emailLinks.stop()
      await operations.mailer.stop()
      await Promise.all(Object.values(operations.channels).map((channel) => channel.close?.()))
      forget()
      operations.feed.stop()
      await operations.rates.stop()
      await operations.notifier.stop()
      await operations.fileTexts.close()
      await operations.blobs.close()
      await operations.tracer.close()
    },
  }
}
