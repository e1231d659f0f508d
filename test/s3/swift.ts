import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { freePort, listens } from '../support/port.ts'
import { until } from '../support/until.ts'

/** OpenStack Swift with its S3 API, on one machine with one copy of each object. */

const COMMANDS = ['swift-proxy-server', 'swift-object-server', 'swift-ring-builder', 'memcached']

/** The reason why Swift cannot be started here, or null. */
export const missing: string | null = COMMANDS.every((name) => existsSync(`/usr/bin/${name}`))
  ? null
  : 'Swift is not installed (apt-get install swift-proxy swift-account swift-container swift-object memcached)'

const BUCKET = 'mails'
const REGION = 'eu-1'
const [ID, SECRET] = ['test:tester', 'testing']

export interface Swift {
  environment: Record<string, string>
  /** Returns the keys of all objects. */
  keys(): Promise<string[]>
  /** Kills the process that answers requests. */
  kill(): void
  /** Starts it again. */
  revive(): Promise<void>
  stop(): Promise<void>
}

const storageConfig = (kind: string, port: number, dir: string) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${dir}
devices = ${dir}/devices
mount_check = false
log_level = WARNING
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`

const proxyConfig = (port: number, cachePort: number, dir: string) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${dir}
log_level = WARNING
[pipeline:main]
pipeline = catch_errors cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${SECRET} .admin
[filter:s3api]
use = egg:swift#s3api
location = ${REGION}
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${cachePort}
${['catch_errors', 'copy', 'slo', 'dlo'].map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`).join('')}`

const run = (command: string, ...args: string[]): ChildProcess =>
  spawn(`/usr/bin/${command}`, args, { stdio: 'ignore' })

export const startSwift = async (): Promise<Swift> => {
  const dir = mkdtempSync(join(tmpdir(), 'ams-swift-'))
  mkdirSync(join(dir, 'devices', 'd1'), { recursive: true })
  const build = (...args: string[]) => execFileSync('/usr/bin/swift-ring-builder', args, { cwd: dir })
  const running: ChildProcess[] = []
  const cachePort = await freePort()
  running.push(run('memcached', '-u', userInfo().username, '-l', '127.0.0.1', '-p', String(cachePort)))
  for (const kind of ['account', 'container', 'object']) {
    const port = await freePort()
    build(`${kind}.builder`, 'create', '4', '1', '1')
    build(`${kind}.builder`, 'add', `r1z1-127.0.0.1:${port}/d1`, '1')
    build(`${kind}.builder`, 'rebalance')
    writeFileSync(join(dir, `${kind}.conf`), storageConfig(kind, port, dir))
    running.push(run(`swift-${kind}-server`, join(dir, `${kind}.conf`)))
    await until(() => listens(port))
  }
  const port = await freePort()
  writeFileSync(join(dir, 'proxy.conf'), proxyConfig(port, cachePort, dir))
  const client = new AwsClient({ accessKeyId: ID, secretAccessKey: SECRET, region: REGION, service: 's3' })
  const url = `http://127.0.0.1:${port}/${BUCKET}`
  let proxy: ChildProcess
  const revive = async () => {
    proxy = run('swift-proxy-server', join(dir, 'proxy.conf'))
    // 409: the bucket is there already.
    await until(async () => [200, 409].includes((await client.fetch(url, { method: 'PUT' })).status))
  }
  await revive()
  return {
    environment: {
      BLOB_URL: `s3://${BUCKET}?endpoint=http://127.0.0.1:${port}&region=${REGION}`,
      BLOB_MIN_BYTES: '0',
      AWS_ACCESS_KEY_ID: ID,
      AWS_SECRET_ACCESS_KEY: SECRET,
    },
    keys: async () => {
      const text = await (await client.fetch(`${url}?list-type=2`)).text()
      return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => key!)
    },
    kill: () => void proxy.kill('SIGKILL'),
    revive,
    stop: async () => {
      for (const process of [proxy, ...running]) process.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
