import type { Config } from '../config/config.ts'
import { listening } from '../config/unusable.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { createClients } from '../http/client.ts'
import { startHttp } from '../http/server.ts'
import { passingCertificate } from '../mail/index.ts'
import { ServiceMetrics } from '../observability/metrics.ts'
import { watchSmtpPorts } from '../observability/smtp-ports.ts'
import { Cell } from './cells.ts'
import { Directory } from './directory.ts'
import { Forward } from './forward.ts'
import { MailOverHttp } from './mail-over-http.ts'
import { Recipients } from './recipients.ts'
import { Routes } from './route.ts'
import { type FrontSmtpOptions, listenFront } from './smtp.ts'

/** What tests replace. */
export interface FrontWorld {
  clock: Clock
  smtpLimits: FrontSmtpOptions['limits']
}

/** Rejects when no installation answers a lookup. */
const ensureAnswered = async (cells: readonly Cell[]): Promise<void> => {
  const answers = await Promise.all(cells.map((cell) => cell.find([])))
  if (answers.every((answer) => answer === null))
    throw new AppError('unavailable', 'No installation answers.', { retryAfter: 2 })
}

/** Starts a process in front of several installations. It has no database and writes no files. */
export const startFront = async (config: Config, log: Logger, world: Partial<FrontWorld> = {}) => {
  const { clock = systemClock } = world
  const { trustProxy } = config
  const deps = { secret: config.cellSecret ?? '', clock, log }
  const cells = config.cells.map((address) => new Cell(address, deps))
  const directory = new Directory(cells, clock)
  const metrics = new ServiceMetrics()
  const recipients = new Recipients(directory)
  const mail = new MailOverHttp(recipients, clock)
  const routes = new Routes(directory, cells, mail, () => config.publicUrl ?? server.url)
  const clients = createClients(trustProxy)
  const forward = new Forward({
    ...{ routes, directory, mail, metrics, log },
    clientOf: (request) => clients.addressOf(request),
  })
  const { handle } = forward
  metrics.gauge('ams_front_open', 'Requests and streams that a front passes on now', () => forward.size)
  metrics.gauge(
    'ams_front_cells_down',
    'Installations that do not answer the lookups of this front',
    () => cells.filter(({ isDown }) => isDown).length,
  )
  await ensureAnswered(cells).catch(() => undefined) // the log has which ones do not answer
  const opening = startHttp({
    ...{ host: config.host, port: config.port, api: true, log, metrics, clock, trustProxy },
    https: config.publicUrl?.startsWith('https:') === true,
    interfaces: {
      ...{ rest: handle, graphql: handle, mcp: handle, web: handle, oauth: handle, stream: handle },
      metrics: () => metrics.page(),
      ready: () => ensureAnswered(cells),
    },
  })
  const server = await listening(['HOST', config.host], ['PORT', config.port], opening)
  const { host, port, tls } = config.smtp
  const smtp = await listening(
    ['SMTP_HOST', host],
    ['SMTP_PORT', port],
    listenFront({
      ...{
        host,
        port,
        name: config.mailHost,
        trustProxy,
        recipients,
        postmaster: cells[0]!,
        clock,
        log,
        metrics,
      },
      tls: tls ?? (await passingCertificate(config.mailHost, clock.now())),
      ...(world.smtpLimits && { limits: world.smtpLimits }),
    }),
  )
  watchSmtpPorts(metrics, [smtp])
  return {
    http: server.url,
    smtp: smtp.address,
    drain: () => server.drain(),
    reload: () => void smtp.certificate?.reload(),
    stop: async (graceMs: number) => {
      forward.endStreams()
      await Promise.all([server.stop(graceMs), smtp.stop(graceMs)])
      await Promise.all(cells.map(({ pool }) => pool.destroy()))
    },
  }
}

export type Front = Awaited<ReturnType<typeof startFront>>
