/**
 * Parts of a statement that put jobs into the table, for the statement that makes what they are for: the job is there if and only if
 * that is. Each continues a `with`.
 */

/**
 * One job for each event of `appended` (see event/append.ts) and each webhook of its agent. `payload` is the parameter (`$3`) that holds
 * what the job alone keeps.
 */
export const enqueueWebhookJobs = (payload = 'null'): string => `
    webhook_jobs as (
      insert into job (id, kind, agent_id, lane, seq, payload, created_at)
      select gen_random_uuid(), 'webhook', a.agent_id, w.id, a.event_id, ${payload}::bytea, a.created_at
        from appended a join webhook w on w.agent_id = a.agent_id
    )`

/** One job for each message of `drafted (id, agent_id, created_at)`, due at once. */
export const ENQUEUE_SENDS = `
    sends as (
      insert into job (id, kind, agent_id, lane, seq, due_at, created_at)
      select gen_random_uuid(), 'send', agent_id, id, 0, created_at, created_at from drafted
    )`

/** The topic on which every process hears that messages wait to be sent. */
export const SEND_DUE = 'send_due'
