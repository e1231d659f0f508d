import type { Clock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import { setNewest } from '../../../core/newest.ts'
import type { DnsResolver } from '../../verify/resolver.ts'
import type { Failure } from './result.ts'
import { parseStsPolicy, type StsPolicy } from './sts-policy.ts'

/** The policy that applies to a domain now, and why a newer one could not be read. */
export interface FoundPolicy {
  policy: StsPolicy | null
  failure: Failure | null
}

export interface StsPolicies {
  /** Never rejects: what cannot be read is in the result. */
  find(domain: string): Promise<FoundPolicy>
}

export interface StsOptions {
  resolver: DnsResolver
  /** Fetches a document over https, with a verified certificate and without redirects (RFC 8461 3.3). */
  get(url: string): Promise<Buffer>
  clock: Clock
}

interface Cached {
  /** Id in the domain's TXT record when the policy was fetched. */
  id: string
  policy: StsPolicy
  fetchedAt: number
}

const NONE: FoundPolicy = { policy: null, failure: null }
const MAX_DOMAINS = 10_000
/** Interval in milliseconds at which an unchanged policy is fetched again, which extends its validity. */
const REFRESH_MS = 24 * 3_600_000
/** Interval in milliseconds between attempts to fetch a policy (RFC 8461 3.3). */
const RETRY_MS = 5 * 60_000

/** Returns the id of a policy from the TXT records of `_mta-sts`; null if there is none (RFC 8461 3.1). */
const idOf = (records: readonly string[]): string | null => {
  const own = records.filter((record) => /^v=STSv1\s*(?:;|$)/.test(record))
  return own.length === 1 ? (/;\s*id=([a-zA-Z0-9]{1,32})\s*(?:;|$)/.exec(own[0]!)?.[1] ?? null) : null
}

const isCertificateError = (error: unknown): boolean =>
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(
    String((error as NodeJS.ErrnoException).code ?? ''),
  )

/**
 * Finds MTA-STS policies (RFC 8461). They are cached in memory for as long as they are valid, so that blocking DNS
 * or https later does not remove them.
 */
export class StsPolicyCache implements StsPolicies {
  readonly #options: StsOptions
  readonly #cached = new Map<string, Cached>()
  readonly #failed = new Map<string, { id: string; at: number; failure: Failure }>()
  readonly #fetching = new Map<string, Promise<FoundPolicy>>()

  constructor(options: StsOptions) {
    this.#options = options
  }

  async find(domain: string): Promise<FoundPolicy> {
    const known = this.#known(domain)
    const id = await this.#publishedId(domain)
    if (id === null) return known ? { policy: known.policy, failure: null } : NONE
    const now = this.#now()
    if (known && known.id === id && now < known.fetchedAt + REFRESH_MS)
      return { policy: known.policy, failure: null }
    const failed = this.#failed.get(domain)
    if (failed && failed.id === id && now < failed.at + RETRY_MS)
      return { policy: known?.policy ?? null, failure: failed.failure }
    const fetching = this.#fetching.get(domain) ?? this.#fetch(domain, id)
    this.#fetching.set(domain, fetching)
    return fetching.finally(() => this.#fetching.delete(domain))
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }

  /** The cached policy while it is valid. */
  #known(domain: string): Cached | null {
    const cached = this.#cached.get(domain)
    return cached && this.#now() < cached.fetchedAt + cached.policy.maxAge * 1000 ? cached : null
  }

  async #publishedId(domain: string): Promise<string | null> {
    try {
      const records = (await this.#options.resolver(`_mta-sts.${domain}`, 'TXT')) as string[][]
      return idOf(records.map((parts) => parts.join('')))
    } catch {
      return null
    }
  }

  async #fetch(domain: string, id: string): Promise<FoundPolicy> {
    const read = await this.#read(domain)
    if ('policy' in read) {
      this.#failed.delete(domain)
      setNewest(this.#cached, domain, { id, policy: read.policy, fetchedAt: this.#now() }, MAX_DOMAINS)
      return { policy: read.policy, failure: null }
    }
    setNewest(this.#failed, domain, { id, at: this.#now(), failure: read }, MAX_DOMAINS)
    return { policy: this.#known(domain)?.policy ?? null, failure: read }
  }

  async #read(domain: string): Promise<{ policy: StsPolicy } | Failure> {
    try {
      const bytes = await this.#options.get(`https://mta-sts.${domain}/.well-known/mta-sts.txt`)
      const policy = parseStsPolicy(bytes.toString())
      return policy ? { policy } : { type: 'sts-policy-invalid', reason: null }
    } catch (error) {
      const type = isCertificateError(error) ? 'sts-webpki-invalid' : 'sts-policy-fetch-error'
      return { type, reason: messageOf(error).slice(0, 200) }
    }
  }
}
