import { endLapsedLeases, guardAgents, pruneAlbums, pruneConnections } from '../agent/index.ts'
import { type ConnectedAppDeps, pruneApps, pruneSignInLinks } from '../auth/index.ts'
import { type SweepDeps, sweepBlobs } from '../blob/index.ts'
import { SEALED_COLUMNS } from '../boot/sealed-columns.ts'
import { Routine } from '../core/routine.ts'
import type { RootDb } from '../db/client.ts'
import { type RecheckDeps, recheckDomains } from '../email-domain/index.ts'
import { pruneEvents } from '../event/index.ts'
import {
  endSnoozes,
  type OverdueDeps,
  pruneMessages,
  pruneRefused,
  pruneSendJobs,
  RawRetention,
  rejectExpired,
  requestOverdueReports,
} from '../message/index.ts'
import { expireQuestions, pruneQuestions } from '../question/index.ts'
import { pruneSecrets } from '../secret/index.ts'
import { sendTlsReports, type TlsReportDeps } from '../tls-report/index.ts'
import { type IncidentDeps, notifyOwners, pruneDeliveries, pruneSubscriptions } from '../webhook/index.ts'
import {
  finishDataKeys,
  type Keyring,
  pruneChanges,
  pruneDayCounts,
  pruneIdempotencyKeys,
  pruneRates,
  pruneSessions,
} from '../workspace/index.ts'

const INTERVAL_MS = 10 * 60_000
/** Interval at which lapsed leases are ended: a third of a lease. */
const LEASES_MS = 15_000
/** Interval at which threads that were postponed until now are opened. */
const SNOOZES_MS = 5_000
/** Shortest pause between looks at questions that nobody answered in time. */
const QUESTIONS_MS = 1_000
/** Interval at which the object store is rid of the contents of deleted messages. */
const BLOBS_MS = 60_000

type JanitorDeps = RootDb &
  IncidentDeps &
  RecheckDeps &
  OverdueDeps &
  ConnectedAppDeps &
  TlsReportDeps &
  SweepDeps & { keyring: Keyring }

const prune = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const now = deps.clock.now()
  const gone = {
    events: await pruneEvents(deps, now, signal),
    sends: await pruneSendJobs(deps, now, signal),
    deliveries: await pruneDeliveries(deps, now, signal),
    idempotencyKeys: await pruneIdempotencyKeys(deps, now, signal),
    rates: await pruneRates(deps, now, signal),
    connections: await pruneConnections(deps, now, signal),
    albums: await pruneAlbums(deps, now, signal),
    changes: await pruneChanges(deps, now, signal),
    subscriptions: await pruneSubscriptions(deps, now),
    apps: await pruneApps(deps, now, signal),
    sessions: await pruneSessions(deps, now),
    counts: await pruneDayCounts(deps, now, signal),
    signInLinks: await pruneSignInLinks(deps, now),
    secrets: await pruneSecrets(deps, now),
    questions: await pruneQuestions(deps, now, signal),
  }
  deps.log.debug(gone, 'deleted expired rows')
}

const pruneMail = async (deps: JanitorDeps, raws: RawRetention, signal: AbortSignal): Promise<void> => {
  const gone = {
    refused: await pruneRefused(deps, signal),
    messages: await pruneMessages(deps, signal),
    originals: await raws.prune(signal),
  }
  if (gone.refused + gone.messages + gone.originals > 0) deps.log.debug(gone, 'deleted old messages')
}

const sweep = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const objects = await sweepBlobs(deps, signal)
  if (objects > 0) deps.log.info({ objects }, 'deleted unused objects')
}

const recheck = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const domains = await recheckDomains(deps, signal)
  if (domains > 0) deps.log.debug({ domains }, 'rechecked domains')
}

const reject = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const messages = await rejectExpired(deps, signal)
  if (messages > 0) deps.log.info({ messages }, 'rejected messages that nobody approved in time')
}

const ask = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const messages = await requestOverdueReports(deps, signal)
  if (messages > 0) deps.log.info({ messages }, 'requested overdue delivery reports')
}

const report = async (deps: JanitorDeps, signal: AbortSignal): Promise<void> => {
  const reports = await sendTlsReports(deps, signal)
  if (reports > 0) deps.log.info({ reports }, 'sent reports about TLS')
}

/**
 * Creates the maintenance routines: they delete expired rows, recheck domains, request overdue reports and
 * send pending notifications to owners. They run in every process with the worker role; work done by one
 * process is not repeated by the others.
 */
export const createJanitor = (deps: JanitorDeps): Routine[] => {
  const { clock, log } = deps
  const chore = (round: (signal: AbortSignal) => Promise<void>, failed: string) =>
    new Routine(round, { everyMs: INTERVAL_MS, failed, clock, log })
  const raws = new RawRetention(deps)
  return [
    chore((signal) => prune(deps, signal), 'could not delete expired rows'),
    chore((signal) => pruneMail(deps, raws, signal), 'could not delete old messages'),
    chore(
      async () => void (await finishDataKeys({ ...deps, sealed: SEALED_COLUMNS }, { due: true })),
      'could not delete old data keys',
    ),
    chore(async () => void (await guardAgents(deps)), 'could not guard the secrets of agents'),
    chore((signal) => recheck(deps, signal), 'could not recheck domains'),
    chore((signal) => reject(deps, signal), 'could not reject messages that nobody approved in time'),
    chore((signal) => ask(deps, signal), 'could not request overdue delivery reports'),
    chore((signal) => report(deps, signal), 'could not send reports about TLS'),
    chore(() => notifyOwners(deps), 'could not notify owners of failing webhooks'),
    new Routine((signal) => sweep(deps, signal), {
      everyMs: BLOBS_MS,
      failed: 'could not delete unused objects; retrying',
      clock,
      log,
    }),
    new Routine((signal) => endSnoozes(deps, clock.now(), signal), {
      everyMs: SNOOZES_MS,
      failed: 'could not open postponed threads; retrying',
      clock,
      log,
    }),
    new Routine(async (signal) => clock.sleep((await expireQuestions(deps, signal)) - QUESTIONS_MS, signal), {
      everyMs: QUESTIONS_MS,
      failed: 'could not end questions that nobody answered in time; retrying',
      clock,
      log,
    }),
    new Routine(() => endLapsedLeases(deps, clock.now()), {
      everyMs: LEASES_MS,
      failed: 'could not end lapsed leases',
      clock,
      log,
    }),
  ]
}
