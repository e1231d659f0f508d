import type { Db } from '../../src/db/client.ts'

/**
 * Gives an agent many copies of a message, each a second older than the one before and answered by it, with what
 * hangs on them. Returns the id of the oldest of the newer half.
 */
export const storeCopies = async (
  { pool }: Pick<Db, 'pool'>,
  agentId: string,
  messageId: string,
  count: number,
): Promise<string> => {
  await pool.query(`
    with made as (
      insert into message select copy.* from message m, generate_series(1, ${count}) n,
        json_populate_record(null::message, (to_jsonb(m) || jsonb_build_object('id', md5(m.agent_id || n::text)::uuid,
          'fingerprint', null, 'created_at', m.created_at - make_interval(secs => n),
          'reply_to_id', case when n < ${count} then md5(m.agent_id || (n + 1)::text)::uuid end))::json) copy
        where m.id = '${messageId}' returning id, agent_id, workspace_id
    ),
    raw as (insert into message_raw (message_id, agent_id, content) select id, agent_id, 'raw' from made),
    sent as (insert into recipient (message_id, agent_id, address, updated_at) select id, agent_id, 'bo@example.com', now() from made),
    queued as (insert into unindexed_message (message_id, agent_id) select id, agent_id from made),
    jobs as (insert into job (id, agent_id, kind, lane, seq, state) select gen_random_uuid(), agent_id, 'send', id, 0, 'delivered' from made)
    insert into usage_change (id, workspace_id, agent_id, stored) select gen_random_uuid(), workspace_id, agent_id, count(*) from made group by 2, 3`)
  const { rows } = await pool.query<{ id: string }>('select md5($1::uuid || $2::text)::uuid as id', [
    agentId,
    String(Math.floor(count / 2)),
  ])
  return rows[0]!.id
}
