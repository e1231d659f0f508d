import { setImmediate } from 'node:timers/promises'
import type { Page } from '../../core/cursor.ts'
import type { Db } from '../../db/client.ts'
import { type Sought, soughtIn } from '../reading/search-query.ts'
import { searchWords, UNSPACED_CHARACTERS } from '../reading/words.ts'

/** A part of a fragment, and whether it is among what was searched for. */
export interface HighlightPart {
  text: string
  matched: boolean
}

/** Where a message has words that were searched for. `attachments`: in a file, of which there is no fragment. */
export interface Highlight {
  field: 'attachments' | 'counterpart' | 'counterpartName' | 'subject' | 'text'
  parts: HighlightPart[]
}

interface Searched {
  subject: string | null
  counterpart: string
  counterpartName: string | null
  text: string
  attachments: readonly unknown[]
}

const FIELDS = ['subject', 'counterpart', 'counterpartName', 'text'] as const

/** A word as it is written: marks and invisible characters are in it, and each character of a script without spaces is one. */
const WRITTEN = new RegExp(
  `${UNSPACED_CHARACTERS.source}\\p{M}*|[[\\p{L}\\p{M}\\p{N}\\xad]--${UNSPACED_CHARACTERS.source}]+`,
  'gv',
)

/** As much of a text as the search index has. */
const MAX_TEXT = 100_000
/** Words that are looked at in one go: everything else runs in between. */
const SLICE = 2_000
/** Places that are found in one field, of which the first ones are shown. */
const MAX_PLACES = 60

type Place = readonly [from: number, to: number]
interface Written {
  word: string
  from: number
  to: number
}

/** Whether the last word of what is sought is this one. */
const lastIs = (word: string, { words, isBeginning }: Sought): boolean =>
  isBeginning ? word.startsWith(words.at(-1)!) : word === words.at(-1)

/** Whether these words end with what is sought, of which the last word does. */
const endsWith = (words: readonly Written[], { words: sought }: Sought): boolean => {
  const [start, last] = [words.length - sought.length, sought.length - 1]
  return (
    start >= 0 && sought.every((wanted, index) => index === last || words[start + index]!.word === wanted)
  )
}

/** Finds what is sought in a text, in the order in which it ends. */
const placesIn = async (text: string, sought: readonly Sought[]): Promise<Place[]> => {
  const longest = Math.max(...sought.map(({ words }) => words.length))
  /** The words of what is written, and what is sought that each may end: most are in none, however often they are repeated. */
  const known = new Map<string, { word: string; ends: Sought[] }[]>()
  const wordsOf = (written: string) =>
    searchWords(written).map((word) => ({ word, ends: sought.filter((one) => lastIs(word, one)) }))
  const recent: Written[] = []
  const places: Place[] = []
  let count = 0
  for (const { 0: written, index } of text.slice(0, MAX_TEXT).matchAll(WRITTEN)) {
    const words = known.get(written) ?? wordsOf(written)
    known.set(written, words)
    for (const { word, ends } of words) {
      recent.push({ word, from: index, to: index + written.length })
      if (recent.length > longest) recent.shift()
      const found = ends.filter((one) => endsWith(recent, one))
      for (const one of found)
        places.push([recent[recent.length - one.words.length]!.from, index + written.length])
    }
    if (places.length >= MAX_PLACES) break
    if (++count % SLICE === 0) await setImmediate()
  }
  return places
}

/** Places in their order, those that overlap as one. */
const joined = (places: readonly Place[]): Place[] => {
  const all: [number, number][] = []
  for (const [from, to] of places.toSorted(([one], [other]) => one - other)) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

/** Characters of a fragment, of those before its first place, and fragments of one field. */
const LENGTH = 160
const BEFORE = 50
const MAX_FRAGMENTS = 3

/** White space as it is shown in one line. */
const inLine = (text: string): string => text.replace(/\s+/g, ' ').toWellFormed()

const partsOf = (text: string, [start, end]: Place, places: readonly Place[]): HighlightPart[] => {
  const parts: HighlightPart[] = []
  const add = (part: string, matched: boolean) => {
    if (part !== '') parts.push({ text: inLine(part), matched })
  }
  let at = start
  for (const [from, to] of places) {
    add(text.slice(at, from), false)
    add(text.slice(from, Math.min(to, end)), true)
    at = Math.min(to, end)
  }
  add(text.slice(at, end), false)
  if (start > 0) parts.unshift({ text: '…', matched: false })
  if (end < text.length) parts.push({ text: '…', matched: false })
  return parts
}

/** The fragments around the first places. */
const fragmentsOf = (text: string, places: readonly Place[]): HighlightPart[][] => {
  const fragments: HighlightPart[][] = []
  let end = 0
  for (const [first] of places) {
    if (fragments.length === MAX_FRAGMENTS) break
    if (first < end) continue
    const start = first <= BEFORE || text.length <= LENGTH ? 0 : Math.max(end, first - BEFORE)
    end = Math.min(start + LENGTH, text.length)
    const inside = places.filter(([from]) => from >= start && from < end)
    fragments.push(partsOf(text, [start, end], inside))
  }
  return fragments
}

/**
 * Returns where a message has the words of a search, field by field, in short fragments. Their texts are those of the
 * message, and may come from outside: they are data, and never markup.
 */
const highlightsOf = async (q: string, message: Searched): Promise<Highlight[]> => {
  const sought = soughtIn(q)
  if (sought.length === 0) return []
  const highlights: Highlight[] = []
  for (const field of FIELDS) {
    const text = message[field]
    const places = text ? joined(await placesIn(text, sought)) : []
    if (text) highlights.push(...fragmentsOf(text, places).map((parts) => ({ field, parts })))
  }
  if (highlights.length > 0 || message.attachments.length === 0) return highlights
  return [{ field: 'attachments', parts: [] }]
}

/** Adds to the messages of a list where they have the words that were searched for, if any were. */
export const withHighlights = async <Message extends Searched>(
  reading: Promise<Page<Message>>,
  q: string | undefined,
): Promise<Page<Message & { highlights?: Highlight[] }>> => {
  const page = await reading
  if (q === undefined) return page
  const items: (Message & { highlights: Highlight[] })[] = []
  for (const message of page.items) items.push({ ...message, highlights: await highlightsOf(q, message) })
  return { ...page, items }
}

const SEARCHED = {
  name: 'searched texts',
  text: `select m.id, m.subject, m.counterpart, m.counterpart_name as "counterpartName", left(m.text, ${MAX_TEXT}) as text,
                case when exists (select from attachment f where f.message_id = m.id and f.agent_id = m.agent_id) then array[1] else '{}' end as attachments
           from unnest($1::uuid[], $2::uuid[]) as k(id, agent_id) join message m on m.id = k.id and m.agent_id = k.agent_id`,
}

/** Returns the same for messages that a search has found, in their order, with one statement for all. */
export const readHighlights = async (
  { pool }: Pick<Db, 'pool'>,
  q: string,
  messages: readonly { id: string; agentId: string }[],
): Promise<Highlight[][]> => {
  const values = [messages.map(({ id }) => id), messages.map(({ agentId }) => agentId)]
  const { rows } = await pool.query<Searched & { id: string }>({ ...SEARCHED, values })
  const found = new Map<string, Highlight[]>()
  for (const row of rows) found.set(row.id, await highlightsOf(q, row))
  return messages.map(({ id }) => found.get(id) ?? [])
}
