import { writeCursor } from '../../core/cursor.ts'
import type { Db, Statement } from '../../db/client.ts'
import { dialect } from '../../db/dialect.ts'
import {
  accessOf,
  type MessageFilter,
  marked,
  meets,
  newestPlaces,
  type Owner,
  type Parameter,
  type Range,
} from './filter.ts'
import { forEach, joinMessage, KEYS, type MessageListKey, withConstant } from './for-each.ts'
import { nameOf } from './prepared.ts'
import { allMatching, joinWords, matches, matchTexts, unindexedAmong } from './search.ts'
import { findsMark, isForIndex, tsqueryOf } from './search-query.ts'

/**
 * Lists with conditions that no index serves in the list's order: words, and some filters. What a page costs
 * is limited, whatever the size of the mailbox:
 *
 * 1. The newest messages are tested one by one. Most searches are for words of recent messages.
 * 2. For words, the search index finds all other matches, if they are few.
 * 3. Otherwise older messages are tested, up to a limit. The page may then be shorter than requested, and its
 *    cursor is the place where the search stopped.
 */

export interface SearchLimits {
  /** Number of messages tested first. */
  recent: number
  /** Number of matches that are read through the search index. */
  few: number
  /** Number of messages tested in one statement, and of such statements for a page. */
  far: number
  maxFar: number
}

/** What each of these costs: docs/decisions.md#searching-a-list. */
export const LIMITS: SearchLimits = { recent: 200, few: 2_000, far: 10_000, maxFar: 5 }

/** The position of a message in a list. */
export interface Place {
  id: string
  createdAt: Date
}

/** Returns the cursor of a message in its list. */
export const messageCursor = ({ createdAt, id }: Place): string => writeCursor(createdAt.getTime(), id)

/** A message and its position in a list. */
export interface Located extends Place {
  agentId: string
}

export interface Found {
  /** Newest first. */
  places: Located[]
  /** The place after which the next page starts; null when there are no more matches. */
  next: Place | null
}

export interface SearchRequest {
  filter: MessageFilter
  cursor?: string | undefined
  limit: number
}

/**
 * Begins a statement about keys. `hidden` parameters are unknown to the planner, which then expects the same
 * cost with and without their values: PostgreSQL keeps one plan instead of planning at every call.
 * See docs/decisions.md#kept-plans.
 */
export const begin = (keys: readonly MessageListKey[]) => {
  const idOf = (key: MessageListKey) => ('workspaceId' in key ? key.workspaceId : key.agentId)
  const threadOf = (key: MessageListKey) => ('workspaceId' in key ? undefined : key.threadId)
  const values: unknown[] = [keys.map(idOf), keys.map((key) => threadOf(key) ?? null)]
  const [first] = keys
  const owner: Owner = {
    column: first && 'workspaceId' in first ? 'workspace_id' : 'agent_id',
    id: 'k.owner_id',
    threadId: first && threadOf(first) !== undefined ? 'k.thread_id' : undefined,
  }
  const parameter = (value: unknown) => `$${values.push(value)}`
  const hidden = (value: unknown, type: string) => `(select ${parameter(value)}::${type})`
  return { values, parameter, hidden, owner }
}

/** The words to search for. Here the filter has them in the form of `tsqueryOf`. */
const wordsOf = ({ q }: MessageFilter, parameter: Parameter): string | null =>
  q === undefined ? null : `${parameter(q)}::text`

interface PlaceRow {
  key: number
  source: 'match' | 'unindexed' | 'end'
  id: string
  agent_id: string
  created_at: Date
  /** Of those that are not in the search index yet. */
  text: string
}

const run = async ({ pool }: Pick<Db, 'pool'>, statement: Statement): Promise<PlaceRow[]> =>
  (await pool.query<PlaceRow>({ ...nameOf(statement.text), ...statement })).rows

const toPlace = ({ id, agent_id, created_at }: PlaceRow): Located => ({
  id,
  agentId: agent_id,
  createdAt: created_at,
})

/** Messages that were tested. */
interface Tested {
  /** Those that match. */
  matches: Located[]
  /** Those that match among the newest that are not in the search index yet. */
  unindexed: Located[]
  /** The last one tested; null when there are no more. */
  end: Place | null
}

/**
 * Tests the `size` messages of each key after the cursor, until there are more matches than the limit. At the
 * `start`, it also looks in those that are not in the search index yet.
 */
const test = async (
  db: Pick<Db, 'pool'>,
  keys: readonly MessageListKey[],
  { filter, cursor, limit }: SearchRequest,
  { size, start }: { size: number; start: boolean },
): Promise<Tested[]> => {
  const { values, parameter, hidden, owner } = begin(keys)
  const range: Range = { owner, filter, cursor }
  const q = wordsOf(filter, parameter)
  const access = accessOf(filter, owner)
  const most = hidden(size, 'bigint')
  const seen = newestPlaces(access, { ...range, limit: most }, parameter)
  const tested = marked(access.tested, parameter)
  const message = tested.length === 0 ? '' : joinMessage('w')
  const words = q === null ? '' : joinWords('w')
  const conditions = [...tested, ...(q === null ? [] : [matches('w', q, findsMark(filter.q!))])]
  const parts = [
    `select 'match' as source, f.*, null::text as text from (
       select w.id, w.agent_id, w.created_at from (${seen}) w ${message} ${words} where ${conditions.join(' and ') || 'true'}
        order by w.created_at desc, w.id desc limit ${hidden(limit + 1, 'bigint')}) f`,
    `select 'end', e.id, e.agent_id, e.created_at, null from (
       select s.*, count(*) over () as size from (${seen}) s order by s.created_at, s.id limit 1) e where e.size = ${most}`,
    ...(q === null || !start
      ? []
      : [`select 'unindexed', u.* from (${unindexedAmong(owner, meets(range, parameter))}) u`]),
  ]
  const rows = await run(db, { ...forEach(keys, parts.join(' union all ')), values })
  const candidates = rows.filter(({ source }) => source === 'unindexed')
  const unindexed = await matchTexts(db, filter.q ?? '', candidates)
  return keys.map((_, index) => {
    const of = (source: PlaceRow['source'], among = rows) =>
      among.filter((row) => row.key === index + 1 && row.source === source).map(toPlace)
    return { matches: of('match'), unindexed: of('unindexed', unindexed), end: of('end')[0] ?? null }
  })
}

/** All matches of the words after the cursor, found through the index; null when too many messages match. */
const lookUp = async (
  db: Pick<Db, 'pool'>,
  key: MessageListKey,
  { filter, cursor, limit }: SearchRequest,
  few: number,
): Promise<Located[] | null> => {
  const { values, parameter, owner } = begin([key])
  const q = wordsOf(filter, parameter)!
  const text = `
    with found as materialized (${allMatching({ ...owner, id: '($1::uuid[])[1]' }, q, few + 1)}),
    page as (
      select m.id, m.agent_id, m.created_at from ${KEYS} cross join found
       ${joinMessage('found', 'message_id')}
       where ${meets({ owner, filter, cursor }, parameter)} and (select count(*) from found) <= ${few} ${dialect('', 'and cardinality($2::uuid[]) > 0')}
       order by m.created_at desc, m.id desc limit ${parameter(limit + 1)}
    )
    select 'end' as source, null::uuid as id, null::uuid as agent_id, null::timestamptz as created_at where (select count(*) from found) > ${few}
    union all select 'match', id, agent_id, created_at from page`
  const distributed = () => withConstant(text.replace(`${KEYS} cross join `, ''), [key])
  const rows = await run(db, { text, values, distributed })
  return rows[0]?.source === 'end' ? null : rows.map(toPlace)
}

const newestFirst = (a: Place, b: Place): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1)

/** Makes a page of matches, of which there may be more than requested. `end`: where the search stopped. */
const pageOf = (found: readonly Located[], limit: number, end: Place | null): Found => {
  // A message that was indexed meanwhile is found twice.
  const known = [...new Map(found.map((place) => [place.id, place])).values()]
  const sorted = known.filter((place) => end === null || newestFirst(place, end) <= 0).sort(newestFirst)
  const places = sorted.slice(0, limit)
  return { places, next: sorted.length > limit ? places.at(-1)! : end }
}

/** Completes a page after its newest messages were tested. */
const complete = async (
  db: Pick<Db, 'pool'>,
  key: MessageListKey,
  { limit, filter }: SearchRequest,
  { matches, unindexed, end, few, far, maxFar }: Tested & SearchLimits,
): Promise<Found> => {
  const found = [...matches]
  let last = end
  for (let n = 0; found.length <= limit && last && n < maxFar; n++) {
    const rest = { filter, cursor: messageCursor(last), limit: limit - found.length }
    const others =
      n === 0 && filter.q !== undefined && isForIndex(filter.q) ? await lookUp(db, key, rest, few) : null
    if (others) return pageOf([...found, ...others, ...unindexed], limit, null)
    const [more] = await test(db, [key], rest, { size: far, start: false })
    found.push(...more!.matches)
    last = more!.end
  }
  return pageOf([...found, ...unindexed], limit, found.length > limit ? null : last)
}

/** Finds a page of each key's messages, newest first: one statement for all that are found among the newest. */
export const findMessages = async (
  db: Pick<Db, 'pool'>,
  keys: readonly MessageListKey[],
  asked: SearchRequest,
  limits: SearchLimits = LIMITS,
): Promise<Found[]> => {
  const q = asked.filter.q === undefined ? undefined : tsqueryOf(asked.filter.q)
  if (q === null) return keys.map(() => ({ places: [], next: null }))
  const request = { ...asked, filter: { ...asked.filter, q } }
  const newest = await test(db, keys, request, { size: limits.recent, start: true })
  const pages: Found[] = []
  // One after the other: a query over many agents must not take all connections.
  for (const [index, tested] of newest.entries())
    pages.push(await complete(db, keys[index]!, request, { ...tested, ...limits }))
  return pages
}
