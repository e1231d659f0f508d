import { NIL, type SealedColumn } from '../workspace/index.ts'

/**
 * The Message URL texts in webhook jobs, for the rotation of data keys: `bound` must match `handoverBinding`.
 * The payloads of manual deliveries (`seq` below 0) are not sealed.
 */
export const SEALED_TEXTS: SealedColumn = {
  name: 'job.payload',
  first: [NIL, '0'],
  page: `
    select array[j.lane::text, j.seq::text] as at, j.payload as sealed, format('url:%s', e.message_id) as bound
      from job j join webhook w on w.id = j.lane and w.agent_id = j.agent_id join event e on e.agent_id = j.agent_id and e.id = j.seq
     where w.workspace_id = $1 and j.seq > 0 and j.payload is not null
       and (j.lane, j.seq) > (($2::text[])[1]::uuid, ($2::text[])[2]::bigint)
     order by j.lane, j.seq limit $3`,
  replace: `
    update job set payload = $3
     where lane = ($1::text[])[1]::uuid and seq = ($1::text[])[2]::bigint and payload = $2`,
}
