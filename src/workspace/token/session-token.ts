import type { RootDb } from '../../db/client.ts'
import type { Prisma, Token } from '../../db/generated/prisma/client.ts'
import { isWrongWay } from './company-rule.ts'
import { hashToken, newToken } from './token.ts'

/**
 * Sessions have a row in the table of tokens, so that they are revoked, limited and followed like tokens. They
 * are not bearer tokens: `authenticate` refuses them.
 */

/**
 * Whether a token `t` is that of a session that was opened in another way than its workspace requires by now: with neither a passkey
 * nor the company's account where a passkey is required, or not with the company's account where that is. Nothing that it has open
 * goes on; at most, it allows to register a passkey.
 */
export const isLimited = (t: string): string =>
  `exists (select from session s join workspace w on w.id = ${t}.workspace_id join member sm on sm.id = ${t}.member_id
            where s.token_id = ${t}.id and ${isWrongWay('sm', 'w', 's.way')})`

type Tx = Pick<Prisma.TransactionClient, 'token' | '$queryRaw'>

/** Creates the token of a session. It can be read only in the result's `token`. */
export const createSessionToken = async (
  tx: Tx,
  input: { workspaceId: string; memberId: string; createdAt: Date; expiresAt: Date; parentId: string | null },
): Promise<Token & { token: string }> => {
  const token = newToken('session')
  const hash = Uint8Array.from(hashToken(token))
  const row = await tx.token.create({ data: { ...input, hash, lastUsedAt: input.createdAt } })
  return { ...row, token }
}

/** Deletes those of the tokens that are of sessions and still exist; returns them. */
export const deleteSessionTokens = (
  tx: Tx,
  ids: readonly string[],
): Promise<{ id: string; memberId: string }[]> =>
  tx.$queryRaw`delete from token t using session s where s.token_id = t.id and t.id = any(${ids}::uuid[])
               returning t.id::text, t.member_id::text as "memberId"`

/** Deletes sessions that have ended. Idempotent; safe to run in any process at any time. */
export const pruneSessions = async ({ pool }: RootDb, now: Date): Promise<number> => {
  const { rowCount } = await pool.query(
    'delete from token t using session s where s.token_id = t.id and t.expires_at <= $1',
    [now],
  )
  return rowCount ?? 0
}
