import type { Queryable } from '../../db/client.ts'
import { mergeThreadStates } from '../stored/emptied-threads.ts'

/** What of a mail decides its thread. */
export interface Threaded {
  id: string
  internetMessageId: string | null
  /** Ids that it refers to, oldest first. */
  threadReferences: readonly string[]
}

/** The threads that stored messages are in. */
export interface KnownThreads {
  /** By the Message-IDs of their messages. */
  of: ReadonlyMap<string, string>
  /** Threads of imported messages that refer to a Message-ID. */
  awaiting: ReadonlyMap<string, readonly string[]>
}

export interface Threading {
  /** The thread of each mail, by the mail's id. */
  threads: Map<string, string>
  /** Stored threads that turned out to be part of another one. */
  merged: Map<string, string>
}

/**
 * Puts mails into threads. A mailbox may contain an answer before the mail that it answers, so a mail also joins
 * the threads that refer to it; if there are several, they become one. Copies with the same Message-ID are in
 * one thread. The subject never joins mails.
 */
export const threadMails = (mails: readonly Threaded[], known: KnownThreads): Threading => {
  const of = new Map(known.of)
  const awaiting = new Map([...known.awaiting].map(([id, threads]) => [id, [...threads]]))
  const merged = new Map<string, string>()
  const current = (thread: string): string => {
    let found = thread
    for (let next = merged.get(found); next !== undefined; next = merged.get(found)) found = next
    return found
  }
  const joined = new Map<string, string>()
  for (const { id, internetMessageId, threadReferences } of mails) {
    const answered = threadReferences.toReversed().find((reference) => of.has(reference))
    const named = [answered, internetMessageId].flatMap((one) => (one ? (of.get(one) ?? []) : []))
    const answers = internetMessageId === null ? [] : (awaiting.get(internetMessageId) ?? [])
    const candidates = [...named, ...answers].map(current)
    const thread = candidates[0] ?? id
    for (const other of candidates) if (current(other) !== thread) merged.set(current(other), thread)
    joined.set(id, thread)
    if (internetMessageId !== null && !of.has(internetMessageId)) of.set(internetMessageId, thread)
    for (const reference of threadReferences)
      if (!of.has(reference)) awaiting.set(reference, [...(awaiting.get(reference) ?? []), thread])
  }
  return {
    threads: new Map([...joined].map(([id, thread]) => [id, current(thread)])),
    merged: new Map([...merged.keys()].map((thread) => [thread, current(thread)])),
  }
}

/**
 * $1 the agent, $2 ids that mails refer to or have, $3 those that they have. The second part uses the index of what imported
 * messages refer to.
 */
const KNOWN = {
  name: 'threads of imported mails',
  text: `
    select * from (
      select distinct on (m.internet_message_id) m.internet_message_id as reference, m.thread_id, false as awaiting
        from message m where m.agent_id = $1::uuid and m.internet_message_id = any($2::text[])
       order by m.internet_message_id, m.status = 'refused', m.created_at) o
    union all
    select distinct r.reference, m.thread_id, true
      from message m cross join lateral unnest(m.thread_references) as r(reference)
     where m.agent_id = $1::uuid and m.status = 'imported' and m.thread_references && $3::text[] and r.reference = any($3::text[])`,
}

/** Finds the stored threads that these mails can belong to. */
export const findThreads = async (
  pool: Queryable,
  agentId: string,
  mails: readonly Threaded[],
): Promise<KnownThreads> => {
  const own = mails.flatMap(({ internetMessageId }) => internetMessageId ?? [])
  const references = [...new Set([...own, ...mails.flatMap(({ threadReferences }) => threadReferences)])]
  const { rows } = await pool.query<{ reference: string; thread_id: string; awaiting: boolean }>({
    ...KNOWN,
    values: [agentId, references, own],
  })
  const awaiting = new Map<string, string[]>()
  for (const row of rows.filter((each) => each.awaiting))
    awaiting.set(row.reference, [...(awaiting.get(row.reference) ?? []), row.thread_id])
  return {
    of: new Map(rows.filter((row) => !row.awaiting).map((row) => [row.reference, row.thread_id])),
    awaiting,
  }
}

/** Moves the messages of merged threads. */
export const mergeThreads = async (
  pool: Queryable,
  agentId: string,
  merged: ReadonlyMap<string, string>,
): Promise<void> => {
  if (merged.size === 0) return
  await pool.query({
    name: 'merge threads',
    text: `update message m set thread_id = t.target
             from unnest($2::uuid[], $3::uuid[]) as t(source, target)
            where m.agent_id = $1::uuid and m.thread_id = t.source`,
    values: [agentId, [...merged.keys()], [...merged.values()]],
  })
  await mergeThreadStates(pool, agentId, merged)
}
