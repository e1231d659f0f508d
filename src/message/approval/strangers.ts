import type { Db } from '../../db/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { IS_STRANGER } from './hold.ts'

const STRANGERS = statement<{ messages: readonly string[]; agents: readonly string[] }>(
  undefined,
  ({ messages, agents }) => sql`
  select m.id, r.address
    from message m join recipient r on r.message_id = m.id and r.agent_id = m.agent_id
   where m.id = any(${messages}::uuid[]) and m.agent_id = any(${agents}::uuid[]) and m.hold_reason = 'approval' and m.hold_until is not null
     and ${IS_STRANGER}
   order by r.address`,
)

interface MessageKey {
  id: string
  agentId: string
}

/**
 * Returns the recipients of each message that waits for approval who are neither in the workspace nor listed by a
 * member, and from whom its agent has received nothing; of other messages, none.
 */
export const strangersOf = async ({ pool }: Db, messages: readonly MessageKey[]): Promise<string[][]> => {
  const keys = { messages: messages.map(({ id }) => id), agents: messages.map(({ agentId }) => agentId) }
  const { rows } = await pool.query<{ id: string; address: string }>(STRANGERS(keys))
  return messages.map((message) => rows.filter(({ id }) => id === message.id).map(({ address }) => address))
}
