import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFoundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { RootDb } from '../../src/db/client.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { startDns } from '../support/dns.ts'
import { temporaryDir } from '../support/postgres.ts'
import { run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { atEnd } from './cleanup.ts'
import { fill, SIZES } from './growth-data.ts'
import { OPERATIONS } from './growth-operations.ts'
import { openSite, type Seeded, type Site } from './growth-site.ts'
import { compareAll, type Side } from './paired.ts'
import { atMost, median, type Suite } from './row.ts'

/** Requests of each operation in a round. */
const REPEATED = 10
const EXTENT = { rounds: 15, seconds: 90 }
/** Folder in which the databases stay for the next run, which then need not be filled. */
const KEPT = process.env.GROWTH_DIR

const folderOf = (name: string): string => {
  if (KEPT) {
    const dir = join(KEPT, name)
    mkdirSync(dir, { recursive: true })
    return dir
  }
  const dir = temporaryDir()
  atEnd(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Creates the database of a size and fills it, unless the folder has it already. */
const seed = async (dir: string, name: keyof typeof SIZES): Promise<Seeded> => {
  const file = join(dir, 'seeded.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  process.stderr.write(`growth: filling the ${name} database …\n`)
  const config = readConfig({ DATA_DIR: dir, PORT: '0', LOG_LEVEL: 'silent' })
  const foundation = await openFoundation(config, silentLogger, { service: true, migrates: 'always' })
  const { workspace, member, token } = await createWorkspace(
    { ...foundation.db, masterKey: foundation.masterKey },
    { name: 'Bench', ownerEmail: 'ann@example.com', plan: 'unlimited' },
  )
  const place = { workspaceId: workspace, memberId: member, mailDomain: config.mailDomain }
  const agentId = await fill(foundation.databaseUrl, SIZES[name], place)
  await foundation.close()
  const seeded = { token, agentId }
  writeFileSync(file, JSON.stringify(seeded))
  return seeded
}

/** The newest agent with mail, other than the one with the large mailbox. */
const anotherThan = async (agentId: string, { pool }: RootDb): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>(
    'select agent_id as id from message where agent_id <> $1 order by created_at desc limit 1',
    [agentId],
  )
  return rows[0]!.id
}

interface Options {
  /** More settings. */
  environment?: Record<string, string>
  /** The operations are about an agent with a small mailbox. */
  about?: 'another'
}

/** Starts the service, with all roles, on the database of a size. */
export const startSite = async (
  name: keyof typeof SIZES,
  dns: string,
  { environment = {}, about }: Options = {},
): Promise<Site & { process: ServiceProcess; largest: string }> => {
  const dir = folderOf(name)
  const seeded = await seed(dir, name)
  const settings = { DATA_DIR: dir, DNS_SERVERS: dns, LOG_LEVEL: 'error', RATE_LIMIT: '100000000' }
  const child = run({ ...settings, WEBHOOK_ALLOW: '127.0.0.1', ...environment })
  atEnd(async () => {
    child.kill('SIGTERM')
    await child.exited
    process.stderr.write(child.stderr.slice(0, 2_000))
  })
  const { http, smtp } = await child.ready()
  const config = readConfig({ DATA_DIR: dir, PORT: '0', LOG_LEVEL: 'silent' })
  const { db, close } = await openFoundation(config, silentLogger, { service: false })
  atEnd(close)
  const { rows } = await db.pool.query('show server_version')
  process.send?.({ postgres: rows[0].server_version })
  const agentId = about ? await anotherThan(seeded.agentId, db) : seeded.agentId
  const site = await openSite({ ...seeded, agentId, http, smtp, db, api: apiOf(http, seeded.token) })
  return { ...site, process: child, largest: seeded.agentId }
}

/** The DNS of those who write to the agents. Returns its address. */
export const startSenders = async (): Promise<string> => {
  const dns = await startDns({
    'example.com': { TXT: ['v=spf1 ip4:127.0.0.1 -all'], A: ['127.0.0.1'] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  })
  atEnd(() => dns.stop())
  return dns.address
}

/** Returns a side that measures the median latency of each operation, in milliseconds. */
const sideOf = (site: Site): Side => ({
  round: async () => {
    const medians: number[] = []
    for (const operation of Object.values(OPERATIONS)) {
      const times: number[] = []
      for (let n = 0; n < REPEATED; n++) {
        const started = performance.now()
        await operation(site)
        times.push(performance.now() - started)
      }
      medians.push(median(times))
    }
    return medians
  },
})

const describe = ({ messages, agents, webhooks }: (typeof SIZES)['small']) =>
  `${messages} messages, ${agents} agents, ${webhooks} webhooks`

/**
 * The latency of every interface's operations with a large database, compared with a small one: no operation
 * may depend on how much the database holds.
 */
export const benchGrowth: Suite = async (report) => {
  const dns = await startSenders()
  const large = await startSite('large', dns)
  const small = await startSite('small', dns)
  const against = describe(SIZES.small)
  const about = Object.keys(OPERATIONS).map((name, index) => ({
    name: index === 0 ? `${describe(SIZES.large)}: ${name}` : name,
    against: index === 0 ? against : 'small',
    unit: 'ms',
    goal: atMost(1.25),
  }))
  for (const row of await compareAll(about, sideOf(large), sideOf(small), EXTENT)) report(row)
}
