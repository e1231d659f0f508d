import { entriesForSql } from '../../agent/index.ts'
import { lowerCaseSql } from '../../core/text/lower-case.ts'
import type { Queryable } from '../../db/client.ts'
import type { Approval } from '../../db/generated/prisma/enums.ts'
import { raw, type Sql, sql } from '../../db/sql/sql.ts'
import { type ParametersOf, statement } from '../../db/sql/statement.ts'
import { IMPORT_CHECK } from '../import/prepare.ts'

/** What an agent knows about a recipient of its message. What follows from it is decided in `hold.ts`. */
export interface RecipientFacts {
  /** A member of the workspace has the address, or has verified that it is theirs. */
  isMember: boolean
  /** An agent of the workspace has the address. */
  isAgent: boolean
  /** A member has listed the address, or its domain, for the agent. */
  isListed: boolean
  /** The agent has received a message from it that nobody else can have sent. */
  hasWritten: boolean
}

/** The address of a recipient `r` as addresses are compared. */
const CANONICAL = raw(lowerCaseSql('r.address'))

const IS_MEMBER = sql`exists (select from member p where p.workspace_id = m.workspace_id
    and case when m.channel = 'email' then p.email = ${CANONICAL}
             else exists (select from member_identity i where i.member_id = p.id and i.channel = m.channel and i.value = ${CANONICAL}) end)`

/** A domain that is no longer verified may belong to anybody, and so may mail to it. */
const IS_AGENT = sql`exists (select from address o left join domain d on d.id = o.domain_id
    where o.channel = m.channel and o.value = ${CANONICAL} and o.workspace_id = m.workspace_id and (o.domain_id is null or d.state = 'verified'))`

/** The entries of a list that name the recipient. */
const ENTRIES = raw(entriesForSql('m.channel', lowerCaseSql('r.address')))

/** Whether a list `c` names the recipient. What the agent itself listed does not count: it could list whom it wants to write to. */
const IS_LISTED = sql`c.channel = m.channel and exists (select from unnest(c.senders) s
         where s = any(c.member_senders) and s = any(${ENTRIES}))`

const IS_IMPORTED_FOR_IT = sql`not w.checks @> '[{"name": "${raw(IMPORT_CHECK)}", "verdict": "agent"}]'`

/**
 * Whether a message `w` is one that the recipient has written to the agent. Messages that were refused do not count, nor
 * those whose sender is not proven: anyone can send those, to make somebody known to whom the agent may write. Neither
 * do those that the agent itself imported.
 */
const HAS_WRITTEN = sql`w.agent_id = m.agent_id and w.channel = m.channel and w.counterpart = ${CANONICAL}
    and w.direction = 'inbound' and (w.status = 'received' and w.proven or w.status = 'imported' and ${IS_IMPORTED_FOR_IT})`

/** The columns of `RecipientFacts` for a recipient `r` of a message `m`. */
export const RECIPIENT_FACTS: Sql = sql`${IS_MEMBER} as "isMember", ${IS_AGENT} as "isAgent",
  exists (select from access c where c.agent_id = m.agent_id and ${IS_LISTED}) as "isListed",
  exists (select from message w where ${HAS_WRITTEN}) as "hasWritten"`

/** Stored messages, by their ids and agents. */
interface Keys {
  messages: readonly string[]
  agents: readonly string[]
}

/** A recipient of a stored message, and the setting of its agent. */
export interface StoredFacts extends RecipientFacts {
  id: string
  approval: Approval
  address: string
}

const factsOfStored = ({ messages, agents }: ParametersOf<Keys>, condition: Sql): Sql => sql`
  select m.id, g.approval, r.address, ${RECIPIENT_FACTS}
    from message m join agent g on g.id = m.agent_id join recipient r on r.message_id = m.id and r.agent_id = m.agent_id
   where m.id = any(${messages}::uuid[]) and m.agent_id = any(${agents}::uuid[]) and ${condition}
   order by r.address`

const keysOf = (messages: readonly { id: string; agentId: string }[]): Keys => ({
  messages: messages.map(({ id }) => id),
  agents: messages.map(({ agentId }) => agentId),
})

/** A statement that reads the recipients of those of the given stored messages `m` that meet the condition, by their addresses. */
export const readsFacts = (condition: Sql) => {
  const read = statement<Keys>(undefined, (given) => factsOfStored(given, condition))
  return async (
    { pool }: { pool: Queryable },
    messages: readonly { id: string; agentId: string }[],
  ): Promise<StoredFacts[]> => (await pool.query<StoredFacts>(read(keysOf(messages)))).rows
}
