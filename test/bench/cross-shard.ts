import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { CitusCluster } from '../citus/cluster.ts'
import { type Ends, sendMails } from './mail-way.ts'
import type { Site } from './scaling-sites.ts'

/** What a statement of the service made of the nodes of a cluster: read from the coordinator's log. */
interface Asked {
  text: string
  calls: number
  /** Statements for one shard, which the coordinator sent. */
  tasks: number
  /** The most shards that one call was about: one for each agent, where all rows of an agent are in one. */
  shards: number
  /** Statements that begin and end transactions on other nodes. */
  transactions: number
  ms: number
}

interface Line {
  pid: number
  application_name?: string
  message: string
}

const LOGGING = {
  'citus.log_remote_commands': 'on',
  log_min_messages: 'notice',
  log_min_duration_statement: '0',
}

/** Enough for the lines of statements that have ended to be written. */
const WRITTEN_MS = 700
const IDLE_S = 6
const MAILS = 60
const TIMES = 10
/** The costliest statements, which are printed. */
const MOST = 15
const ISSUING = 'issuing '
const DONE = /^duration: ([\d.]+) ms {2}(?:execute [^:]*|statement): ([\s\S]*)$/
const SHARD = /_(\d{6,})\b/g

const setLogging = async (pool: pg.Pool, on: boolean): Promise<void> => {
  for (const [name, value] of Object.entries(LOGGING))
    await pool.query(on ? `alter system set ${name} = ${value}` : `alter system reset ${name}`)
  await pool.query('select pg_reload_conf()')
}

const readLog = ({ coordinator }: CitusCluster): Line[] => {
  const dir = join(coordinator.dir, 'log')
  const files = readdirSync(dir).filter((name) => name.endsWith('.json'))
  // Each file without its last line, which may be incomplete or is empty.
  const lines = files.sort().flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1))
  return lines.map((line) => JSON.parse(line))
}

/** Returns the place of each shard: shards of several tables with the rows of the same agents have one. */
const readPlaces = async (pool: pg.Pool): Promise<Map<string, string>> => {
  const { rows } = await pool.query<{ id: string; place: string }>(
    'select shardid::text as id, shardminvalue as place from pg_dist_shard where shardminvalue is not null',
  )
  return new Map(rows.map(({ id, place }) => [id, place]))
}

const nameOf = (text: string): string =>
  text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 100)

/** Attributes what each session issued to the statement whose end follows. */
const summarise = (lines: readonly Line[], places: ReadonlyMap<string, string>): Asked[] => {
  const issued = new Map<number, string[]>()
  const all = new Map<string, Asked>()
  for (const { pid, application_name, message } of lines) {
    if (application_name !== 'ams') continue
    const before = issued.get(pid) ?? []
    if (message.startsWith(ISSUING)) issued.set(pid, [...before, message])
    const done = DONE.exec(message)
    if (!done) continue
    issued.set(pid, [])
    const text = nameOf(done[2]!)
    const asked = all.get(text) ?? { text, calls: 0, tasks: 0, shards: 0, transactions: 0, ms: 0 }
    const shardsOf = (command: string) =>
      [...command.matchAll(SHARD)].flatMap(([, id]) => places.get(id!) ?? [])
    const tasks = before.map(shardsOf).filter((found) => found.length > 0)
    asked.calls++
    asked.tasks += tasks.length
    asked.shards = Math.max(asked.shards, new Set(tasks.flat()).size)
    asked.transactions += before.length - tasks.length
    asked.ms += Number(done[1])
    all.set(text, asked)
  }
  return [...all.values()].sort((a, b) => b.tasks - a.tasks || b.ms - a.ms)
}

const print = (phase: string, units: number, asked: readonly Asked[]): void => {
  const each = (count: number) => (count / units).toFixed(2)
  const sum = (of: 'calls' | 'tasks' | 'transactions') => each(asked.reduce((all, one) => all + one[of], 0))
  process.stderr.write(
    `  ${phase}: ${sum('calls')} statements, ${sum('tasks')} tasks, ${sum('transactions')} for transactions\n`,
  )
  for (const { text, calls, tasks, shards, transactions, ms } of asked
    .filter(({ tasks }) => tasks > 0)
    .slice(0, MOST))
    process.stderr.write(
      `    ${each(calls)} × ${(tasks / calls).toFixed(1)} tasks, at most ${shards} shards, ${(transactions / calls).toFixed(1)} for transactions, ${(ms / calls).toFixed(1)} ms: ${text}\n`,
    )
}

/** An operation: how often it is done, and the function that does it as often. */
type Operation = readonly [name: string, units: number, work: () => Promise<unknown>]

const operationsOf = (ends: Ends, site: Site): Operation[] => {
  const { api } = site.bench
  const [one, other] = site.endpoints
  const mails = (sessions: number) => () => sendMails(ends, site, { kind: 'plain', mails: MAILS, sessions })
  const times = (work: () => Promise<unknown>) => async () => {
    for (let n = 0; n < TIMES; n++) await work()
  }
  const message = { channel: 'email', to: [other!.address], subject: 'Hi', text: 'hi' }
  const path = `/agents/${one!.agentId}/messages`
  return [
    ['a second without work', IDLE_S, () => sleep(IDLE_S * 1000)],
    [`a mail and its webhook, ${site.endpoints.length} sessions`, MAILS, mails(site.endpoints.length)],
    ['a mail and its webhook, 1 session', MAILS, mails(1)],
    ['a list of an agent', TIMES, times(() => api('GET', `${path}?limit=20`))],
    ['a list of all agents', TIMES, times(() => api('GET', '/messages?limit=20'))],
    ['a message sent', TIMES, times(() => api('POST', path, message))],
  ]
}

/** Prints how many tasks the statements of some operations are, with those that workers execute meanwhile. */
export const explainCluster = async (ends: Ends, site: Site, cluster: CitusCluster): Promise<void> => {
  const { pool } = site.bench.postgres
  const places = await readPlaces(pool)
  await setLogging(pool, true)
  for (const [name, units, work] of operationsOf(ends, site)) {
    await sleep(WRITTEN_MS)
    const from = readLog(cluster).length
    await work()
    await sleep(WRITTEN_MS)
    print(name, units, summarise(readLog(cluster).slice(from), places))
  }
  await setLogging(pool, false)
}
