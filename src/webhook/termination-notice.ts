import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { type Led, Routine } from '../core/routine.ts'
import type { Db } from '../db/client.ts'
import { raw, SKIP_LOCKED, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import type { Dialler } from '../outgoing-http/dial.ts'
import { isMoving, type Keyring } from '../workspace/index.ts'
import { deliver, describeOutcome } from './post/post.ts'
import { signedHeaders, subscriptionHeader } from './post/sign.ts'
import { keysAt, openKeys } from './secret.ts'

/** Notice sent to the receiver of a terminated subscription: Forbidden in the Events extension. */
const TERMINATED = {
  type: 'terminated',
  error: { code: -32012, message: 'The token or the agent of this subscription no longer exists.' },
}

interface Notice {
  id: string
  workspace_id: string
  url: string
  secret: Buffer
  previous_secret: Buffer | null
  previous_until: Date | null
  subscription: string
  attempts: number
}

export interface TerminationNoticeDeps extends Db {
  keyring: Keyring
  clock: Clock
  log: Logger
  dialler: Dialler
}

const EVERY_MS = 1_000
const MAX = 50
const MAX_ATTEMPTS = 5
const RETRY_MS = 60_000

/**
 * Claims due notices for one minute, by the database's clock: after that another worker may take over those
 * of a killed worker.
 */
const claim = async ({ pool }: Db): Promise<Notice[]> => {
  const { rows } = await pool.query<Notice>({
    name: 'claim farewells',
    ...composedOf(sql`update webhook_farewell set attempts = attempts + 1, due_at = now() + ${RETRY_MS} * interval '1 ms'
            where id in (select id from webhook_farewell where due_at <= now() and not ${raw(isMoving('webhook_farewell.workspace_id'))} order by due_at limit ${MAX} ${SKIP_LOCKED})
              and due_at <= now()
           returning id, workspace_id, url, secret, previous_secret, previous_until, subscription, attempts`),
  })
  return rows
}

/**
 * Makes one attempt. Returns whether it was the last: it was delivered, or there have been enough attempts.
 */
const sendNotice = async (deps: TerminationNoticeDeps, notice: Notice): Promise<boolean> => {
  const keys = await openKeys(deps, notice)
  if (!keys) return true
  const body = Buffer.from(JSON.stringify(TERMINATED))
  const now = deps.clock.now()
  const id = `msg_terminated_${notice.id.replaceAll('-', '')}`
  const headers = signedHeaders(keysAt(keys, now), id, now, body, subscriptionHeader(notice.subscription))
  const connection = deps.dialler.connectionTo(notice.url)
  const outcome = await deliver(connection, { headers, body, now })
  connection.destroy(new Error('done'))
  deps.log.info(
    { subscription: notice.subscription, outcome: describeOutcome(outcome) },
    'attempted to notify a receiver that its subscription ended',
  )
  return outcome.kind !== 'failed' || notice.attempts >= MAX_ATTEMPTS
}

const sendDueNotices = async (deps: TerminationNoticeDeps): Promise<void> => {
  const due = await claim(deps)
  const results = await Promise.all(
    due.map(async (notice) => ((await sendNotice(deps, notice)) ? notice.id : null)),
  )
  const done = results.filter((id) => id !== null)
  if (done.length > 0)
    await deps.pool.query('delete from webhook_farewell where id = any($1::uuid[])', [done])
}

/** Returns whether notices of a workspace are pending. */
export const hasNotices = async ({ prisma }: Pick<Db, 'prisma'>, workspaceId: string): Promise<boolean> =>
  (await prisma.webhookFarewell.count({ where: { workspaceId } })) > 0

/** Notifies the receivers of subscriptions that ended before they expired. */
export const createTerminationNotices = (deps: TerminationNoticeDeps & Led): Routine => {
  const { clock, log, isOurs } = deps
  return new Routine(() => sendDueNotices(deps), {
    everyMs: EVERY_MS,
    failed: 'could not process notices of ended subscriptions; retrying',
    clock,
    log,
    isOurs,
  })
}
