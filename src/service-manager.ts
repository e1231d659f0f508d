import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { systemClock } from './core/clock.ts'
import { messageOf } from './core/errors.ts'
import type { Logger } from './core/logger.ts'

/** What a service tells the manager that started it. */
export interface ServiceManager {
  ready(status: string): void
  /** `seconds`: at most so long until it has ended. */
  stopping(seconds: number): void
}

/** Of whatever is set, no more than ten programs a second. */
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 20_000
const SEND_MS = 5_000
/** From each message on, the time in microseconds after which a start has got stuck: it may migrate for hours. */
const START_TIME = 'EXTEND_TIMEOUT_USEC=90000000'

const send = promisify(execFile)

/**
 * Talks to systemd by its own program, because Node.js has no datagram sockets in the file system. It may be missing in
 * a container; then nothing is reported.
 *
 * The watchdog is notified while the event loop turns and a program can be started, for which file descriptors
 * and memory must be left. Not while the database can be reached, nor while the ports answer quickly: a restart mends
 * neither an outage nor a flood.
 */
class Systemd implements ServiceManager {
  readonly #env: Record<string, string>
  readonly #pauseMs: number
  readonly #log: Logger
  /** What is said now, and what is repeated from then on. */
  #now = [START_TIME]
  #later: string[] | null = [START_TIME]
  #changed = new AbortController()

  constructor(environment: NodeJS.ProcessEnv, log: Logger) {
    const { NOTIFY_SOCKET = '', PATH = '', WATCHDOG_USEC } = environment
    this.#env = { NOTIFY_SOCKET, PATH }
    // A third: two messages may be lost.
    const pauseMs = (Number(WATCHDOG_USEC) || Number.POSITIVE_INFINITY) / 3000
    this.#pauseMs = Math.max(MIN_PAUSE_MS, Math.min(MAX_PAUSE_MS, pauseMs))
    this.#log = log
    void this.#run()
  }

  ready(status: string): void {
    // Until systemd 246 a message was lost if its sender had ended too early: so all of it is repeated.
    const message = ['READY=1', 'WATCHDOG=1', `STATUS=${status}`]
    this.#say(message, message)
  }

  stopping(seconds: number): void {
    this.#say(['STOPPING=1', 'STATUS=Stopping', `EXTEND_TIMEOUT_USEC=${seconds * 1e6}`], null)
  }

  #say(now: string[], later: string[] | null): void {
    this.#now = now
    this.#later = later
    this.#changed.abort()
  }

  async #run(): Promise<void> {
    let warned = false
    while (true) {
      this.#changed = new AbortController()
      const { signal } = this.#changed
      try {
        await send('systemd-notify', this.#now, { env: this.#env, timeout: SEND_MS, killSignal: 'SIGKILL' })
        warned = false
      } catch (error) {
        if (!warned)
          this.#log.warn({ error: messageOf(error) }, 'systemd-notify failed: systemd learns nothing')
        warned = true
      }
      if (!signal.aborted) {
        if (this.#later === null) return
        this.#now = this.#later
        await systemClock.sleep(this.#pauseMs, signal)
      }
    }
  }
}

const nobody: ServiceManager = { ready: () => undefined, stopping: () => undefined }

/** Returns the manager that started this process. */
export const findServiceManager = (environment: NodeJS.ProcessEnv, log: Logger): ServiceManager =>
  environment.NOTIFY_SOCKET ? new Systemd(environment, log) : nobody
