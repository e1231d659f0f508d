import type { App } from './app.ts'
import { createOperatorLink } from './auth/index.ts'
import { type Foundation, openFoundation, welcomeOwner } from './boot/foundation.ts'
import { checkPorts } from './boot/ports.ts'
import type { Config } from './config/config.ts'
import { inTime, systemClock } from './core/clock.ts'
import type { Logger } from './core/logger.ts'
import { COMMAND } from './core/root.ts'
import { untilAvailable } from './db/patience.ts'
import { UnsuitableSchemaError, untilExcluded } from './db/schema.ts'
import type { Front } from './front/index.ts'
import { say } from './say.ts'
import { findServiceManager } from './service-manager.ts'
import { followStopRequests } from './stop-requests.ts'

/**
 * Time in milliseconds for work in progress to finish after SIGTERM: containers are usually killed after 10
 * s, and closing takes time too.
 */
const GRACE_MS = 8_000
/** Time in seconds until it has ended at the latest, with the embedded database. */
const STOP_SECONDS = 30
/** Loaded only when needed: invalid settings and commands such as `token` do not need most of it. */
const loadApp = () => import('./app.ts')

/**
 * Puts into the log what others write as text: stdout is reserved for the lines below, but a library (mailauth, for some
 * mails with `l=`) writes to the console; and Node writes warnings to stderr, also of functions that a library only tries.
 */
const logOutput = (log: Logger): void => {
  console.log = (...output: unknown[]) =>
    log.debug({ said: output.map(String) }, 'console output of a library')
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) =>
    log[name === 'ExperimentalWarning' ? 'debug' : 'warn']({ name, warning: message }, 'warning of Node'),
  )
}

/** Starts the service on an open foundation, and prints where it listens. */
const bringUp = async (config: Config, log: Logger, foundation: Foundation): Promise<App> => {
  const ownerToken = await untilAvailable(log, 'create the first workspace', () =>
    welcomeOwner(config, foundation),
  )
  if (ownerToken) say(`Owner token (shown only once, saved in ${config.dataDir}/owner-token): ${ownerToken}`)
  const { startApp } = await loadApp()
  const app = await startApp(config, foundation, log)
  if (ownerToken && config.roles.has('api')) {
    const deps = { ...foundation.db, clock: systemClock, publicUrl: () => app.publicUrl }
    const { url } = await untilAvailable(log, 'create a sign-in link', () => createOperatorLink(deps, {}))
    say(`Sign in in a browser (once, within 10 minutes; later with ${COMMAND} sign-in): ${url}`)
  }
  if (config.roles.has('worker') && !config.smtp.relayUrl && !config.smtp.direct)
    log.warn(
      { outbox: `${config.dataDir}/outbox` },
      'neither SMTP_RELAY_URL nor SMTP_DIRECT is set: outgoing mail is stored, not sent',
    )
  say(JSON.stringify({ ready: true, http: app.http, smtp: app.smtp }))
  return app
}

/** Starts a process in front of installations, which needs no database, and prints where it listens. */
const bringUpFront = async (config: Config, log: Logger): Promise<Front> => {
  const { startFront } = await import('./front/index.ts')
  const front = await startFront(config, log)
  say(JSON.stringify({ ready: true, http: front.http, smtp: front.smtp }))
  return front
}

/** Runs the service until it is asked to stop, or excluded by a later release. */
export const serve = async (config: Config, log: Logger): Promise<void> => {
  logOutput(log) // first: pg warns of the sslmode of DATABASE_URL
  const manager = findServiceManager(process.env, log)
  const reload = async () => (await starting).reload()
  const requests = followStopRequests(() => void reload().catch(() => undefined))
  let foundation: Foundation | undefined
  const starting = (async () => {
    if (config.unknown.length > 0)
      log.warn({ variables: config.unknown }, 'variables that begin as settings do, but are none')
    if (config.roles.has('front')) return bringUpFront(config, log)
    await checkPorts(config)
    loadApp().catch(() => undefined) // while the database starts
    foundation = await openFoundation(config, log, { service: true, migrates: 'always' })
    return bringUp(config, log, foundation)
  })()
  const stopping = requests.first.then((reason) => log.info({ reason }, 'stopping'))
  void stopping.then(() => manager.stopping(config.drainSeconds + STOP_SECONDS))
  const hurried = requests.second.then((reason) => log.warn({ reason }, 'stopping at once'))
  const ended = new AbortController()
  let finished = false
  try {
    const app = await Promise.race([starting, stopping])
    if (!app) return // asked to stop before it was ready
    manager.ready(`HTTP ${app.http}${app.smtp ? `, SMTP ${app.smtp}` : ''}`)
    const exclusion = foundation && untilExcluded(foundation.db.pool, systemClock, ended.signal)
    const excluded = await (exclusion ? Promise.race([stopping, exclusion]) : stopping)
    if (excluded) {
      log.error({}, excluded)
      manager.stopping(STOP_SECONDS)
      finished = await app.stop(GRACE_MS).then(() => true)
      throw new UnsuitableSchemaError(excluded)
    }
    app.drain()
    await inTime(hurried, config.drainSeconds * 1000)
    finished = (await Promise.race([app.stop(GRACE_MS).then(() => true), hurried])) === true
  } finally {
    ended.abort()
    const closeAtOnce = () => foundation?.close({ atOnce: true })
    await (finished ? Promise.race([foundation?.close(), hurried.then(closeAtOnce)]) : closeAtOnce())
  }
}
