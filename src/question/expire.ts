import type { Clock } from '../core/clock.ts'
import type { Db, RootDb } from '../db/client.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { SKIP_LOCKED, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { announceEnd, type EndDeps, endQuestion } from './end.ts'

const MAX = 1_000
/** Longest time without a look, in milliseconds: what is asked meanwhile, in any process, can be answered for at least as long. */
const LOOK_MS = 60_000

/**
 * Ends the questions that nobody answered in time. Idempotent; any process may call it at any time. Returns in how many milliseconds
 * it has to be called again.
 */
export const expireQuestions = async (
  deps: EndDeps & { clock: Clock },
  signal: AbortSignal,
): Promise<number> => {
  const now = deps.clock.now()
  const soon = await deps.prisma.question.findMany({
    where: { status: 'open', expiresAt: { lte: new Date(now.getTime() + LOOK_MS) } },
    select: { id: true, expiresAt: true, agent: { select: { id: true, name: true } } },
    orderBy: { expiresAt: 'asc' },
    take: MAX,
  })
  for (const { id: questionId, expiresAt, agent } of soon) {
    if (expiresAt > now) return expiresAt.getTime() - now.getTime()
    if (signal.aborted) break
    const sender = { kind: 'agent' as const, id: agent.id, name: agent.name, email: null, phone: null }
    const events = await deps.prisma.$transaction((tx) =>
      endQuestion(tx, { questionId, agentId: agent.id, now, answer: null, sender, mayInstruct: false }),
    )
    if (events.length > 0) announceEnd(deps, agent.id, events)
  }
  return soon.length === MAX ? 0 : LOOK_MS
}

/** How long a question is kept after its time is over. @limit Questions */
const KEPT_DAYS = 30

const DELETE = composedOf(sql`
  with gone as (
    delete from question q using (
      select id, agent_id from question where status <> 'open' and expires_at < $1 order by expires_at limit $2 ${SKIP_LOCKED}
    ) old
     where q.id = old.id and q.agent_id = old.agent_id returning 1
  )
  select count(*)::int as count from gone`)

/** Deletes questions that ended long ago. Returns their number. */
export const pruneQuestions = (
  db: RootDb & Pick<Db, 'pool'>,
  now: Date,
  signal?: AbortSignal,
): Promise<number> =>
  deleteInBatches(db, DELETE, new Date(now.getTime() - KEPT_DAYS * 24 * 3_600_000), signal)
