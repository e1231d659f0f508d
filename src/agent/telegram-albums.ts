import { v7 as newId } from 'uuid'
import type { Album, AlbumStore } from '../channel/telegram/incoming-albums.ts'
import type { Messages, TelegramMessage } from '../channel/telegram/update.ts'
import type { Clock } from '../core/clock.ts'
import type { Db, RootDb } from '../db/client.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { raw, SKIP_LOCKED, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { within } from '../db/transaction.ts'
import { isMovingAgent } from '../workspace/index.ts'

/** Telegram sends an album's updates within about a second; each new part may be followed by another one. */
const QUIET_MS = 1_500
/** However slowly its parts arrive, an album waits no longer than this after the first one. */
const LONGEST_MS = 5_000
/** Maximum number of files in an album (Bot API, sendMediaGroup). */
const MAX_PARTS = 10
/** Telegram repeats an update for at most a day. */
const KEPT_MS = 7 * 24 * 3_600_000

const KEY = 'agent_id, address_id, chat_id, group_id'

const ADD = `
  insert into album_part (${KEY}, message_id, content, arrived_at)
  select agent_id, id, $2, $3, $4, $5, $6 from address where id = $1
  on conflict do nothing`

/** Others wait for their turn in the next round: two workers never see different parts of one album. */
const LOCK = `select pg_try_advisory_xact_lock(hashtextextended('album_part', 0)) as locked`

/**
 * $1 now; $2 and $3 when the last and the first part must have arrived; $4 end of the lease; $5 id of a new
 * batch. Parts that came late wait until the parts before them are stored, so that they find their thread.
 */
const CLAIM = `
  with waiting as (
    select ${KEY}, batch_id, max(lease_until) as lease_until, min(arrived_at) as first_at, max(arrived_at) as last_at,
           count(batch_id) over (partition by ${KEY}) > 0 as has_batch
      from album_part where content is not null and not ${isMovingAgent('agent_id')} group by ${KEY}, batch_id
  ),
  ready as (
    select ${KEY}, batch_id from waiting
     where case when batch_id is not null then lease_until <= $1 else (last_at <= $2 or first_at <= $3) and not has_batch end
     order by first_at limit 1
  ),
  chosen as (
    select ${KEY}, message_id from album_part p join ready r using (${KEY})
     where p.content is not null and p.batch_id is not distinct from r.batch_id
     order by message_id limit ${MAX_PARTS}
  ),
  claimed as (
    update album_part p set batch_id = coalesce(batch_id, $5), lease_until = $4
      from chosen c where (p.agent_id, p.address_id, p.chat_id, p.group_id, p.message_id) = (c.agent_id, c.address_id, c.chat_id, c.group_id, c.message_id)
    returning p.*
  ),
  stored as (
    select array_agg(message_id::text order by message_id) as ids from album_part join ready using (${KEY}) where content is null
  )
  select address_id as "addressId", chat_id::text as "chatId", group_id as "groupId", batch_id as "batchId", content,
         coalesce((select ids from stored), '{}') as earlier
    from claimed order by message_id`

interface Row {
  addressId: string
  chatId: string
  groupId: string
  batchId: string
  content: string
  earlier: string[]
}

const toAlbum = (rows: readonly Row[]): Album | null => {
  const [first, ...rest] = rows
  if (!first) return null
  const { addressId, chatId, groupId, batchId, earlier } = first
  const read = ({ content }: Row) => JSON.parse(content) as TelegramMessage
  const messages: Messages = [read(first), ...rest.map(read)]
  return { addressId, chatId: Number(chatId), groupId, batchId, messages, earlier: earlier.map(Number) }
}

const OF_BATCH =
  'address_id = $1 and chat_id = $2 and group_id = $3 and batch_id = $4 and content is not null'
const batchOf = ({ addressId, chatId, groupId, batchId }: Album) => [addressId, chatId, groupId, batchId]

/** Creates the channel's access to the Telegram albums of all agents. */
export const createAlbumStore = ({ prisma, pool, clock }: Db & { clock: Clock }): AlbumStore => {
  const later = (ms: number) => new Date(clock.now().getTime() + ms)
  return {
    add: async (addressId, groupId, message) => {
      const { chat, message_id } = message
      await pool.query(ADD, [
        addressId,
        ...[chat.id, groupId, message_id],
        JSON.stringify(message),
        clock.now(),
      ])
    },
    claim: async (leaseMs) => {
      const waiting = await pool.query('select from album_part where content is not null limit 1')
      if (waiting.rows.length === 0) return null
      return prisma.$transaction(async (tx) => {
        const inside = within(tx).pool
        const { rows } = await inside.query<{ locked: boolean }>(LOCK)
        if (!rows[0]!.locked) return null
        const times = [later(0), later(-QUIET_MS), later(-LONGEST_MS), later(leaseMs)]
        return toAlbum((await inside.query<Row>(CLAIM, [...times, newId()])).rows)
      })
    },
    lease: async (album, ms) => {
      await pool.query(`update album_part set lease_until = $5 where ${OF_BATCH}`, [
        ...batchOf(album),
        later(ms),
      ])
    },
    stored: async (album) => {
      await pool.query(
        `update album_part set content = null, lease_until = null where ${OF_BATCH}`,
        batchOf(album),
      )
    },
  }
}

/** Deletes what is kept of albums to recognise repeated updates. Returns the number of their parts. */
export const pruneAlbums = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(
    db,
    composedOf(sql`with old as (delete from album_part where (${raw(KEY)}, message_id) in (
       select ${raw(KEY)}, message_id from album_part where arrived_at < $1 order by arrived_at limit $2 ${SKIP_LOCKED}) returning 1)
     select count(*)::int as count from old`),
    new Date(now.getTime() - KEPT_MS),
    signal,
  )
