import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { Routine } from '../core/routine.ts'
import type { Db } from '../db/client.ts'
import type { Dialler } from '../outgoing-http/dial.ts'
import type { Keyring } from '../workspace/keyring.ts'
import { sayOutcome } from './delivery/attempt.ts'
import { subscriptionHeader } from './delivery/policy.ts'
import { deliver } from './delivery/post.ts'
import { signedHeaders } from './delivery/sign.ts'
import { keysAt, openKeys } from './secret.ts'

/** What an ended subscription's receiver is told: the Events extension's Forbidden. */
const TERMINATED = {
  type: 'terminated',
  error: { code: -32012, message: 'The token or the agent of this subscription no longer exists.' },
}

interface Farewell {
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
const AGAIN_MS = 60_000

/** Takes what is due for a minute, by the database's clock: a killed worker's goes to another after that. */
const claim = async ({ pool }: Db): Promise<Farewell[]> => {
  const { rows } = await pool.query<Farewell>({
    name: 'claim farewells',
    text: `update webhook_farewell set attempts = attempts + 1, due_at = now() + ${AGAIN_MS} * interval '1 ms'
            where id in (select id from webhook_farewell where due_at <= now() order by due_at limit ${MAX} for update skip locked)
           returning id, workspace_id, url, secret, previous_secret, previous_until, subscription, attempts`,
  })
  return rows
}

/** Says it once. Returns whether that was the last time: it was heard, or there have been enough attempts. */
const say = async (deps: TerminationNoticeDeps, farewell: Farewell): Promise<boolean> => {
  const keys = await openKeys(deps, farewell)
  if (!keys) return true
  const body = Buffer.from(JSON.stringify(TERMINATED))
  const now = deps.clock.now()
  const id = `msg_terminated_${farewell.id.replaceAll('-', '')}`
  const headers = signedHeaders(keysAt(keys, now), id, now, body, subscriptionHeader(farewell.subscription))
  const connection = deps.dialler.connectionTo(farewell.url)
  const outcome = await deliver(connection, { headers, body, now })
  connection.destroy(new Error('done'))
  deps.log.info(
    { subscription: farewell.subscription, outcome: sayOutcome(outcome) },
    'the end of a subscription was told',
  )
  return outcome.kind !== 'failed' || farewell.attempts >= MAX_ATTEMPTS
}

const sayAll = async (deps: TerminationNoticeDeps): Promise<void> => {
  const due = await claim(deps)
  const said = await Promise.all(
    due.map(async (farewell) => ((await say(deps, farewell)) ? farewell.id : null)),
  )
  const done = said.filter((id) => id !== null)
  if (done.length > 0)
    await deps.pool.query('delete from webhook_farewell where id = any($1::uuid[])', [done])
}

/** Tells the receivers of subscriptions that ended before their time. */
export const createTerminationNotices = (deps: TerminationNoticeDeps): Routine => {
  const { clock, log } = deps
  return new Routine(() => sayAll(deps), {
    everyMs: EVERY_MS,
    failed: 'could not tell that subscriptions ended',
    clock,
    log,
  })
}
