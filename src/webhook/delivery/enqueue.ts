import { NEW_ID } from '../../db/sql/new-id.ts'
import { raw, type Sql, sql } from '../../db/sql/sql.ts'
import { APPENDED } from '../../event/index.ts'

/**
 * The part of a statement that adds one job for each event of `APPENDED` and each webhook of its agent that subscribes
 * to it, so that event and job are committed together. A paused webhook does not get messages that are stored
 * nowhere else. `payload` is data that only the job stores.
 */
export const enqueueWebhookJobs = (payload: Sql = raw('null')): Sql => sql`
    webhook_jobs as (
      insert into job (id, kind, agent_id, lane, seq, payload, created_at)
      select ${NEW_ID}, 'webhook', a.agent_id, w.id, a.event_id, ${payload}::bytea, a.created_at
        from ${APPENDED} a join webhook w
          on w.agent_id = a.agent_id and a.type = any(w.types) and (w.channels = '{}' or a.channel = any(w.channels))
         and (w.paused_at is null or a.channel <> 'url')
    )`
