import { writeCursor } from '../../core/cursor.ts'
import type { Db } from '../../db/client.ts'
import { allOf, bind, empty, joined, raw, type Sql, sql } from '../../db/sql/sql.ts'
import {
  accessOf,
  type MessageFilter,
  marked,
  meets,
  newestPlaces,
  type Owner,
  type Range,
} from './filter.ts'
import {
  forEach,
  fromKeys,
  joinMessage,
  keysOf,
  type MessageListKey,
  OWNER_ID,
  THREAD_ID,
} from './for-each.ts'
import { prepared } from './prepared.ts'
import { allMatching, matches, matchTexts, unindexedAmong } from './search.ts'
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

/** The keys that a statement reads for, and whose messages those of each are. */
export const begin = (keys: readonly MessageListKey[]) => {
  const [first] = keys
  const ofWorkspaces = first !== undefined && 'workspaceId' in first
  const ofThreads = first !== undefined && 'threadId' in first && first.threadId !== undefined
  const owner: Owner = {
    column: ofWorkspaces ? 'workspace_id' : 'agent_id',
    id: OWNER_ID,
    threadId: ofThreads ? THREAD_ID : undefined,
  }
  return { keys: keysOf(keys), owner }
}

/**
 * A value that is unknown to the planner, which then expects the same cost with and without it: PostgreSQL keeps one
 * plan instead of planning at every call. See docs/decisions.md#kept-plans.
 */
export const hidden = (value: unknown, type: string): Sql => sql`(select ${bind(value)}::${raw(type)})`

/** The same for the number of rows to read. */
export const hiddenLimit = (limit: number): Sql => sql`(select ${bind(limit)}::bigint)`

/** The words to search for. Here the filter has them in the form of `tsqueryOf`. */
const wordsOf = ({ q }: MessageFilter): Sql | null => (q === undefined ? null : sql`${bind(q)}::text`)

interface PlaceRow {
  key: number
  source: 'match' | 'unindexed' | 'end'
  id: string
  agent_id: string
  created_at: Date
  /** Of those that are not in the search index yet. */
  text: string
}

const run = async ({ pool }: Pick<Db, 'pool'>, query: Sql): Promise<PlaceRow[]> =>
  (await pool.query<PlaceRow>(prepared(query))).rows

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
  const { keys: of, owner } = begin(keys)
  const range: Range = { owner, filter, cursor }
  const q = wordsOf(filter)
  const access = accessOf(filter, owner)
  const most = hiddenLimit(size)
  const seen = newestPlaces(access, { ...range, limit: most })
  const tested = marked(access.tested)
  const message = tested.length === 0 ? empty : joinMessage('w')
  const conditions = [...tested, ...(q === null ? [] : [matches('w', q, findsMark(filter.q!))])]
  const parts = [
    sql`select 'match' as source, f.*, null::text as text from (
       select w.id, w.agent_id, w.created_at from (${seen}) w ${message} where ${allOf(conditions)}
        order by w.created_at desc, w.id desc limit ${hiddenLimit(limit + 1)}) f`,
    sql`select 'end', e.id, e.agent_id, e.created_at, null from (
       select s.*, count(*) over () as size from (${seen}) s order by s.created_at, s.id limit 1) e where e.size = ${most}`,
    ...(q === null || !start
      ? []
      : [sql`select 'unindexed', u.* from (${unindexedAmong(owner, meets(range))}) u`]),
  ]
  const rows = await run(db, forEach(of, joined(parts, ' union all ')))
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
  const { keys, owner } = begin([key])
  const found = allMatching({ ...owner, id: sql`(${keys.owners}::uuid[])[1]` }, wordsOf(filter)!, few + 1)
  const query = sql`
    with found as materialized (${found}),
    page as (
      select m.id, m.agent_id, m.created_at from ${fromKeys(keys)} cross join found
       ${joinMessage('found', 'message_id')}
       where ${meets({ owner, filter, cursor })} and (select count(*) from found) <= ${few}
       order by m.created_at desc, m.id desc limit ${bind(limit + 1)}
    )
    select 'end' as source, null::uuid as id, null::uuid as agent_id, null::timestamptz as created_at where (select count(*) from found) > ${few}
    union all select 'match', id, agent_id, created_at from page`
  const rows = await run(db, query)
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
