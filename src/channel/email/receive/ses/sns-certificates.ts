import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../../../core/clock.ts'
import { AppError, messageOf } from '../../../../core/errors.ts'

/** Certificates are replaced about once a year. */
const KEPT_MS = 24 * 3_600_000
const MAX_KEPT = 20
/** How long a URL that led to no certificate is not asked for again: SNS itself tries again after 20 s. */
const FAILED_MS = 15_000
const MAX_FAILED = 1000
/**
 * Look-ups within a minute, for one source and for all: whoever knows our topic's name can make up URLs.
 * Amazon needs one a day.
 */
const WINDOW_MS = 60_000
const MAX_LOOKUPS = { source: 5, all: 60 }

const unavailable = (cause: string) =>
  new AppError('unavailable', 'The certificate of Amazon SNS could not be fetched.', {
    cause,
    retryAfter: 20,
  })

const PEM = /^-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]{100,20000}-----END CERTIFICATE-----\s*$/

/**
 * OpenSSL would also find a certificate in the middle of other text, which is what an error page can be made
 * to say.
 */
const parse = (document: Buffer): X509Certificate => {
  if (!PEM.test(document.toString('latin1'))) throw new Error('the answer is not one certificate in PEM')
  return new X509Certificate(document)
}

/** The look-ups of the running minute. */
class Lookups {
  readonly #clock: Clock
  #window = 0
  #all = 0
  readonly #bySource = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts one, unless it is too many. */
  take(source: string): boolean {
    const window = Math.floor(this.#clock.now().getTime() / WINDOW_MS)
    if (window !== this.#window) this.#begin(window)
    const before = this.#bySource.get(source) ?? 0
    if (this.#all >= MAX_LOOKUPS.all || (source !== '' && before >= MAX_LOOKUPS.source)) return false
    this.#all++
    this.#bySource.set(source, before + 1)
    return true
  }

  #begin(window: number): void {
    this.#window = window
    this.#all = 0
    this.#bySource.clear()
  }
}

const keep = <Value>(map: Map<string, Value>, key: string, value: Value, most: number): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value!)
}

/**
 * Certificates by their URLs, fetched once a day. A URL that failed is not asked for again for some seconds,
 * and look-ups are counted by who caused them, so that a stranger can't make this service fetch without end.
 */
export class SnsCertificates {
  readonly #get: (url: string) => Promise<Buffer>
  readonly #clock: Clock
  readonly #known = new Map<string, { until: number; certificate: X509Certificate }>()
  readonly #failed = new Map<string, number>()
  readonly #pending = new Map<string, Promise<X509Certificate>>()
  readonly #lookups: Lookups

  constructor(get: (url: string) => Promise<Buffer>, clock: Clock) {
    this.#get = get
    this.#clock = clock
    this.#lookups = new Lookups(clock)
  }

  /** Throws `unavailable` when it can't be had. `source`: who asks, '' for nobody in particular. */
  async of(url: string, source: string): Promise<X509Certificate> {
    const now = this.#clock.now().getTime()
    const kept = this.#known.get(url)
    if (kept && kept.until > now) return kept.certificate
    const pending = this.#pending.get(url)
    if (pending) return pending
    if ((this.#failed.get(url) ?? 0) > now) throw unavailable('it failed some seconds ago')
    if (!this.#lookups.take(source)) throw unavailable('too many look-ups within a minute')
    const fetching = this.#fetch(url)
    this.#pending.set(url, fetching)
    return fetching
  }

  async #fetch(url: string): Promise<X509Certificate> {
    const now = this.#clock.now().getTime()
    try {
      const certificate = parse(await this.#get(url))
      keep(this.#known, url, { until: now + KEPT_MS, certificate }, MAX_KEPT)
      return certificate
    } catch (error) {
      keep(this.#failed, url, now + FAILED_MS, MAX_FAILED)
      throw unavailable(messageOf(error))
    } finally {
      this.#pending.delete(url)
    }
  }
}
