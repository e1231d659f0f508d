import { notFound } from '../core/errors.ts'
import type { Domain, Prisma } from '../db/generated/prisma/client.ts'
import { audit, callExternally, type ExternalCallDeps, type Viewer } from '../workspace/index.ts'
import { type CheckedRecord, checkRecords, type Verdict, verdictOf } from './check.ts'
import { dkimKeys } from './dkim.ts'
import { type DomainDeps, findDomain, type StoredFinding } from './domain.ts'
import { type Ask, createAsk } from './lookup.ts'
import { wantedRecords } from './record.ts'
import { stateAfterCheck } from './state.ts'
import { type NotifyOwnersDeps, notifyOwners } from './tell.ts'

export interface VerifyDeps extends DomainDeps, NotifyOwnersDeps {
  /** Removes agents' addresses on a domain that now belongs to another workspace. */
  leaveDomain(tx: Prisma.TransactionClient, domainId: string): Promise<void>
}

interface Examination {
  records: CheckedRecord[]
  verdict: Verdict
  /** Domain of the workspace that has had the name until now, if its ownership record is certainly gone. */
  loser: Domain | null
}

const rivalOf = (
  { prisma }: { prisma: Pick<Prisma.TransactionClient, 'domain'> },
  { id, name }: Domain,
): Promise<Domain | null> => prisma.domain.findFirst({ where: { name, state: 'verified', id: { not: id } } })

const hasLost = async (deps: DomainDeps, rival: Domain, ask: Ask): Promise<boolean> => {
  const ownership = wantedRecords(rival, [], deps).filter(({ purpose }) => purpose === 'ownership')
  return (await checkRecords(ownership, ask, deps)).every(({ ok, certain }) => !ok && certain)
}

/** Looks up everything that determines the domain's state. Takes up to 6 seconds; nothing is stored. */
const examine = async (deps: DomainDeps, domain: Domain, signal?: AbortSignal): Promise<Examination> => {
  const keys = await dkimKeys(deps, { domain: domain.name, workspaceId: domain.workspaceId })
  const ask = createAsk(deps.freshResolver, signal)
  const records = await checkRecords(wantedRecords(domain, keys, deps), ask, deps)
  const verdict = verdictOf(records)
  const rival = verdict === 'right' ? await rivalOf(deps, domain) : null
  return { records, verdict, loser: rival && (await hasLost(deps, rival, ask)) ? rival : null }
}

const TAKEN =
  'Another workspace of this service proves ownership of the same domain: its record must be removed first'

/** When two workspaces both prove ownership, the first one keeps the domain. */
const withoutOwnership = (records: readonly CheckedRecord[]): CheckedRecord[] =>
  records.map((record) =>
    record.purpose === 'ownership' ? { ...record, ok: false, problem: TAKEN } : record,
  )

const toStore = (records: readonly CheckedRecord[]): Prisma.InputJsonArray =>
  records.map(
    ({ purpose, name, found, ok, problem }): StoredFinding => ({ purpose, name, found, ok, problem }),
  ) as never

/** The domain before and after a check, and the other workspaces' domains that lost the name to it. */
interface Outcome {
  before: Domain
  after: Domain
  losers: Domain[]
}

/** What a workspace may have a name by. */
const CLAIMS: Prisma.DomainWhereInput[] = [
  { state: 'verified' },
  { addresses: { some: {} } },
  { catchAllAgentId: { not: null } },
]

/**
 * A name has one owner: takes it from all other workspaces that had it verified, or still have addresses or a catch-all
 * agent on it. Returns their domains.
 */
const supersede = async (
  deps: VerifyDeps,
  tx: Prisma.TransactionClient,
  { id, name }: Domain,
): Promise<Domain[]> => {
  const where = { name, id: { not: id }, OR: CLAIMS }
  const losers = await tx.domain.findMany({ where })
  await tx.domain.updateMany({
    where: { id: { in: losers.map((loser) => loser.id) } },
    data: { state: 'broken', failures: 0, catchAllAgentId: null },
  })
  for (const loser of losers) await deps.leaveDomain(tx, loser.id)
  return losers
}

/** Stores the result of a check. Throws `not_found` when the domain no longer exists. */
const conclude = (
  deps: VerifyDeps,
  id: string,
  examination: Examination,
  asked: boolean,
): Promise<Outcome> => {
  const now = deps.clock.now()
  return deps.prisma.$transaction(async (tx) => {
    const before = await tx.domain.findUnique({ where: { id } })
    if (!before) throw notFound('domain')
    // A concurrent second proof of the same name waits here, and then finds it taken.
    await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${`domain:${before.name}`}, 0))) as locked`
    const rival = examination.verdict === 'right' ? await rivalOf({ prisma: tx }, before) : null
    const taken = rival !== null && rival.id !== examination.loser?.id
    const { recheckInMs, ...state } = stateAfterCheck(before, taken ? 'wrong' : examination.verdict, {
      asked,
    })
    const isNew = state.state === 'verified' && before.state !== 'verified'
    const losers = isNew ? await supersede(deps, tx, before) : []
    const findings = toStore(taken ? withoutOwnership(examination.records) : examination.records)
    const data = { ...state, findings, checkedAt: now, recheckAt: new Date(now.getTime() + recheckInMs) }
    const { count } = await tx.domain.updateMany({ where: { id }, data })
    if (count === 0) throw notFound('domain')
    return { before, after: { ...before, ...data, findings: findings as Prisma.JsonValue }, losers }
  })
}

/**
 * Stores the result of an examination that a member or the schedule requested, and notifies the owners of
 * domains that lost their name.
 */
const settle = async (
  deps: VerifyDeps,
  { id }: Domain,
  examination: Examination,
  asked: boolean,
): Promise<Pick<Outcome, 'before' | 'after'>> => {
  const { before, after, losers } = await conclude(deps, id, examination, asked)
  for (const loser of losers) await notifyOwners(deps, loser, { lost: true })
  return { before, after }
}

/**
 * Runs a scheduled check of a domain's records and stores the result. Notifies the owners of domains that
 * lost their name.
 */
export const checkDomain = async (
  deps: VerifyDeps,
  domain: Domain,
  signal: AbortSignal,
): Promise<Pick<Outcome, 'before' | 'after'>> =>
  settle(deps, domain, await examine(deps, domain, signal), false)

/**
 * Checks a domain's records in DNS now. It is verified when ownership, MX and DKIM are correct and no other
 * workspace proves the name; problems are reported for each record. For members. Takes up to 6 seconds.
 * Throws `rate_limited` while too many of the token's requests wait for DNS.
 */
export const verifyDomain = async (
  deps: VerifyDeps & ExternalCallDeps,
  viewer: Viewer,
  domainId: string,
): Promise<Domain> => {
  const domain = await findDomain(deps, viewer, domainId)
  const examination = await callExternally(deps, viewer, (db) => examine({ ...deps, ...db }, domain))
  const { before, after } = await settle(deps, domain, examination, true)
  if (before.state !== after.state) {
    const detail = { domain: after.id, name: after.name, state: after.state }
    await audit(deps, viewer, { action: 'domain.verify', agentId: null, detail })
  }
  return after
}
