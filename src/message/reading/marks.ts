import { findAgent } from '../../agent/index.ts'
import type { Clock } from '../../core/clock.ts'
import { invalidInput, notFound } from '../../core/errors.ts'
import { MAX_LABELS, MAX_METADATA_KEYS, type Metadata, type MetadataChanges } from '../../core/rules.ts'
import type { Db } from '../../db/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { define, rows, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { noteChanges, type Viewer } from '../../workspace/index.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { type ReadDeps, readMessage } from './read.ts'

export interface MarkDeps extends Db {
  clock: Clock
  notifier: Pick<Notifier, 'publish'>
}

/** A message's labels, metadata and read mark. */
interface MessageMarks {
  id: string
  labels: string[]
  metadata: Metadata
  readAt: Date | null
}

/** What to change. `labels` replaces all labels; the others add to the present ones or remove from them. */
export interface Changes {
  labels?: readonly string[] | undefined
  addLabels?: readonly string[] | undefined
  removeLabels?: readonly string[] | undefined
  read?: boolean | undefined
  /** Keys that are left out keep their values. */
  metadata?: MetadataChanges | undefined
}

/** Labels without those in $6, then those in $5 that are new, in the order in which they appear first. */
const LABELS = sql`array(
  select l.label from unnest(case when $4 then '{}' else m.labels end || $5::text[]) with ordinality as l(label, n)
   where l.label <> all($6::text[]) group by l.label order by min(l.n))`

/** A message that was read keeps the time at which that happened. */
const READ_AT = sql`case when $7::boolean is null then m.read_at when $7 then coalesce(m.read_at, $8::timestamptz) end`

const METADATA = sql`jsonb_strip_nulls(m.metadata || $9::jsonb)`

const CHANGED = rows('changed', 'id', 'agent_id', 'workspace_id')

/**
 * Changes all of the messages or none. $1 agent, $2 ids, $3 maximum number of labels, $4 whether $5 replaces
 * the present labels, $5 labels to add, $6 labels to remove, $7 read or unread, $8 the time, $9 changes
 * of metadata, $10 maximum number of its keys.
 *
 * The messages are locked in the order of their ids, so that two requests cannot deadlock, and the changes are
 * computed from the locked rows, so that none is lost.
 */
const MARK = {
  name: 'mark messages',
  ...composedOf(sql`
    with
    found as materialized (
      select m.id, ${LABELS} as labels, ${READ_AT} as read_at, ${METADATA} as metadata from message m
       where m.agent_id = $1 and m.id = any($2::uuid[]) order by m.id for no key update of m
    ),
    allowed as (
      select coalesce(bool_and(cardinality(labels) <= $3 and (select count(*) from jsonb_object_keys(metadata)) <= $10), true) and count(*) = cardinality($2::uuid[]) as all from found
    ),
    ${define(CHANGED)} as (
      update message m set labels = f.labels, read_at = f.read_at, metadata = f.metadata from found f, allowed
       where m.agent_id = $1 and m.id = any($2::uuid[]) and m.id = f.id and allowed.all
         and (m.labels is distinct from f.labels or m.read_at is distinct from f.read_at or m.metadata <> f.metadata)
      returning m.id, m.agent_id, m.workspace_id
    ),${noteChanges('message_changed', CHANGED)}
    select f.id, f.labels, f.metadata, f.read_at as "readAt", c.id is not null as changed from found f left join changed c using (id)`),
}

/** Changes messages of an agent: all of them or, if one would get too many labels or keys, none. Returns the marks of all. */
export const mark = async (
  { pool, clock, notifier, afterCommit }: MarkDeps,
  agentId: string,
  ids: readonly string[],
  { labels, addLabels, removeLabels, read, metadata }: Changes,
): Promise<Map<string, MessageMarks>> => {
  const values = [
    agentId,
    ids,
    MAX_LABELS,
    labels !== undefined,
    labels ?? addLabels ?? [],
    removeLabels ?? [],
    read ?? null,
    clock.now(),
    JSON.stringify(metadata ?? {}),
    MAX_METADATA_KEYS,
  ]
  const { rows } = await pool.query<MessageMarks & { changed: boolean }>({ ...MARK, values })
  for (const { id, changed } of rows)
    if (changed) afterCommit(() => notifier.publish(MESSAGE_CHANGED, `${agentId}/${id}`))
  return new Map(rows.map((row) => [row.id, row]))
}

/** Throws `invalid_input` if the changes would have given a message too many labels, naming the field, or keys of metadata. */
export const ensureFew = (field: string, marked: Iterable<MessageMarks>): void => {
  for (const { id, labels, metadata } of marked) {
    if (labels.length > MAX_LABELS)
      throw invalidInput(field, `would give the message ${id} more than ${MAX_LABELS} labels`)
    if (Object.keys(metadata).length > MAX_METADATA_KEYS)
      throw invalidInput('metadata', `would give the message ${id} more than ${MAX_METADATA_KEYS} keys`)
  }
}

/**
 * Sets a message's labels, its read mark and its metadata; what is left out stays. Members and the agent share them.
 * Throws `not_found`, and `invalid_input` for more than 20 labels or 16 keys.
 */
export const markMessage = async (
  deps: MarkDeps & ReadDeps,
  viewer: Viewer,
  { agentId, messageId }: { agentId: string; messageId: string },
  changes: Pick<Changes, 'labels' | 'read' | 'metadata'>,
): Promise<MessageWithFiles> => {
  await findAgent(deps, viewer, agentId)
  const marked = await mark(deps, agentId, [messageId], changes)
  ensureFew('labels', marked.values())
  if (!marked.has(messageId)) throw notFound('message')
  return readMessage(deps, viewer, agentId, messageId)
}

/** Throws `invalid_input` for a label that is both added and removed. */
export const ensureNoContradiction = ({ addLabels, removeLabels }: Changes): void => {
  if (addLabels?.some((label) => removeLabels?.includes(label)))
    throw invalidInput('removeLabels', 'must not contain a label that addLabels contains')
}

/**
 * Adds labels to messages of the agent, removes labels from them, and sets their read marks and metadata. Changes all of
 * them or, when it throws, none. Returns their marks, in the order of the ids. Throws `invalid_input` naming
 * the field.
 */
export const markMessages = async (
  deps: MarkDeps,
  viewer: Viewer,
  agentId: string,
  { ids, ...changes }: Omit<Changes, 'labels'> & { ids: readonly string[] },
): Promise<MessageMarks[]> => {
  await findAgent(deps, viewer, agentId)
  ensureNoContradiction(changes)
  const marked = await mark(deps, agentId, [...new Set(ids)], changes)
  for (const [index, id] of ids.entries())
    if (!marked.has(id)) throw invalidInput(`ids[${index}]`, 'is not a message of this agent')
  ensureFew('addLabels', marked.values())
  return ids.map((id) => marked.get(id)!)
}
