import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { OpenDb } from '../client.ts'
import type { Notifier } from '../notify.ts'
import { DISTRIBUTED } from './distribute.ts'

/** Notices for a running service that its database is distributed. */
export const followDistribution = (
  { pool, distribution }: Pick<OpenDb, 'pool' | 'distribution'>,
  { notifier, log }: { notifier: Notifier; log: Logger },
): void => {
  const ask = async (): Promise<void> => {
    if (distribution.isDistributed) return
    try {
      await distribution.ask(pool)
      if (distribution.isDistributed) log.info({}, 'the database is distributed now')
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not ask whether the database is distributed')
    }
  }
  notifier.subscribe(DISTRIBUTED, () => void ask())
  notifier.onReconnect(() => void ask())
}
