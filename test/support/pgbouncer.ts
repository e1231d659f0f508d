import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, listens } from './port.ts'
import { until } from './until.ts'

/** `PGBOUNCER` names another one than Debian's. */
const COMMAND = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'

/** The reason why PgBouncer cannot be started here, or null. */
export const missing: string | null = existsSync(COMMAND)
  ? null
  : `${COMMAND} is not installed (apt-get install pgbouncer)`

/** A PgBouncer in transaction mode with its default settings and few connections, in front of a PostgreSQL. */
export interface PgBouncer {
  /** Returns where a database of the PostgreSQL is reached through it. */
  through(url: string): string
  /** Ends it at once, with all connections. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** Starts a PgBouncer in front of the server at `url`. `more`: further lines of its settings. */
export const startPgBouncer = async (url: string, more = ''): Promise<PgBouncer> => {
  const { hostname, port: serverPort, username, password } = new URL(url)
  const dir = mkdtempSync(join(tmpdir(), 'ams-pgbouncer-'))
  const port = await freePort()
  const [config, log] = [join(dir, 'pgbouncer.ini'), join(dir, 'log')]
  writeFileSync(
    config,
    `[databases]
* = host=${hostname} port=${serverPort} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
logfile = ${log}
${more}
`,
  )
  chmodSync(dir, 0o777)
  chmodSync(config, 0o644)
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals) => {
    const ending = child
    child = undefined
    if (!ending) return
    const ended = new Promise((resolve) => ending.on('close', resolve))
    ending.kill(signal)
    await ended
  }
  const start = async () => {
    child = spawn(COMMAND, ['-q', ...asUser, config], { stdio: 'ignore' })
    await until(() => listens(port)).catch((cause) => {
      throw new Error(`PgBouncer did not start: ${existsSync(log) ? readFileSync(log, 'utf8') : ''}`, {
        cause,
      })
    })
  }
  await start()
  return {
    through: (target) => {
      const through = new URL(target)
      through.hostname = '127.0.0.1'
      through.port = String(port)
      return through.href
    },
    kill: () => end('SIGKILL'),
    start,
    stop: async () => {
      await end('SIGINT')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
