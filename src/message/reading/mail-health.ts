import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../db/client.ts'
import { raw, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { COMPLAINED } from '../stored/status.ts'

/** What became of the mail to the recipients of a domain. */
export interface DomainHealth {
  domain: string
  sent: number
  bounced: number
  complained: number
}

/** The newest emails of an agent that are looked at with each status, those of all agents, and the domains returned. */
export const MAX_OF_AGENT = 500
export const MAX_MAILS = 20_000
export const MAX_DOMAINS = 100
const MAX_AGENTS = 1_000

/** $1 agents, $2 the time from which. */
const HEALTH = {
  name: 'health of mail',
  ...composedOf(sql`
    with mails as (
      select m.id, m.agent_id
        from unnest($1::uuid[]) as a(id) cross join unnest('{sent,failed,reported}'::"MessageStatus"[]) as s(status) cross join lateral (
          select m.id, m.agent_id from message m
           where m.agent_id = a.id and m.channel = 'email' and m.direction = 'outbound' and m.status = s.status and m.created_at >= $2
           order by m.created_at desc, m.id desc limit ${MAX_OF_AGENT}) m limit ${MAX_MAILS}
    )
    select lower(substring(r.address from '[^@]*$')) as domain, count(*)::int as sent,
           count(*) filter (where r.status = 'failed')::int as bounced,
           count(*) filter (where r.detail like '${raw(COMPLAINED)}%' and r.status <> 'failed')::int as complained
      from mails join recipient r on r.message_id = mails.id and r.agent_id = mails.agent_id and r.status <> 'sending'
     group by 1 order by 2 desc, 1 limit ${MAX_DOMAINS}`),
}

/** Returns what became of the emails of a workspace in the last days, by the domains of their recipients, most mail first. */
export const readMailHealth = async (
  { pool, prisma, clock }: Db & { clock: Clock },
  workspaceId: string,
  days: number,
): Promise<DomainHealth[]> => {
  const agents = await prisma.agent.findMany({
    where: { workspaceId },
    select: { id: true },
    orderBy: { createdAt: 'asc' },
    take: MAX_AGENTS,
  })
  const since = new Date(clock.now().getTime() - days * 24 * 3_600_000)
  const values = [agents.map(({ id }) => id), since]
  return (await pool.query<DomainHealth & Record<string, unknown>>({ ...HEALTH, values })).rows
}
