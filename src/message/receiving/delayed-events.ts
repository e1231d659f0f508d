import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { MAX_WAKE_AFTER_S } from '../../core/rules.ts'
import type { Db, RootDb } from '../../db/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { define, type Rows, rows, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { atomically } from '../../db/transaction.ts'
import {
  APPEND_EVENTS,
  type AppendedRow,
  type Feed,
  lockAllLogs,
  MESSAGE_RECEIVED,
  RAISED,
  SELECT_APPENDED,
  toAppended,
} from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'

/**
 * Events of received messages that wait until the agent is to be woken (its setting `wakeAfterSeconds`). They enter
 * the log together, with those of their thread that came meanwhile, and get their ids only then: so streams, webhooks
 * and positions know nothing of the delay.
 */

/**
 * The part of a statement that stores the events that wait. A thread waits from its first message on that the agent has not
 * heard of.
 */
export const delayEvents = (
  events: Rows<'id' | 'sender' | 'from' | 'detail' | 'delay'>,
  stored: Rows<'id' | 'agent_id' | 'thread_id' | 'created_at'>,
): Sql => sql`
    delayed as (
      insert into delayed_event (message_id, agent_id, thread_id, due_at, sender, "from", detail)
      select s.id, s.agent_id, s.thread_id,
             coalesce((select min(d.due_at) from delayed_event d where d.agent_id = s.agent_id and d.thread_id = s.thread_id),
                      s.created_at + make_interval(secs => e.delay)),
             e.sender, e."from", e.detail
        from ${events} e join ${stored} s using (id) where e.delay is not null
    )`

/** Topic that tells the workers of an event that waits. The key is the time when it is due. */
export const EVENT_DELAYED = 'event_delayed'

/** Returns when an event that no earlier one of its thread waits for is due. */
export const dueOf = (createdAt: Date, delay: number): Date => new Date(createdAt.getTime() + delay * 1000)

/** Maximum number of events that one look finds, and so of agents whose logs one transaction locks. */
const MAX_EVENTS = 64

const NEXT = {
  name: 'next delayed events',
  text: `select agent_id, due_at from delayed_event order by due_at limit ${MAX_EVENTS}`,
}

const LOCK = statement<{ agentIds: readonly string[] }>('lock logs', ({ agentIds }) =>
  lockAllLogs(sql`${agentIds}::uuid[]`),
)

const WOKEN = rows('woken', 'id', 'agent_id', 'channel', 'subject', 'sender', 'from', 'detail', 'sent_at')

interface Wake {
  agentIds: readonly string[]
  /** Threads whose first event is due by then are woken. */
  by: Date
  now: Date
  type: string
}

/**
 * Moves events that wait into the logs, in the order in which their messages arrived. The event is as new as this, because
 * positions are found by time too. The logs must be locked before: then no other process wakes the same thread.
 */
const WAKE = statement<Wake>(
  'wake agents',
  ({ agentIds, by, now, type }) => sql`
    with
    ${define(WOKEN)} as (
      delete from delayed_event d using message m
       where d.agent_id = any(${agentIds}::uuid[]) and m.agent_id = any(${agentIds}::uuid[]) and m.agent_id = d.agent_id and m.id = d.message_id
         and exists (select from delayed_event f where f.agent_id = d.agent_id and f.thread_id = d.thread_id and f.due_at <= ${by}::timestamptz)
      returning d.message_id as id, d.agent_id, m.channel, m.subject, d.sender, d."from", d.detail, m.created_at as sent_at
    ),
    ${define(RAISED)} as (
      select w.id, w.agent_id, row_number() over (order by w.sent_at, w.id) as ord, ${type}::text as type, w.channel, w.subject,
             ${now}::timestamptz as created_at, w.sender, w."from", w.detail
        from ${WOKEN} w
    ),${APPEND_EVENTS},${enqueueWebhookJobs()}
${SELECT_APPENDED}`,
)

type WakeDeps = Db & { clock: Clock; feed: Pick<Feed, 'committed'> }

/** Wakes these agents for the threads whose events are due `by` then. */
const wakeAgents = (deps: WakeDeps, agentIds: readonly string[], by: Date): Promise<void> =>
  atomically(deps, async (db) => {
    await db.pool.query(LOCK({ agentIds }))
    const wake = { agentIds, by, now: deps.clock.now(), type: MESSAGE_RECEIVED }
    const { rows } = await db.pool.query<AppendedRow>(WAKE(wake))
    db.afterCommit(() => deps.feed.committed(toAppended(rows)))
  })

/** Wakes an agent at once for all that waits, because its setting has changed. */
export const wakeNow = (deps: WakeDeps, agentId: string): Promise<void> =>
  wakeAgents(deps, [agentId], dueOf(deps.clock.now(), MAX_WAKE_AFTER_S))

/** Interval at which a process looks for events of others, which may have been killed. */
const POLL_MS = 5_000

type DelayedEventDeps = RootDb & {
  clock: Clock
  log: Logger
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
}

/** The worker that wakes agents when their events are due. Any number of processes may run one. */
export class DelayedEvents {
  readonly #deps: DelayedEventDeps
  readonly #stopping = new AbortController()
  #sooner = new AbortController()
  /** When this process looks again, as a timestamp. */
  #next = 0
  #running: Promise<void> = Promise.resolve()
  #unsubscribe: () => void = () => undefined

  constructor(deps: DelayedEventDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#unsubscribe = this.#deps.notifier.subscribe(EVENT_DELAYED, (due) => this.#expect(new Date(due)))
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    this.#sooner.abort()
    await this.#running
  }

  #expect(due: Date): void {
    if (due.getTime() < this.#next) this.#sooner.abort()
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const sooner = new AbortController()
      this.#sooner = sooner
      this.#next = clock.now().getTime() + POLL_MS
      try {
        await this.#wakeDue()
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not wake agents for delayed messages; retrying')
      }
      if (!signal.aborted) await clock.sleep(this.#next - clock.now().getTime(), sooner.signal)
    }
  }

  /** Wakes those that are due, and plans to look again when the next one is. */
  async #wakeDue(): Promise<void> {
    const { pool, clock } = this.#deps
    for (let due = ['any']; due.length > 0 && !this.#stopping.signal.aborted; ) {
      const { rows } = await pool.query<{ agent_id: string; due_at: Date }>(NEXT)
      const now = clock.now()
      due = [...new Set(rows.filter(({ due_at }) => due_at <= now).map(({ agent_id }) => agent_id))]
      const later = rows.find(({ due_at }) => due_at > now)
      if (later) this.#next = Math.min(this.#next, later.due_at.getTime())
      if (due.length > 0) await wakeAgents(this.#deps, due, now)
    }
  }
}
