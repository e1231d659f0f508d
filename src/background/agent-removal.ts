import { findDeleted, noteEmpty } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { Routine } from '../core/routine.ts'
import type { Db } from '../db/client.ts'
import { deleteEventsOf } from '../event/index.ts'
import { deleteMessagesOf } from '../message/index.ts'
import { deleteDeliveriesOf } from '../webhook/index.ts'

type RemovalDeps = Db & { clock: Clock; log: Logger }

const SMALL_ROWS = 2_000

/** Deletes a batch of what a deleted agent has left. Returns whether there may be more. */
const removeSome = async (deps: RemovalDeps, agentId: string): Promise<boolean> => {
  const messages = await deleteMessagesOf(deps, agentId)
  if (messages === null) return false
  const events = await deleteEventsOf(deps, agentId, SMALL_ROWS)
  const deliveries = await deleteDeliveriesOf(deps, agentId, SMALL_ROWS)
  if (messages + events + deliveries > 0) return true
  await noteEmpty(deps, agentId)
  return false
}

/**
 * Deletes what an agent that was just deleted has left, if that is little, so that the usage falls at once. The
 * worker does the rest; a failure is left to it too.
 */
export const removeAtOnce =
  (deps: RemovalDeps) =>
  async (agentId: string): Promise<void> => {
    try {
      await removeSome(deps, agentId)
    } catch (error) {
      deps.log.warn({ agentId, error: messageOf(error) }, 'could not delete the messages of an agent yet')
    }
  }

const EVERY_MS = 5_000

/**
 * The worker that deletes what deleted agents have left, as much of the time as it leaves the database alone, so
 * that others barely notice. After a crash it continues where it was. Any number of processes may run one.
 */
export const createRemover = (deps: RemovalDeps): Routine =>
  new Routine(
    async (signal) => {
      for (const agentId of await findDeleted(deps)) {
        for (let more = true; more && !signal.aborted; ) {
          const began = performance.now()
          more = await removeSome(deps, agentId)
          if (more) await deps.clock.sleep(performance.now() - began, signal)
        }
      }
    },
    {
      clock: deps.clock,
      log: deps.log,
      everyMs: EVERY_MS,
      failed: 'could not delete the rows of deleted agents; retrying',
    },
  )
