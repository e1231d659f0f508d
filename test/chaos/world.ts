import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentLogger } from '../../src/core/logger.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts'
import { startDns } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { freePort } from '../support/port.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { ReceiverLine } from './oracle.ts'

/** A process of the service that is restarted after it was killed. */
export interface Member {
  readonly roles: string
  /** Addresses at which it serves; the last ones while it is down. */
  place: { http: string; smtp: string | null }
  process: ServiceProcess
  up: boolean
}

export interface World {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly ownerToken: string
  readonly postgres: EmbeddedPostgres
  readonly members: Member[]
  readonly receiverUrl: string
  /** Kills a process with SIGKILL and restarts it. Resolves when it is ready again. */
  kill(member: Member): Promise<void>
  killReceiver(): Promise<void>
  /** Resolves when the receiver reaches that step of a POST, or after `ms`. */
  trap(step: 'before' | 'after', ms: number): Promise<void>
  receiverLines(): ReceiverLine[]
  close(): Promise<void>
}

const startReceiver = async (file: string, port: number, seed: number): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, 'receiver.ts'), [file, String(port), String(seed)], {
    execArgv: ['--import', 'tsx'],
  })
  await once(child, 'message')
  return child
}

/**
 * Roles of the processes: one that accepts mail and requests, one that does everything, and one that only
 * delivers.
 */
const ROLES = ['api,smtp', 'api,smtp,worker', 'worker']

const startMember = async (settings: Record<string, string>, roles: string): Promise<Member> => {
  const process = run({ ...settings, ROLES: roles })
  return { roles, process, place: await process.ready(), up: true }
}

/**
 * Starts PostgreSQL with its default durability, a name server that authenticates mail of example.com, three
 * processes of the service, and the receiver.
 */
export const startWorld = async (seed: number): Promise<World> => {
  const dataDir = temporaryDir()
  const dns = await startDns(proves('example.com'))
  const postgres = await startEmbedded({ dir: dataDir, log: silentLogger, supervise: true })
  const ownerToken = `owner-${randomBytes(16).toString('hex')}`
  const settings = {
    DATABASE_URL: postgres.url,
    DATA_DIR: join(dataDir, 'service'),
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: ownerToken,
    DNS_SERVERS: dns.address,
    WEBHOOK_ALLOW: '127.0.0.1',
    RATE_LIMIT: '1000000',
    LOG_LEVEL: 'warn',
  }
  const members = [await startMember(settings, ROLES[0]!)]
  members.push(...(await Promise.all(ROLES.slice(1).map((roles) => startMember(settings, roles)))))
  const file = join(dataDir, 'received.jsonl')
  const port = await freePort()
  let receiver = await startReceiver(file, port, seed)
  let restarts = 0
  return {
    dataDir,
    databaseUrl: postgres.url,
    ownerToken,
    postgres,
    members,
    receiverUrl: `http://127.0.0.1:${port}`,
    async kill(member) {
      member.up = false
      member.process.kill('SIGKILL')
      await member.process.exited
      // PostgreSQL may be down at that time: a service that cannot start exits, and its supervisor restarts it.
      await until(async () => {
        member.process = run({ ...settings, ROLES: member.roles })
        member.place = await member.process.ready()
        return true
      }, 30_000)
      member.up = true
    },
    async killReceiver() {
      receiver.kill('SIGKILL')
      await once(receiver, 'exit')
      receiver = await startReceiver(file, port, seed + ++restarts)
    },
    async trap(step, ms) {
      if (receiver.connected) receiver.send(step)
      await Promise.race([once(receiver, 'message'), new Promise((resolve) => setTimeout(resolve, ms))])
    },
    receiverLines: () =>
      (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean) : []).map((line) =>
        JSON.parse(line),
      ),
    async close() {
      for (const member of members) member.process.kill('SIGCONT')
      if (receiver.connected) receiver.disconnect()
      receiver.kill('SIGKILL')
      await postgres.stop()
      await dns.stop()
      await cleanUp(dataDir)
    },
  }
}
