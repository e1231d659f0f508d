/**
 * Where the tables of a database are that is distributed with Citus. Those of neither list are on the coordinator
 * only. Citus adds tables there that refer to those of the lists to its own catalogue.
 */

/**
 * Tables that are small and read everywhere: each node has all of their rows. In an order in which each comes
 * after those that it refers to.
 */
export const REFERENCE_TABLES: readonly string[] = [
  'plan',
  'workspace',
  'member',
  'member_identity',
  'agent',
  'domain',
  'address',
  'token',
  'setup_link',
  'identity_link',
  'telegram_bot',
  'phone_number',
  'dkim_key',
  'opt_out',
  'given_address',
]

/**
 * The tables of an agent's data: rows with the same `agent_id` are on the same node. In an order in which each
 * comes after those that it refers to.
 */
export const DISTRIBUTED_TABLES: readonly string[] = [
  'blob',
  'message',
  'message_raw',
  'message_search',
  'attachment',
  'attachment_text',
  'recipient',
  'untaken_code',
  'delayed_event',
  'unindexed_message',
  'unread_file',
  'event_log',
  'event',
  'webhook',
  'webhook_farewell',
  'job',
  'access',
  'agent_day',
  'agent_texts',
  'album_part',
  'connection',
  'deleted_agent',
  'deleted_blob',
  'draft',
  'draft_file',
  'import_position',
  'question',
  'secret',
  'suppression',
  'thread_note',
  'thread_state',
  'usage_change',
  'waiter',
]
