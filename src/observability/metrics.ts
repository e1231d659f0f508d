import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { inTime } from '../core/clock.ts'
import type { Counted, Metrics, Timed } from '../core/metrics.ts'
import { COMMIT, VERSION } from '../core/version.ts'
import { COUNTERS, type Counting, HISTOGRAMS, type Timing } from './definitions.ts'

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
  readonly #histograms: Record<Timed, Histogram>

  constructor() {
    const registers = [this.#registry]
    const counter = ([what, { name, label, help, values }]: [string, Counting]) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      for (const value of values) counter.inc({ [label]: value }, 0)
      return [what, counter] as const
    }
    this.#counters = Object.fromEntries(Object.entries(COUNTERS).map(counter)) as Record<Counted, Counter>
    const histogram = ([what, { name, label, help, values, buckets }]: [string, Timing]) => {
      const histogram = new Histogram({ name, help, labelNames: [label], buckets: [...buckets], registers })
      for (const value of values) histogram.zero({ [label]: value })
      return [what, histogram] as const
    }
    this.#histograms = Object.fromEntries(Object.entries(HISTOGRAMS).map(histogram)) as Record<
      Timed,
      Histogram
    >
    this.#describeBuild()
    collectDefaultMetrics({ register: this.#registry })
  }

  #describeBuild(): void {
    const help = 'Version and commit of the service, and version of Node.js; always 1'
    const labelNames = ['version', 'commit', 'node']
    const build = new Gauge({ name: 'ams_build_info', help, labelNames, registers: [this.#registry] })
    build.set({ version: VERSION, commit: COMMIT ?? 'unknown', node: process.versions.node }, 1)
  }

  count(what: Counted, outcome: string): void {
    this.#counters[what].inc({ [COUNTERS[what].label]: outcome })
  }

  observe(what: Timed, label: string, seconds: number): void {
    this.#histograms[what].observe({ [HISTOGRAMS[what].label]: label }, seconds)
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
        for (const [value, number] of Object.entries(await valuesInTime(read)))
          this.set({ [label]: value }, number)
      },
    })
  }

  /** Returns all metrics in Prometheus' text format. Never rejects because of the database. */
  async page(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() }
  }
}

const valuesInTime = async (read: () => Values | Promise<Values>): Promise<Values> =>
  (await inTime(
    Promise.resolve(read()).catch(() => ({})),
    TIMEOUT_MS,
  )) ?? {}
