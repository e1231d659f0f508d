import type { Progress } from '../../core/channel/outbound.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { LeaseLost, type SendJob } from '../stored/send-job.ts'

interface ProgressDeps extends Db {
  clock: Clock
  log: Logger
}

/**
 * Delay before a failed write is retried while the database is unavailable. A lease is long enough for
 * several retries.
 */
const RETRY_MS = 500

/** Runs `write`, retrying while the database is unavailable; gives up when `signal` aborts. */
export const oncePossible = async <T>(
  { clock, log }: ProgressDeps,
  messageId: string,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> => {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error
      log.warn(
        { messageId },
        'could not store the result of an attempt to send: database unavailable; retrying',
      )
      await clock.sleep(RETRY_MS, signal)
    }
  }
}

/**
 * Writes the part at its index, so that writing it twice has no effect; only the worker that holds the job
 * may write it.
 */
const NOTE_PART = {
  name: 'note sent part',
  text: `update recipient set parts = parts[1:$3] || $4::text, updated_at = $5
          where message_id = $1 and agent_id = $8 and address = $2
            and exists (select from job where agent_id = $8 and id = $6 and lease_owner = $7)
         returning message_id`,
}

/** Tracks the parts of a message that each of its recipients has, as stored in the database. */
export const progressOf = (
  deps: ProgressDeps,
  message: { id: string; recipients: readonly { address: string; parts: readonly string[] }[] },
  job: SendJob,
  signal: AbortSignal,
): Progress => {
  const had = new Map(message.recipients.map(({ address, parts }) => [address, [...parts]]))
  return {
    of: (recipient) => had.get(recipient) ?? [],
    took: async (recipient, partId) => {
      const parts = had.get(recipient) ?? []
      const now = deps.clock.now()
      const values = [message.id, recipient, parts.length, partId, now, job.id, job.owner, job.agentId]
      const { rows } = await oncePossible(deps, message.id, signal, () =>
        deps.pool.query({ ...NOTE_PART, values }),
      )
      if (rows.length === 0) throw new LeaseLost('the lease of the job was lost')
      had.set(recipient, [...parts, partId])
    },
  }
}
