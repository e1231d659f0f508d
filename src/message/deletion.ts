import { checkSoon } from '../blob/index.ts'
import { dialect } from '../db/dialect.ts'
import { uncountMessages } from '../workspace/usage.ts'
import { deleteEmptied, EMPTIED } from './thread/emptied.ts'

/** The ids of the messages that a statement deletes, and their agents. */
const IDS = 'array(select id from old)'
const AGENTS = 'any(array(select agent_id from old))'

/** What the messages have in the object store. */
const blobsOf = (agent: string): string => `
  select agent_id, blob_id from message_raw where agent_id = ${agent} and message_id = any(${IDS}) and blob_id is not null
   union
  select agent_id, blob_id from attachment where agent_id = ${agent} and message_id = any(${IDS}) and blob_id is not null`

/** Citus executes the parts of a statement one after the other: what the messages have must be read before they go. */
const keepBlobs = (agent: string): string => dialect('', `held as materialized (${blobsOf(agent)}),`)

/** Citus takes no ids of another query in a case, but two updates of a row. */
const loosen = (agent: string): string =>
  dialect(
    `
  loosened as (
    update message
       set reply_to_id = case when reply_to_id <> all(${IDS}) then reply_to_id end,
           forward_of_id = case when forward_of_id <> all(${IDS}) then forward_of_id end
     where agent_id = ${agent} and (reply_to_id = any(${IDS}) or forward_of_id = any(${IDS})) and id <> all(${IDS})
  )`,
    `
  unanswered as (update message set reply_to_id = null where agent_id = ${agent} and reply_to_id = any(${IDS}) and id <> all(${IDS})),
  unforwarded as (update message set forward_of_id = null where agent_id = ${agent} and forward_of_id = any(${IDS}) and id <> all(${IDS}))`,
  )

/**
 * The part of a statement that deletes the messages of `old (id, agent_id)`, as `gone`, and subtracts them from the
 * usage. `agent` is the statement's parameter with their agent, if they have only one: Citus then asks one worker
 * node. Raw messages, attachments and search entries are deleted with their messages by foreign keys, and objects by
 * a worker of the service; replies to and forwards of them stay. With the last message of a thread go its state and notes.
 */
export const deleteOld = (
  agent: string = AGENTS,
): string => `${loosen(agent)},${keepBlobs(agent)}${EMPTIED(agent, IDS)},
  gone as (
    delete from message where agent_id = ${agent} and id = any(${IDS}) returning id, agent_id, workspace_id, status
  ),${checkSoon(dialect(blobsOf(agent), 'select agent_id, blob_id from held'))},${uncountMessages('gone')},${deleteEmptied(agent)}`
