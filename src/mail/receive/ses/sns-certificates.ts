import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import { AppError, messageOf } from '../../../core/errors.ts'
import { setNewest } from '../../../core/newest.ts'
import { WindowCounts } from '../../../core/window-counts.ts'

/** Amazon replaces certificates about once a year. */
const CACHE_MS = 24 * 3_600_000
const MAX_CACHED = 20
/** Time during which a URL that failed is not fetched again. SNS itself retries after 20 s. */
const FAILED_MS = 15_000
const MAX_FAILED = 1000
/**
 * Maximum number of fetches per minute, per source and in total: anyone who knows our topic's name can make
 * up URLs. Amazon needs one a day.
 */
const WINDOW_MS = 60_000
const MAX_FETCHES = { source: 5, all: 60 }

const unavailable = (cause: string) =>
  new AppError('unavailable', 'The certificate of Amazon SNS could not be fetched.', {
    cause,
    retryAfter: 20,
  })

const PEM = /^-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]{100,20000}-----END CERTIFICATE-----\s*$/

/**
 * Parses a PEM document. OpenSSL would also accept a certificate embedded in other text, which an attacker
 * can get into an error page.
 */
const parse = (document: Buffer): X509Certificate => {
  if (!PEM.test(document.toString('latin1'))) throw new Error('the response is not a single PEM certificate')
  return new X509Certificate(document)
}

/**
 * Caches certificates by URL for a day. A URL that failed is not fetched again for some seconds, and fetches
 * are limited per source, so that a stranger cannot make this service fetch without end.
 */
export class SnsCertificates {
  readonly #get: (url: string) => Promise<Buffer>
  readonly #clock: Clock
  readonly #known = new Map<string, { until: number; certificate: X509Certificate }>()
  readonly #failed = new Map<string, number>()
  readonly #pending = new Map<string, Promise<X509Certificate>>()
  readonly #fetches: WindowCounts

  constructor(get: (url: string) => Promise<Buffer>, clock: Clock) {
    this.#get = get
    this.#clock = clock
    this.#fetches = new WindowCounts(clock, WINDOW_MS)
  }

  /**
   * Returns the certificate at `url`. Throws `unavailable` if it cannot be fetched. `source`: the sender of
   * the message; '' if unknown.
   */
  async of(url: string, source: string): Promise<X509Certificate> {
    const now = this.#clock.now().getTime()
    const cached = this.#known.get(url)
    if (cached && cached.until > now) return cached.certificate
    const pending = this.#pending.get(url)
    if (pending) return pending
    if ((this.#failed.get(url) ?? 0) > now) throw unavailable('an attempt failed a few seconds ago')
    if (!this.#mayFetch(source)) throw unavailable('too many fetches within a minute')
    const fetching = this.#fetch(url)
    this.#pending.set(url, fetching)
    return fetching
  }

  /** Counts a fetch, unless a limit has been reached. */
  #mayFetch(source: string): boolean {
    if (this.#fetches.of('') >= MAX_FETCHES.all) return false
    if (source !== '' && this.#fetches.of(source) >= MAX_FETCHES.source) return false
    this.#fetches.note('')
    if (source !== '') this.#fetches.note(source)
    return true
  }

  async #fetch(url: string): Promise<X509Certificate> {
    const now = this.#clock.now().getTime()
    try {
      const certificate = parse(await this.#get(url))
      setNewest(this.#known, url, { until: now + CACHE_MS, certificate }, MAX_CACHED)
      return certificate
    } catch (error) {
      setNewest(this.#failed, url, now + FAILED_MS, MAX_FAILED)
      throw unavailable(messageOf(error))
    } finally {
      this.#pending.delete(url)
    }
  }
}
