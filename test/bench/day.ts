import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSenders, startSite } from './growth.ts'
import { OPERATIONS } from './growth-operations.ts'
import { atMost, type BenchRow, median, type Suite } from './row.ts'

/** How long the load goes on; a day of it in 1,200. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
/** Requests and mails at a time. */
const AT_ONCE = 4
/** What one of them waits after each. */
const PAUSE_MS = 25
/** How often is looked. */
const LOOKS = 120
/** Days of messages that are kept: a fifth of the others is pruned by the service as soon as this is set. */
const KEEP_DAYS = 20

/** What the bench calls in its own process, beside the service. */
const NOT_OVER_THE_NETWORK = /^(?:poll for|delete expired)/
const LOAD = Object.entries(OPERATIONS).filter(([name]) => !NOT_OVER_THE_NETWORK.test(name))

interface Look {
  rss: number
  descriptors: number
  /** Dead rows for each live one. */
  dead: number
  lines: number
}

type Running = Awaited<ReturnType<typeof startSite>>

const look = async ({ process: { pid, stderr }, db }: Running): Promise<Look> => {
  const { rows } = await db.pool.query<{ dead: number }>(
    'select sum(n_dead_tup)::float8 / sum(n_live_tup) as dead from pg_stat_user_tables',
  )
  return {
    rss: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) / 1_000,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    dead: rows[0]!.dead,
    lines: stderr.split('\n').length,
  }
}

/** Runs the operations of every interface, one after the other and some at a time. */
const startLoad = (site: Running, signal: AbortSignal) => {
  let done = 0
  const failures: string[] = []
  const worker = async () => {
    while (!signal.aborted) {
      const [name, operation] = LOAD[done++ % LOAD.length]!
      await operation(site).catch((error) => failures.push(`${name}: ${error.message}`))
      await sleep(PAUSE_MS)
    }
  }
  const workers = Array.from({ length: AT_ONCE }, worker)
  return {
    end: async () => {
      await Promise.all(workers)
      if (failures.length > 0)
        throw new Error(`${failures.length} failed: ${failures.slice(0, 3).join('; ')}`)
      return done
    },
  }
}

const UNITS = { rss: 'MB', descriptors: '', dead: 'of the live', lines: 'lines/look' } as const
const NAMES = { rss: 'RSS', descriptors: 'file descriptors', dead: 'dead rows', lines: 'log' } as const

/** Compares a quarter of the looks with the one after the first: what grows with time is larger. */
const compare = (looks: readonly Look[], key: keyof Look): BenchRow => {
  const values = looks.map((one, index) =>
    key === 'lines' ? one.lines - (looks[index - 1]?.lines ?? 0) : one[key],
  )
  const quarter = looks.length >> 2
  const counterpart = median(values.slice(quarter, 2 * quarter))
  const ours = median(values.slice(-quarter))
  const ratio = counterpart === 0 ? 1 + ours : ours / counterpart
  const name = `${NAMES[key]}, last quarter of ${SECONDS} s`
  return {
    name,
    against: 'second quarter',
    unit: UNITS[key],
    ours,
    counterpart,
    ratio,
    spread: [ratio, ratio],
    goal: atMost(1.2),
  }
}

/**
 * Mixed load on every interface, while the service deletes an agent with 200,000 messages and those that are older
 * than they are kept: memory, dead rows, open files and log stay as they are.
 */
export const benchDay: Suite = async (report) => {
  const options = { environment: { LOG_LEVEL: 'info' }, about: 'another' } as const
  const site = await startSite('day', await startSenders(), options)
  const over = AbortSignal.timeout(SECONDS * 1_000)
  const load = startLoad(site, over)
  const looks: Look[] = []
  for (let n = 0; n < LOOKS; n++) {
    looks.push(await look(site))
    if (n % 10 === 0) process.stderr.write(`  ${n}: ${JSON.stringify(looks.at(-1))}\n`)
    if (n === LOOKS / 12) await site.request('PATCH', '/workspace', { keepMessagesDays: KEEP_DAYS })
    if (n === LOOKS / 8) await site.request('DELETE', `/agents/${site.largest}`)
    await sleep((SECONDS * 1_000) / LOOKS)
  }
  process.stderr.write(`  ${await load.end()} requests and mails\n`)
  const { rows } = await site.db.pool.query<{ count: string }>(
    'select count(*) from message where agent_id = $1',
    [site.largest],
  )
  if (Number(rows[0]!.count) > 0) throw new Error(`${rows[0]!.count} messages of the deleted agent are left`)
  for (const key of ['rss', 'descriptors', 'dead', 'lines'] as const) report(compare(looks, key))
}
