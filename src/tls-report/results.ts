import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { Routine } from '../core/routine.ts'
import type { Db } from '../db/client.ts'
import type { DnsResolver, TlsResult } from '../mail/index.ts'
import { reportAddresses } from './rua.ts'

export interface TlsResultsDeps extends Db {
  resolver: DnsResolver
  clock: Clock
  log: Logger
}

/** What is counted: a result without its domain. */
export type Detail = Omit<TlsResult, 'domain'>

interface Counted {
  day: string
  domain: string
  key: string
  detail: Detail
  count: number
}

const EVERY_MS = 60_000
/** Maximum number of different results between two writes; further ones are not counted. */
const MAX_COUNTED = 10_000

/**
 * Counts the results of TLS with other servers, and stores them for domains that ask for reports. Up to a
 * minute of them is lost in a crash.
 */
export class TlsResults {
  readonly #deps: TlsResultsDeps
  readonly #routine: Routine
  #counted = new Map<string, Counted>()

  constructor(deps: TlsResultsDeps) {
    this.#deps = deps
    this.#routine = new Routine(() => this.flush(), {
      ...{ clock: deps.clock, log: deps.log, everyMs: EVERY_MS },
      failed: 'could not store the results of TLS with other servers; retrying',
    })
  }

  readonly add = ({ domain, ...detail }: TlsResult): void => {
    const day = this.#deps.clock.now().toISOString().slice(0, 10)
    const key = createHash('sha256').update(JSON.stringify(detail)).digest('hex')
    const name = `${day} ${domain} ${key}`
    const known = this.#counted.get(name)
    if (known) known.count++
    else if (this.#counted.size < MAX_COUNTED) this.#counted.set(name, { day, domain, key, detail, count: 1 })
  }

  start(): void {
    this.#routine.start()
  }

  /** Stores what was counted. */
  async flush(): Promise<void> {
    const counted = [...this.#counted.values()]
    if (counted.length === 0) return
    this.#counted = new Map()
    const wanted = await this.#wanted(counted)
    if (wanted.length === 0) return
    try {
      await this.#deps.pool.query({
        text: `insert into tls_result (day, domain, key, detail, count)
               select day, domain, key, detail, count
                 from jsonb_to_recordset($1::jsonb) as r(day date, domain text, key text, detail jsonb, count int)
                order by day, domain, key
               on conflict (day, domain, key) do update set count = tls_result.count + excluded.count`,
        values: [JSON.stringify(wanted)],
      })
    } catch (error) {
      for (const { day, domain, key, ...rest } of wanted) {
        const since = this.#counted.get(`${day} ${domain} ${key}`)?.count ?? 0
        this.#counted.set(`${day} ${domain} ${key}`, { day, domain, key, ...rest, count: rest.count + since })
      }
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.#routine.stop()
    await this.flush().catch(() => undefined)
  }

  /** Those of domains that ask for reports, or whose name servers do not answer. */
  async #wanted(counted: readonly Counted[]): Promise<Counted[]> {
    const domains = [...new Set(counted.map(({ domain }) => domain))]
    const asks = async (domain: string) =>
      reportAddresses(this.#deps.resolver, domain).then(
        (addresses) => (addresses.length > 0 ? [domain] : []),
        () => [domain],
      )
    const asking = new Set((await Promise.all(domains.map(asks))).flat())
    return counted.filter(({ domain }) => asking.has(domain))
  }
}
