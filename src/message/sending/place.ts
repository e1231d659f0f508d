import { type Sql, sql } from '../../db/sql/sql.ts'

/**
 * The address that a message `m` is sent from: the one at which its original arrived, if the agent still has
 * it, else the channel's primary address.
 */
export const PLACE: Sql = sql`select a.id from address a where a.agent_id = m.agent_id and a.workspace_id = m.workspace_id and a.channel = m.channel
    order by a.id = m.address_id desc, a."primary" desc, a.created_at limit 1`
