import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { planCrashes, runCrashes } from './crashes.ts'
import { type Listener, startListeners } from './listeners.ts'
import {
  judgeListener,
  judgeLog,
  judgeWebhooks,
  type Logged,
  missingFrom,
  sum,
  type WebhookListener,
} from './oracle.ts'
import { seeded } from './seeded.ts'
import { type ChaosAgent, createAgent, startWriters } from './traffic.ts'
import { startWorld, type World } from './world.ts'

/**
 * Writers send messages while processes crash, and the oracle checks what every listener must have received:
 *
 * 1. Everything that was acknowledged is in its agent's log: a mail with 250, a Message URL message with its
 * event, a message to another agent with 201.
 * 2. The ids of a log are 1, 2, 3 … without a gap.
 * 3. A stream that resumes with `Last-Event-ID`, and a GraphQL subscription that resumes with `after`, on any
 * process, receive 1, 2, 3 … to the end: nothing is missing, and nothing is repeated.
 * 4. A webhook accepts every event (with 2xx) at least once; the next event is never posted before the
 * previous one was accepted.
 * 5. Every attempt of an event at a webhook has the same `webhook-id` and the same body, and a signature that
 * verifies.
 * 6. Two POSTs to one webhook are never in flight at the same time.
 *
 * Crashes are kill -9 of service processes (also between a POST and its response, and between the
 * response and its record), of PostgreSQL and of the receiver, and SIGSTOP of a worker until its leases have
 * expired. The delays of retries are shortened: their schedule is tested elsewhere. CHAOS_SEED repeats the
 * decisions of a run, CHAOS_SECONDS makes it longer.
 */
const SECONDS = Number(process.env.CHAOS_SECONDS ?? 16)
const SEED = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000)
const AGENTS = 3
/** Maximum time to recover from the last crash: a lease and a poll of 20 s, then the backlog. */
const RECOVERY_MS = 45_000
/** Fewer messages would say little. */
const ENOUGH = 50
const SLOW_MS = 90_000

beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)

/** Uses a new connection for each query, since PostgreSQL is killed and restarted. */
const ask = async <Row extends pg.QueryResultRow>(
  { databaseUrl }: World,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

const HURRY = [
  'update webhook set retry_at = now() where retry_at > now() and lease_owner is null',
  'update job set due_at = now() where due_at > now() and lease_owner is null',
]

/** Keeps making pending retries due immediately, until the returned function is called. */
const hurryRetries = (world: World) => {
  const hurry = () => Promise.all(HURRY.map((statement) => ask(world, statement))).catch(() => undefined)
  const timer = setInterval(() => void hurry(), 700)
  return () => clearInterval(timer)
}

const readLogs = async (world: World, agents: readonly ChaosAgent[]): Promise<Map<string, Logged[]>> => {
  const logs = new Map<string, Logged[]>(agents.map(({ id }) => [id, []]))
  const rows = await ask<{
    agent_id: string
    id: string
    message_id: string
    channel: string
    subject: string | null
  }>(world, 'select agent_id, id, message_id, channel, subject from event order by agent_id, id')
  for (const row of rows)
    logs
      .get(row.agent_id)!
      .push({ id: Number(row.id), messageId: row.message_id, channel: row.channel, subject: row.subject })
  return logs
}

/** The events that every webhook must have accepted: all mail, and Message URL messages with a job for it. */
const readListeners = async (world: World, agents: readonly ChaosAgent[], logs: Map<string, Logged[]>) => {
  const rows = await ask<{ url: string; seq: string }>(
    world,
    'select w.url, j.seq from job j join webhook w on w.id = j.lane where j.seq > 0',
  )
  const jobs = new Map<string, Set<number>>()
  for (const { url, seq } of rows) jobs.set(url, (jobs.get(url) ?? new Set()).add(Number(seq)))
  return agents.flatMap(({ id, webhooks }) =>
    webhooks.map(({ path, secret }): WebhookListener => {
      const withJob = jobs.get(world.receiverUrl + path) ?? new Set()
      const due = logs.get(id)!.filter((event) => event.channel !== 'url' || withJob.has(event.id))
      return { path, secret, due: due.map((event) => event.id) }
    }),
  )
}

const SETTLED = `
  select (select count(*)::int from webhook w join event_log l using (agent_id) where w.position < l.last_id)
       + (select count(*)::int from job where kind = 'send' and state = 'pending') as left`

const isSettled = async (world: World): Promise<boolean> =>
  (await ask<{ left: number }>(world, SETTLED))[0]!.left === 0

const haveReceivedAll = (listeners: readonly Listener[], logs: Map<string, Logged[]>) =>
  listeners.every(({ agentId, received }) => received.length >= logs.get(agentId)!.length)

test(
  `no acknowledged message is lost when processes crash (CHAOS_SEED=${SEED}, CHAOS_SECONDS=${SECONDS})`,
  async () => {
    const chance = seeded(SEED)
    const world = await startWorld(SEED)
    const over = new AbortController()
    const left = new AbortController()
    try {
      const agents: ChaosAgent[] = []
      for (let n = 0; n < AGENTS; n++) agents.push(await createAgent(world, `agent${n}`))
      const listeners = agents.flatMap((agent, n) =>
        startListeners(world, seeded(SEED + 2 + n), agent, left.signal),
      )
      // The lease of a send lasts 10 s, so the last sends are started well before the end.
      const lettersOver = new AbortController()
      setTimeout(() => lettersOver.abort(), Math.max(SECONDS / 2, SECONDS - 20) * 1000).unref()
      const writers = startWriters(world, seeded(SEED + 1), agents, over.signal, lettersOver.signal)
      const stopHurry = hurryRetries(world)
      const happened: string[] = []
      const plan = planCrashes(chance, SECONDS)
      await runCrashes(world, plan, chance, happened)
      // On a busy machine, processes start for most of that time.
      await until(() => writers.acknowledged.length > ENOUGH, SLOW_MS).catch(() => undefined)
      over.abort()
      await writers.done
      const calm = performance.now()
      // what is left after that is counted as lost
      await until(() => isSettled(world), RECOVERY_MS).catch(() => undefined)
      const settledMs = Math.round(performance.now() - calm)
      const logs = await readLogs(world, agents)
      await until(() => haveReceivedAll(listeners, logs), 10_000).catch(() => undefined)
      stopHurry()
      left.abort()
      const missing = missingFrom(logs, writers.acknowledged)
      const verdict = sum([
        judgeWebhooks(await readListeners(world, agents, logs), world.receiverLines()),
        ...listeners.map(({ name, agentId, received }) =>
          judgeListener(`${name} of ${agentId}`, received, logs.get(agentId)!.length),
        ),
      ])
      const violations = [...agents.flatMap(({ id }) => judgeLog(id, logs.get(id)!)), ...verdict.violations]
      const events = [...logs.values()].reduce((all, log) => all + log.length, 0)
      const resumed = listeners.reduce((all, listener) => all + listener.resumed, 0)
      const lost = missing.length + verdict.lost
      process.stdout.write(
        `chaos, seed ${SEED}: ${happened.length} crashes (${happened.join(', ')}), ${writers.acknowledged.length} acknowledged ` +
          `(refused: ${JSON.stringify(writers.refused)}), ${events} events, ${verdict.deliveries} deliveries, ${verdict.duplicates} duplicates, ` +
          `${resumed} times resumed, settled after ${settledMs} ms, lost: ${lost}\n`,
      )
      expect({ missing, violations, lost }).toEqual({ missing: [], violations: [], lost: 0 })
      expect(listeners.flatMap(({ others }) => others)).toEqual([])
      expect(events).toBeGreaterThan(ENOUGH)
      expect(happened.length).toBe(plan.length)
    } finally {
      over.abort()
      left.abort()
      await world.close()
    }
  },
  SECONDS * 1000 + 180_000 + SLOW_MS,
)
