import { setTimeout as sleep } from 'node:timers/promises'
import { eventOf, openCommitter } from './committer.ts'
import { usedByFamily } from './cpu.ts'
import { pssOf } from './memory.ts'
import type { Fleet } from './processes-data.ts'
import { ROLES, type RunningFleet, sendMails, startFleet } from './processes-fleet.ts'
import { atMost, type BenchRow, type Goal, type Suite } from './row.ts'
import { countStatements, type StatementCost } from './statements.ts'

/** `BENCH_SHARE=0.05` runs the large fleet with fewer agents, webhooks and streams, for a short run. */
const SHARE = Number(process.env.BENCH_SHARE ?? 1)
const LARGE: Fleet = {
  ...{ api: 4, smtp: 2, worker: 4 },
  ...{ agents: 100_000 * SHARE, webhooks: 10_000 * SHARE, streams: 20_000 * SHARE },
}
const SMALL: Fleet = { api: 1, smtp: 1, worker: 1, agents: 1_000, webhooks: 100, streams: 200 }

/** Agents that get mail: as many in both fleets, so that only what is idle differs. */
const ACTIVE = 100
const MAILS = Number(process.env.BENCH_MAILS ?? 1_000)
/** Time in which what is idle is measured: longer than the interval of every poll. */
const IDLE_MS = 16_000
/** Announced events of agents whom nobody listens to, and how many of them one notification names. */
const HEARD = 20_000
const TOGETHER = 20
const NOBODY = '00000000-0000-4000-8000-000000000000'

const END_LISTENING =
  "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ams-listen/%'"
/**
 * A process that listens again within a second is not taken for lost. On a busy machine, one whose connection ends
 * more often may be: then others take over its webhooks, and an event may be posted twice.
 */
const END_EVERY_MS = 3_000

type Figures = Record<string, { value: number; unit: string; goal?: Goal }>

/** Calls and time of statements for each unit; the costliest of them are printed. */
const costOf = (phase: string, statements: readonly StatementCost[], units: number) => {
  for (const { text, calls, ms } of statements.slice(0, 8))
    process.stderr.write(
      `    ${phase}: ${(calls / units).toFixed(2)} × ${((ms * 1000) / units).toFixed(0)} µs ${text}\n`,
    )
  const sum = (of: 'calls' | 'ms') => statements.reduce((all, each) => all + each[of], 0) / units
  return { calls: sum('calls'), us: sum('ms') * 1000 }
}

/** Measures the CPU time in microseconds of a process of each role, and of PostgreSQL, during `work`. */
const cpuDuring = async ({ processes, bench }: RunningFleet, work: () => Promise<unknown>) => {
  const now = () => [
    ...ROLES.map(
      (role) => processes[role].reduce((sum, { pid }) => sum + usedByFamily(pid), 0) / processes[role].length,
    ),
    usedByFamily(bench.postgres.pid),
  ]
  const before = now()
  const started = performance.now()
  await work()
  const after = now()
  const seconds = (performance.now() - started) / 1000
  const used = after.map((each, index) => each - before[index]!) as [number, number, number, number]
  return { seconds, used }
}

type Used = Awaited<ReturnType<typeof cpuDuring>>

const processesOf = ({ api, smtp, worker }: Fleet) => api + smtp + worker

const measureIdle = async (running: RunningFleet, figures: Figures): Promise<Used> => {
  const { bench, fleet, processes } = running
  await sleep(IDLE_MS) // leases that the start took end
  const read = await countStatements(bench.postgres.pool)
  const idle = await cpuDuring(running, () => sleep(IDLE_MS))
  const cost = costOf('idle, each second', await read(), idle.seconds)
  const all = processesOf(fleet)
  for (const [index, role] of ROLES.entries())
    figures[`idle ${role} process: CPU each second`] = {
      value: idle.used[index]! / idle.seconds / 1000,
      unit: 'ms',
    }
  figures['idle: CPU of PostgreSQL each second, for a process'] = {
    value: idle.used[3] / idle.seconds / 1000 / all,
    unit: 'ms',
  }
  figures['idle: statements a second of a process'] = {
    value: cost.calls / all,
    unit: '',
    goal: atMost(1.25),
  }
  const { rows } = await bench.postgres.pool.query(
    "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and application_name <> ''",
  )
  figures['database connections of a process'] = { value: rows[0].count / all, unit: '', goal: atMost(1.25) }
  for (const role of ROLES)
    figures[`memory of an ${role} process (PSS)`] = {
      value: processes[role].reduce((sum, { pid }) => sum + pssOf(pid), 0) / processes[role].length / 1024,
      unit: 'MB',
    }
  return idle
}

/** Announces events of agents without a listener: what does it cost a process that they are none of its business? */
const measureHearing = async (running: RunningFleet, idle: Used, figures: Figures): Promise<void> => {
  const { bench, data, fleet } = running
  const committer = await openCommitter(bench)
  const ids = data.agentIds.slice(fleet.streams)
  const read = await countStatements(bench.postgres.pool)
  const heard = await cpuDuring(running, async () => {
    for (let n = 0; n < HEARD; n += TOGETHER) {
      const events = Array.from({ length: TOGETHER }, (_, at) =>
        eventOf({ agent_id: ids[(n + at) % ids.length]!, id: 1, message_id: NOBODY, created_at: new Date() }),
      )
      committer.announce(events)
      await sleep(5)
    }
    await sleep(1_000)
  })
  costOf('an event of an agent without listeners', await read(), HEARD)
  for (const [index, role] of ROLES.entries())
    figures[`an event that is heard, CPU of an ${role} process`] = {
      value: (heard.used[index]! - (idle.used[index]! * heard.seconds) / idle.seconds) / HEARD,
      unit: 'µs',
    }
  figures['an event that is heard, CPU of PostgreSQL'] = {
    value: (heard.used[3] - (idle.used[3] * heard.seconds) / idle.seconds) / HEARD,
    unit: 'µs',
  }
}

const measureMails = async (running: RunningFleet, idle: Used, figures: Figures): Promise<void> => {
  const { bench, processes } = running
  await sendMails(running, MAILS / 5, ACTIVE) // statements are planned, connections opened
  const read = await countStatements(bench.postgres.pool)
  const longest = 'the longest time without a webhook while mails arrive'
  const mails = await cpuDuring(running, async () => {
    figures[longest] = { value: await sendMails(running, MAILS, ACTIVE), unit: 'ms' }
  })
  const cost = costOf('a mail', await read(), MAILS)
  const own = (index: number) =>
    (mails.used[index]! - (idle.used[index]! * mails.seconds) / idle.seconds) / MAILS
  for (const [index, role] of ROLES.entries())
    figures[`a mail to a webhook and a stream, CPU of all ${role} processes`] = {
      value: own(index) * processes[role].length,
      unit: 'µs',
    }
  figures['a mail to a webhook and a stream, CPU of PostgreSQL'] = { value: own(3), unit: 'µs' }
  figures['a mail to a webhook and a stream, statements'] = { value: cost.calls, unit: '' }
}

/** Ends the connections that listen again and again: mails still arrive everywhere once and in order. */
const measureDeaf = async (running: RunningFleet, figures: Figures): Promise<void> => {
  const { pool } = running.bench.postgres
  const ending = setInterval(() => void pool.query(END_LISTENING), END_EVERY_MS)
  const value = await sendMails(running, MAILS, ACTIVE)
  clearInterval(ending)
  figures['the same, and all connections that listen end every three seconds'] = { value, unit: 'ms' }
}

const measureFleet = async (fleet: Fleet): Promise<Figures> => {
  const say = (text: string) => process.stderr.write(`  ${text}\n`)
  say(`starting ${JSON.stringify(fleet)} …`)
  const running = await startFleet(fleet)
  const figures: Figures = {}
  say('idle …')
  const idle = await measureIdle(running, figures)
  say('hearing …')
  await measureHearing(running, idle, figures)
  say('mails …')
  await measureMails(running, idle, figures)
  for (const [name, { value, unit }] of Object.entries(figures))
    say(`  ${name}: ${value.toPrecision(3)} ${unit}`)
  say('mails, without notifications now and then …')
  await measureDeaf(running, figures)
  await running.stop()
  return figures
}

const describe = ({ api, smtp, worker, agents, webhooks, streams }: Fleet) =>
  `${api} api + ${smtp} smtp + ${worker} worker, ${agents} agents, ${webhooks} webhooks, ${streams} streams`

/**
 * What many processes cost that serve many agents, most of them idle, compared with one process of each role and few
 * agents. Each mail must arrive at its webhook and its stream once and in order, or the suite fails.
 */
export const benchProcesses: Suite = async (report) => {
  const large = await measureFleet(LARGE)
  const small = await measureFleet(SMALL)
  for (const [index, [name, { value, unit, goal }]] of Object.entries(large).entries()) {
    const counterpart = small[name]!.value
    const row: BenchRow = {
      name: index === 0 ? `${describe(LARGE)}: ${name}` : name,
      against: index === 0 ? describe(SMALL) : 'small',
      ...{ unit, ours: value, counterpart, ratio: value / counterpart, goal },
      spread: [value / counterpart, value / counterpart],
    }
    report(row)
  }
}
