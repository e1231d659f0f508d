import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { type Notifier, notifyOnCommit } from '../../db/notify.ts'
import { TOKEN_REVOKED } from './token.ts'

interface RevocationDeps extends Db {
  notifier: Pick<Notifier, 'publish'>
}

/**
 * Runs a transaction that revokes tokens, whose ids are the result's `ended`. Its commit notifies every process: nothing is
 * lost if this one is killed. This one is notified before it returns, so that it refuses them from then on.
 */
export const revoking = async <Result extends { ended: readonly string[] }>(
  { prisma, notifier, afterCommit }: RevocationDeps,
  work: (tx: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> => {
  const result = await prisma.$transaction(async (tx) => {
    const done = await work(tx)
    await notifyOnCommit(tx, TOKEN_REVOKED, ...done.ended)
    return done
  })
  for (const id of result.ended) afterCommit(() => notifier.publish(TOKEN_REVOKED, id, { toOthers: false }))
  return result
}
