import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import type { Notifier } from '../db/notify.ts'
import { TOKEN_REVOKED } from './token.ts'

/**
 * The net under the notifications, in ms: what a revoked token holds open is promised to end within a second
 * on every process, also when the word of it was lost.
 */
export const TOKENS_LOOK_MS = 750

const GONE = {
  name: 'tokens that are gone',
  text: 'select held.id from unnest($1::uuid[]) as held(id) where not exists (select 1 from token t where t.id = held.id)',
}

/** Those of these tokens that are gone. */
const findGoneTokens = async ({ pool }: Pick<Db, 'pool'>, ids: readonly string[]): Promise<Set<string>> => {
  const { rows } = await pool.query<{ id: string }>({ ...GONE, values: [ids] })
  return new Set(rows.map(({ id }) => id))
}

type Deps = Db & { notifier: Pick<Notifier, 'subscribe'>; log: Logger }

/**
 * Calls `end` with tokens that are gone of those that `held` says hold something open in this process.
 * Returns how to stop.
 */
export const watchTokens = (
  { pool, notifier, log }: Deps,
  held: () => readonly string[],
  end: (tokenIds: ReadonlySet<string>) => void,
): (() => void) => {
  let looking = false
  const look = async (): Promise<void> => {
    const ids = [...new Set(held())]
    if (ids.length === 0 || looking) return
    looking = true
    try {
      const gone = await findGoneTokens({ pool }, ids)
      if (gone.size > 0) end(gone)
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'tokens could not be looked at')
    } finally {
      looking = false
    }
  }
  const timer = setInterval(() => void look(), TOKENS_LOOK_MS)
  const unsubscribe = notifier.subscribe(TOKEN_REVOKED, (tokenId) => end(new Set([tokenId])))
  return () => {
    clearInterval(timer)
    unsubscribe()
  }
}
