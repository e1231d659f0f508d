import { pruneConnections } from './agent/connection.ts'
import { Routine } from './core/routine.ts'
import { type RecheckDeps, recheckDomains } from './domain/recheck.ts'
import { pruneEvents } from './event/log.ts'
import { pruneJobs } from './job/send.ts'
import { askForReports, type OverdueDeps } from './message/overdue.ts'
import { type IncidentDeps, tellOwners } from './webhook/incident.ts'
import { pruneIdempotencyKeys } from './workspace/idempotency.ts'
import { pruneRates } from './workspace/rate-limits.ts'

const EVERY_MS = 10 * 60_000

type JanitorDeps = IncidentDeps & RecheckDeps & OverdueDeps

const prune = async (deps: JanitorDeps): Promise<void> => {
  const now = deps.clock.now()
  const gone = {
    events: await pruneEvents(deps, now),
    jobs: await pruneJobs(deps, now),
    idempotencyKeys: await pruneIdempotencyKeys(deps, now),
    rates: await pruneRates(deps, now),
    connections: await pruneConnections(deps, now),
  }
  deps.log.debug(gone, 'pruned')
}

const recheck = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const domains = await recheckDomains(deps, signal)
  if (domains > 0) deps.log.debug({ domains }, 'rechecked')
}

const ask = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const messages = await askForReports(deps, signal)
  if (messages > 0) deps.log.info({ messages }, 'asked what became of messages')
}

/**
 * Deletes what is past its time, looks again at what may have changed, and tells owners what they could not be told at once. Every process
 * with the worker's role does; what one has done, the others don't find.
 */
export const createJanitor = (deps: JanitorDeps): Routine[] => {
  const { clock, log } = deps
  const chore = (round: (signal: AbortSignal) => Promise<void>, failed: string) =>
    new Routine(round, { everyMs: EVERY_MS, failed, clock, log })
  return [
    chore(() => prune(deps), 'could not prune'),
    chore((signal) => recheck(deps, signal), 'could not recheck domains'),
    chore((signal) => ask(deps, signal), 'could not ask what became of messages'),
    chore(() => tellOwners(deps), 'could not look for webhooks that their owners must be told of'),
  ]
}
