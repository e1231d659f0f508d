import type { Clock } from '../core/clock.ts'
import type { Db, RootDb } from '../db/client.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { SKIP_LOCKED } from '../db/dialect.ts'
import { sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { announceEnd, type EndDeps, endQuestion } from './end.ts'

const MAX = 1_000

/** Ends the questions that nobody answered in time. Idempotent; any process may call it at any time. Returns their number. */
export const expireQuestions = async (
  deps: EndDeps & { clock: Clock },
  signal: AbortSignal,
): Promise<number> => {
  const now = deps.clock.now()
  const due = await deps.prisma.question.findMany({
    where: { status: 'open', expiresAt: { lte: now } },
    select: { id: true, agent: { select: { id: true, name: true } } },
    orderBy: { expiresAt: 'asc' },
    take: MAX,
  })
  let expired = 0
  for (const { id: questionId, agent } of due) {
    if (signal.aborted) break
    const sender = { kind: 'agent' as const, id: agent.id, name: agent.name, email: null, phone: null }
    const events = await deps.prisma.$transaction((tx) =>
      endQuestion(tx, { questionId, agentId: agent.id, now, answer: null, sender, mayInstruct: false }),
    )
    if (events.length === 0) continue
    expired++
    announceEnd(deps, agent.id, events)
  }
  return expired
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
