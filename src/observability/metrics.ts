import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { WAYS_IN } from '../core/channels.ts'
import { systemClock } from '../core/clock.ts'
import type { Counted, Metrics } from '../core/metrics.ts'

interface Counting {
  /** Name and label in Prometheus. */
  name: string
  label: string
  help: string
  /**
   * Values of the label that are known in advance. They start at 0, so that the first occurrence is visible
   * as an increase.
   */
  values: readonly string[]
}

/** The counters. Labels are few and fixed: never an address or an id. */
const COUNTERS: Record<Counted, Counting> = {
  deliveries: {
    name: 'ams_webhook_deliveries_total',
    label: 'outcome',
    help: 'Attempts to deliver to webhooks by outcome (delivered, failed, too_large, gone), and events that were given up (expired)',
    values: ['delivered', 'failed', 'too_large', 'gone', 'expired'],
  },
  answers: {
    name: 'ams_smtp_answers_total',
    label: 'code',
    help: 'SMTP replies to messages (250 or an error code) and to unknown recipients',
    values: ['250', '550'],
  },
  events: {
    name: 'ams_events_total',
    label: 'channel',
    help: "Events appended to agents' logs",
    values: Object.keys(WAYS_IN),
  },
  mails: {
    name: 'ams_mails_total',
    label: 'verdict',
    help: 'Incoming messages: received, the reason of the refusal, deferred (the sender is asked to try again), or dropped (not stored)',
    values: [
      'received',
      'deferred',
      'dropped',
      'self',
      'spam',
      'plan_limit',
      'rate_limit',
      'sender',
      'outsider',
      'unverified',
    ],
  },
  sends: {
    name: 'ams_sends_total',
    label: 'outcome',
    help: 'Attempts to send messages (sent, retried, failed), and reports about sent messages (bounced, reported)',
    values: ['sent', 'retried', 'failed', 'bounced', 'reported'],
  },
  spamChecks: {
    name: 'ams_spam_checks_total',
    label: 'outcome',
    help: 'Messages checked by Rspamd: spam, ham, failed (let through)',
    values: ['spam', 'ham', 'failed'],
  },
  readerThreads: {
    name: 'ams_reader_threads_total',
    label: 'outcome',
    help: 'Mail reader threads that were replaced because a message exceeded its time or memory',
    values: ['replaced'],
  },
  callbacks: {
    name: 'ams_callbacks_total',
    label: 'outcome',
    help: 'Calls from providers: taken (accepted), refused (not proven, malformed), failed',
    values: ['taken', 'refused', 'failed'],
  },
  toolCalls: {
    name: 'ams_mcp_tool_calls_total',
    label: 'outcome',
    help: 'MCP tool calls: done, refused (the caller is told what to do), failed',
    values: ['done', 'refused', 'failed'],
  },
  requests: {
    name: 'ams_http_requests_total',
    label: 'status',
    help: 'HTTP requests by status class; aborted: the client left before the response',
    values: ['2xx', '3xx', '4xx', '5xx', 'aborted'],
  },
}

/** Time in milliseconds that a scrape waits for values from outside the process. */
const TIMEOUT_MS = 1000

type Values = Record<string, number>

/**
 * One process's metrics in their own registry. Counters are incremented; gauges are read when they are
 * scraped.
 */
export class ServiceMetrics implements Metrics {
  readonly #registry = new Registry()
  readonly #counters: Record<Counted, Counter>

  constructor() {
    const registers = [this.#registry]
    const counter = ([what, { name, label, help, values }]: [string, Counting]) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      for (const value of values) counter.inc({ [label]: value }, 0)
      return [what, counter] as const
    }
    this.#counters = Object.fromEntries(Object.entries(COUNTERS).map(counter)) as Record<Counted, Counter>
    collectDefaultMetrics({ register: this.#registry })
  }

  count(what: Counted, outcome: string): void {
    this.#counters[what].inc({ [COUNTERS[what].label]: outcome })
  }

  /** Registers a number that is read when it is scraped. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read())
      },
    })
  }

  /** Registers numbers by a label. Values that cannot be read in time are left out of the response. */
  gauges(name: string, help: string, label: string, read: () => Values | Promise<Values>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      async collect() {
        this.reset()
        for (const [value, number] of Object.entries(await inTime(read))) this.set({ [label]: value }, number)
      },
    })
  }

  /** Returns all metrics in Prometheus' text format. Never rejects because of the database. */
  async page(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() }
  }
}

const inTime = async (read: () => Values | Promise<Values>): Promise<Values> => {
  const late = new AbortController()
  const nothing = systemClock.sleep(TIMEOUT_MS, late.signal).then(() => ({}))
  const values = await Promise.race([Promise.resolve(read()).catch(() => ({})), nothing])
  late.abort()
  return values
}
