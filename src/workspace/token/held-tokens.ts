import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { isLimited } from './session-token.ts'
import { TOKEN_REVOKED } from './token.ts'

/**
 * Interval in milliseconds at which tokens are checked, in case a notification was lost: the open streams of
 * a revoked token are guaranteed to end within a second in every process.
 */
export const TOKEN_CHECK_MS = 750

const GONE = {
  name: 'tokens that are gone',
  text: `select held.id from unnest($1::uuid[]) as held(id) where not exists (select 1 from token t where t.id = held.id and not ${isLimited('t')})`,
}

/** Returns those of these tokens that no longer exist, or allow nothing that is open. */
const findGoneTokens = async ({ pool }: Pick<Db, 'pool'>, ids: readonly string[]): Promise<Set<string>> => {
  const { rows } = await pool.query<{ id: string }>({ ...GONE, values: [ids] })
  return new Set(rows.map(({ id }) => id))
}

type Deps = Db & { notifier: Pick<Notifier, 'subscribe'>; log: Logger }

/**
 * Calls `end` with tokens that no longer exist, among those that `held` returns because they have something
 * open in this process. Returns a function that stops it.
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
      log.warn({ error: messageOf(error) }, 'could not check for revoked tokens')
    } finally {
      looking = false
    }
  }
  const timer = setInterval(() => void look(), TOKEN_CHECK_MS)
  const unsubscribe = notifier.subscribe(TOKEN_REVOKED, (tokenId) => end(new Set([tokenId])))
  return () => {
    clearInterval(timer)
    unsubscribe()
  }
}
