import type { Ask } from './lookup.ts'
import { parentsOf } from './name.ts'
import type { MailPlace, Purpose, WantedRecord } from './record.ts'

/** What DNS contains for a wanted record. */
export interface Finding {
  /** At most 10 values, each truncated to 500 characters. */
  found: string[]
  ok: boolean
  /** What to do about it, in words; null when the record is correct. */
  problem: string | null
  /** False when DNS did not respond: then `problem` says nothing about the record. */
  certain: boolean
}

const MAX_SHOWN = 10
const MAX_SHOWN_LENGTH = 500

/**
 * Returns a value that is safe for JSON, PostgreSQL and a terminal: it comes from a stranger's name server.
 */
const shown = (value: string): string => {
  const line = value.replace(/\p{Cc}+/gu, ' ').toWellFormed()
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH - 1).toWellFormed()}…` : line
}

const finding = (values: readonly string[], problem: string | null, certain = true): Finding => ({
  found: values.slice(0, MAX_SHOWN).map(shown),
  ok: problem === null,
  problem,
  certain,
})

/**
 * Looks up the record and checks its values; `relevant` leaves out those that have the same name for other
 * purposes.
 */
const judged = async (
  ask: Ask,
  { name, type }: Pick<WantedRecord, 'name' | 'type'>,
  judge: (values: string[]) => string | null,
  relevant: (value: string) => boolean = () => true,
): Promise<Finding> => {
  const answer = await ask(name, type)
  if (answer.status === 'unknown')
    return finding([], `DNS gave no answer (${answer.code}); the check is retried later`, false)
  const values = answer.status === 'found' ? answer.values.filter(relevant) : []
  return finding(values, values.length === 0 ? 'There is no such record' : judge(values))
}

type CheckRecord = (record: WantedRecord, ask: Ask, place: MailPlace) => Promise<Finding>

const checkOwnership: CheckRecord = async (record, ask) =>
  judged(ask, record, (values) =>
    values.some((value) => value.trim() === record.value) ? null : 'The record has a different value',
  )

/** Mail must come here first: a server of the same priority would get half of it. */
const checkMx: CheckRecord = async (record, ask) =>
  judged(ask, record, (values) => {
    const servers = values.map((value) => ({
      priority: Number.parseInt(value, 10),
      host: value.replace(/^\d+ /, ''),
    }))
    const ours = servers.filter(({ host }) => host === record.value).map(({ priority }) => priority)
    if (ours.length === 0) return 'The record points to a different host'
    const first = servers.find(({ host, priority }) => host !== record.value && priority <= Math.min(...ours))
    return first
      ? `Mail also goes to ${shown(first.host)}, with the same or a higher priority: give that record a higher preference number than ours, or remove it`
      : null
  })

const tagOf = (record: string, tag: string): string | undefined =>
  record
    .replace(/\s/g, '')
    .split(';')
    .find((part) => part.startsWith(`${tag}=`))
    ?.slice(tag.length + 1)

const checkDkim: CheckRecord = async (record, ask) =>
  judged(ask, record, (values) => {
    if (values.length > 1) return 'There is more than one record: receivers may use any or none of them'
    const key = tagOf(values[0]!, 'p')
    if (key === tagOf(record.value, 'p')) return null
    return key === undefined || key === ''
      ? 'The record contains no key'
      : 'The record contains a different key, or only a part of this one'
  })

const isSpf = (value: string): boolean => /^v=spf1(?: |$)/i.test(value)

const checkSpf: CheckRecord = async (record, ask, { mailDomain, mailHost }) => {
  const naming = [`include:${mailDomain}`, `redirect=${mailDomain}`, `a:${mailHost}`, 'mx']
  const names = (value: string) =>
    value
      .toLowerCase()
      .split(/ +/)
      .some((term) => naming.includes(term.replace(/^\+/, '')))
  const judge = (values: string[]) => {
    if (values.length > 1)
      return 'There is more than one SPF record: receivers ignore all of them (RFC 7208 4.5)'
    return names(values[0]!) ? null : `Add include:${mailDomain} to the record, before its “all”`
  }
  return judged(ask, record, judge, isSpf)
}

const isDmarc = (value: string): boolean => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(value)

const judgeDmarc = (values: string[]): string | null => {
  if (values.length > 1)
    return 'There is more than one DMARC record: receivers ignore all of them (RFC 9989 4.10)'
  return /^(?:none|quarantine|reject)$/i.test(tagOf(values[0]!, 'p') ?? '')
    ? null
    : 'Its p= must be none, quarantine or reject'
}

/**
 * A domain without its own record inherits that of its organization: the one with the fewest labels, or that which says
 * `psd=n` (RFC 9989 4.10.2).
 */
const checkDmarc: CheckRecord = async (record, ask) => {
  const own = await judged(ask, record, judgeDmarc, isDmarc)
  if (own.ok || own.found.length > 0 || !own.certain) return own
  const names = parentsOf(record.name.replace(/^_dmarc\./, '')).map((name) => `_dmarc.${name}`)
  const inherited = await Promise.all(
    names.map((name) => judged(ask, { name, type: 'TXT' }, judgeDmarc, isDmarc)),
  )
  const found = inherited.filter((one) => one.found.length > 0)
  return found.find((one) => tagOf(one.found[0]!, 'psd') === 'n') ?? found.at(-1) ?? own
}

const CHECKS: Record<Purpose, CheckRecord> = {
  ownership: checkOwnership,
  mx: checkMx,
  dkim: checkDkim,
  spf: checkSpf,
  dmarc: checkDmarc,
}

export type CheckedRecord = WantedRecord & Finding

/** Looks up every record. Never rejects; takes as long as `ask` does. */
export const checkRecords = (
  records: readonly WantedRecord[],
  ask: Ask,
  place: MailPlace,
): Promise<CheckedRecord[]> =>
  Promise.all(
    records.map(async (record) => ({ ...record, ...(await CHECKS[record.purpose](record, ask, place)) })),
  )

/** The result for all required records together. */
export type Verdict = 'right' | 'wrong' | 'unknown'

/**
 * Returns the result for all required records together. One correct record is enough for each purpose (a DKIM
 * key and its successor). A record that is certainly wrong outweighs one that DNS did not return.
 */
export const verdictOf = (records: readonly CheckedRecord[]): Verdict => {
  const required = records.filter((record) => record.required)
  const byPurpose = [...new Set(required.map(({ purpose }) => purpose))].map((one) =>
    required.filter(({ purpose }) => purpose === one),
  )
  const open = byPurpose.filter((same) => !same.some(({ ok }) => ok))
  if (open.length === 0) return 'right'
  return open.some((same) => same.every(({ certain }) => certain)) ? 'wrong' : 'unknown'
}
