import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, listens } from '../support/port.ts'
import { until } from '../support/until.ts'

const COMMAND = '/usr/sbin/postfix'
const isRoot = process.getuid?.() === 0

/** The reason why Postfix cannot be started here, or null. */
export const missing: string | null = !existsSync(COMMAND)
  ? `${COMMAND} is not installed (apt-get install postfix)`
  : isRoot
    ? null
    : 'only root can start Postfix'

/** Returns the services that Postfix needs without a chroot to relay, deliver, bounce and log. */
const services = (port: number) => `
127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
lmtp unix - - n - - lmtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

/** What the folder does not change of main.cf. */
const MAIN = {
  compatibility_level: '3.6',
  myhostname: 'relay.example',
  mydestination: '',
  inet_interfaces: '127.0.0.1',
  inet_protocols: 'ipv4',
  mynetworks: '127.0.0.0/8',
  alias_maps: '',
  smtpd_relay_restrictions: 'permit_mynetworks, reject',
  smtpd_recipient_restrictions:
    'check_recipient_access inline:{{blocked@remote.example = REJECT we do not like this one}}',
}

export interface PostfixOptions {
  /** Destination of mail as `host:port` by domain. */
  routes: Record<string, string>
  /** More of main.cf, or other values. */
  settings?: Record<string, string>
}

export interface Postfix {
  readonly url: string
  readonly port: number
  readonly pid: number
  log(): string
  stop(): Promise<void>
}

/** Starts a separate Postfix in its own folder, which relays for this machine. */
export async function startPostfix({ routes, settings = {} }: PostfixOptions): Promise<Postfix> {
  const dir = mkdtempSync(join(tmpdir(), 'ams-postfix-'))
  execFileSync('chmod', ['755', dir])
  const [queue, data, config] = ['queue', 'data', 'etc'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [queue, data, config]) mkdirSync(folder)
  execFileSync('chown', ['postfix', data])
  const port = await freePort()
  const transports = Object.entries(routes).map(([domain, server]) => {
    const [host, to] = server.split(':')
    return `{${domain} = smtp:[${host}]:${to}}`
  })
  writeFileSync(join(config, 'master.cf'), services(port))
  const all = {
    ...MAIN,
    queue_directory: queue,
    data_directory: data,
    maillog_file: `${dir}/postfix.log`,
    maillog_file_prefixes: dir,
    transport_maps: `inline:{${transports.join(', ')}}`,
    ...settings,
  }
  // Each name once: its processes warn about others, and block when many warn before the one that writes the log runs.
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`)
  writeFileSync(join(config, 'main.cf'), lines.join(''))
  const process: ChildProcess = spawn(COMMAND, ['-c', config, 'start-fg'], { stdio: 'ignore' })
  await until(() => listens(port))
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    pid: process.pid!,
    log: () => (existsSync(`${dir}/postfix.log`) ? readFileSync(`${dir}/postfix.log`, 'utf8') : ''),
    stop: async () => {
      const ended = new Promise((resolve) => process.once('exit', resolve))
      execFileSync(COMMAND, ['-c', config, 'stop'], { stdio: 'ignore' })
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
