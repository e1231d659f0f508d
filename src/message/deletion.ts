import { checkSoon } from '../blob/sweep.ts'
import { dialect } from '../db/dialect.ts'
import { uncountMessages } from '../workspace/usage.ts'

/** The part of a statement that deletes the messages of `old (id)`, as `gone`, and subtracts them from the usage. */
const IDS = 'array(select id from old)'

/** What the messages have in the object store. */
const BLOBS = `
  select agent_id, blob_id from message_raw where message_id = any(${IDS}) and blob_id is not null
   union
  select agent_id, blob_id from attachment where message_id = any(${IDS}) and blob_id is not null`

/** Citus takes no ids of another query in a case, but two updates of a row. */
const LOOSENED = dialect(
  `
  loosened as (
    update message
       set reply_to_id = case when reply_to_id <> all(${IDS}) then reply_to_id end,
           forward_of_id = case when forward_of_id <> all(${IDS}) then forward_of_id end
     where (reply_to_id = any(${IDS}) or forward_of_id = any(${IDS})) and id <> all(${IDS})
  )`,
  `
  unanswered as (update message set reply_to_id = null where reply_to_id = any(${IDS}) and id <> all(${IDS})),
  unforwarded as (update message set forward_of_id = null where forward_of_id = any(${IDS}) and id <> all(${IDS}))`,
)

/**
 * Raw messages, attachments and search entries are deleted with their messages by foreign keys, and objects by a
 * worker; replies to and forwards of them stay.
 */
export const deleteOld = (): string => `${LOOSENED},
  gone as (
    delete from message where id = any(${IDS}) returning id, agent_id, workspace_id, status
  ),${checkSoon(BLOBS)},${uncountMessages('gone')}`
