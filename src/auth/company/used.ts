import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../db/client.ts'
import { hashToken } from '../../workspace/index.ts'

/** What a provider has confirmed, and counts once: a sign-in by its state, a logout by the id of its token. */

/** How long it is remembered: at least as long as it would be valid. */
const USED_MS = 20 * 60_000

const USE = `insert into oauth_record (kind, hash, payload, expires_at) values ($1, $2, '{}', $3) on conflict do nothing returning kind`
const USED = 'select from oauth_record where kind = $1 and hash = $2'

type Deps = Pick<Db, 'pool'> & { clock: Clock }

/** Notes that it has counted. Returns whether it had not before. */
export const use = async (
  { pool, clock }: Deps,
  kind: 'CompanySignIn' | 'CompanyLogout',
  id: string,
): Promise<boolean> => {
  const until = new Date(clock.now().getTime() + USED_MS)
  return (await pool.query(USE, [kind, hashToken(id), until])).rows.length === 1
}

export const isUsed = async ({ pool }: Deps, kind: 'CompanyLogout', id: string): Promise<boolean> =>
  (await pool.query(USED, [kind, hashToken(id)])).rows.length > 0
