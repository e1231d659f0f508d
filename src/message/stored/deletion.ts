import { checkSoon } from '../../blob/index.ts'
import { define, rows, type Sql, sql } from '../../db/sql/sql.ts'
import { uncountMessages } from '../../workspace/index.ts'
import { deleteEmptied, findEmptied } from './emptied-threads.ts'

/** The messages that a statement deletes. */
export const OLD = rows('old', 'id', 'agent_id')
/** Those that it has deleted. */
export const GONE = rows('gone', 'id', 'agent_id', 'workspace_id', 'status')

const IDS = sql`array(select id from ${OLD})`
const AGENTS = sql`any(array(select agent_id from ${OLD}))`

/** What the messages have in the object store. */
const blobsOf = (agent: Sql): Sql => sql`
  select agent_id, blob_id from message_raw where agent_id = ${agent} and message_id = any(${IDS}) and blob_id is not null
   union
  select agent_id, blob_id from attachment where agent_id = ${agent} and message_id = any(${IDS}) and blob_id is not null
   union
  select agent_id, blob_id from attachment_text where agent_id = ${agent} and message_id = any(${IDS}) and blob_id is not null`

const loosen = (agent: Sql): Sql =>
  sql`
  loosened as (
    update message
       set reply_to_id = case when reply_to_id <> all(${IDS}) then reply_to_id end,
           forward_of_id = case when forward_of_id <> all(${IDS}) then forward_of_id end
     where agent_id = ${agent} and (reply_to_id = any(${IDS}) or forward_of_id = any(${IDS})) and id <> all(${IDS})
  )`

/**
 * The parts of a statement that delete the messages of `OLD`, define `GONE` and subtract these from the
 * usage. `agent` is the statement's parameter with their agent, if they have only one. Raw messages, attachments and
 * search entries are deleted with their messages by foreign keys, and objects by a worker of the service; replies to
 * and forwards of them stay. With the last message of a thread go its state and notes.
 */
export const deleteOld = (agent: Sql = AGENTS): Sql => sql`${loosen(agent)},${findEmptied(agent, IDS)},
  ${define(GONE)} as (
    delete from message where agent_id = ${agent} and id = any(${IDS}) returning id, agent_id, workspace_id, status
  ),${checkSoon(blobsOf(agent))},${uncountMessages(GONE)},${deleteEmptied(agent)}`
