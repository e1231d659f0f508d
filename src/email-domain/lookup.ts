import type { DnsResolver } from '../mail/index.ts'

/** The result of a DNS lookup for one name and type. */
export type Answer =
  | { status: 'found'; values: string[] }
  /** The record certainly does not exist. */
  | { status: 'absent' }
  /**
   * Unknown: the name servers failed, timed out or returned an invalid response. `code` is the c-ares code.
   */
  | { status: 'unknown'; code: string }

/** Time limit in milliseconds of all lookups of one check together. */
const TIMEOUT_MS = 6_000
const ABSENT = ['ENOTFOUND', 'ENODATA']

const isText = (part: unknown): part is string => typeof part === 'string'

/**
 * Returns the joined strings of a TXT record, `10 mx.example.com` for an MX record, null for anything else.
 */
const textOf = (record: unknown): string | null => {
  if (isText(record)) return record
  if (Array.isArray(record)) return record.every(isText) ? record.join('') : null
  const { priority, exchange } = record as { priority?: unknown; exchange?: unknown }
  return typeof priority === 'number' && isText(exchange)
    ? `${priority} ${exchange.replace(/\.$/, '').toLowerCase()}`
    : null
}

const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown }
  return isText(code) && /^E[A-Z0-9]{2,20}$/.test(code) ? code : 'EBADRESP'
}

const ask = async (resolver: DnsResolver, name: string, type: string): Promise<Answer> => {
  try {
    const records: unknown = await resolver(name, type)
    const values = Array.isArray(records) ? records.map(textOf).filter((value) => value !== null) : []
    return values.length > 0 ? { status: 'found', values } : { status: 'absent' }
  } catch (error) {
    const code = codeOf(error)
    return ABSENT.includes(code) ? { status: 'absent' } : { status: 'unknown', code }
  }
}

/** Looks up a name in DNS. Never rejects. */
export type Ask = (name: string, type: 'MX' | 'TXT') => Promise<Answer>

/**
 * Creates a lookup function whose lookups all end within 6 seconds, or as soon as `signal` aborts. Each name
 * and type is looked up once.
 */
export const createAsk = (resolver: DnsResolver, signal?: AbortSignal): Ask => {
  const known = new Map<string, Promise<Answer>>()
  const over = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])])
  const late = new Promise<Answer>((resolve) => {
    const giveUp = () => resolve({ status: 'unknown', code: 'ETIMEOUT' })
    if (over.aborted) giveUp()
    over.addEventListener('abort', giveUp, { once: true })
  })
  return (name, type) => {
    const key = `${type} ${name}`
    const answer = known.get(key) ?? Promise.race([ask(resolver, name, type), late])
    known.set(key, answer)
    return answer
  }
}
