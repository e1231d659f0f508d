import { CHANNELS, type Channel } from '../channels/channels.ts'
import { periodOf } from './dates.ts'

/** The filters of the search field, as words: `from:ann@example.com is:refused where is it`. */

const THREAD_STATES = ['open', 'snoozed', 'done', 'all'] as const
const MESSAGE_STATES = ['refused', 'sent', 'failed', 'scheduled', 'waiting'] as const

export type State = (typeof MESSAGE_STATES)[number] | (typeof THREAD_STATES)[number]

export interface Search {
  /** What is searched for in subject, text and counterpart. */
  words: string
  from: string | null
  to: string | null
  subject: string | null
  label: string | null
  agentId: string | null
  channel: Channel | null
  unread: boolean | null
  /** The last one that was asked for; otherwise what is open, and everything where something is searched for. */
  state: State
  hasAttachment: boolean
  /** The member that it is assigned to. */
  assignedTo: string | null
  since: Date | null
  until: Date | null
}

/** A part of the query that means nothing, and why. */
export interface Problem {
  word: string
  text: string
}

export const FILTERS = [
  ...(['from', 'to', 'subject', 'label', 'is', 'has', 'in'] as const),
  ...(['agent', 'before', 'after', 'on', 'assigned'] as const),
]
type Name = (typeof FILTERS)[number]

/** The values of the filters that have only some. */
export const VALUES: Partial<Record<Name, readonly string[]>> = {
  is: ['unread', 'read', ...THREAD_STATES, ...MESSAGE_STATES],
  has: ['attachment'],
  in: CHANNELS,
  assigned: ['me'],
}

export interface Token {
  /** As it was typed. */
  word: string
  start: number
  end: number
  /** The filter; null for what is searched for. */
  name: Name | null
  value: string
}

/** What stands between white space, but for that in quotes. */
const TOKEN = /(?:[^\s"]|"[^"]*(?:"|$))+/g
const FILTER = /^-?([a-z]+):(.*)$/is

export const tokensOf = (query: string): Token[] =>
  Array.from(query.matchAll(TOKEN), ({ 0: word, index }) => {
    const [, name = '', value = ''] = FILTER.exec(word) ?? []
    const filter = FILTERS.find((one) => one === name.toLowerCase()) ?? null
    const said = filter === null ? word : value.replaceAll('"', '').trim()
    return { word, start: index, end: index + word.length, name: filter, value: said }
  })

const isOneOf = <Value extends string>(values: readonly Value[], value: string): value is Value =>
  (values as readonly string[]).includes(value)

/** Filters of the same group exclude each other. */
const groupOf = ({ name, value }: Token): string | null =>
  name === 'is' ? (/^(un)?read$/i.test(value) ? 'read' : 'state') : name

/** The words for what is wrong with a query. They come from outside, since they depend on the browser. */
interface Sayings {
  empty(name: string): string
  value(name: string, value: string, values: readonly string[]): string
  agent(name: string): string
  date(value: string): string
  quote(word: string): string
  excluded(word: string): string
  both(one: string, other: string): string
}

/** What a query is read with. */
export interface Known {
  agents: readonly { id: string; name: string }[]
  /** The member who searches. */
  me: string
  now: Date
  locale: string
  say: Sayings
}

/** The agent of this name, or the only one whose name begins so. */
const agentNamed = (name: string, agents: Known['agents']): string | null => {
  const wanted = name.toLowerCase()
  const exact = agents.find((agent) => agent.name.toLowerCase() === wanted)
  const similar = agents.filter((agent) => agent.name.toLowerCase().startsWith(wanted))
  return exact?.id ?? (similar.length === 1 ? similar[0]!.id : null)
}

/** What a filter with a date sets; null if it is none. */
const datesOf = (name: Name, value: string, { now, locale }: Known): Partial<Search> | null => {
  const period = periodOf(value, now, locale)
  if (!period) return null
  // The API includes the last moment.
  const before = (moment: Date) => new Date(moment.getTime() - 1)
  if (name === 'before') return { until: before(period.from) }
  return name === 'after' ? { since: period.from } : { since: period.from, until: before(period.to) }
}

/** What a filter sets, or why it means nothing. */
const readFilter = (name: Name, value: string, known: Known): Partial<Search> | string => {
  const { agents, me, say } = known
  const lower = value.toLowerCase()
  const given = VALUES[name]
  if (value.trim() === '') return say.empty(name)
  if (name === 'from' || name === 'to' || name === 'subject' || name === 'label') return { [name]: value }
  if (name === 'agent') {
    const agentId = agentNamed(value, agents)
    return agentId ? { agentId } : say.agent(value)
  }
  if (!given) return datesOf(name, value, known) ?? say.date(value)
  if (name === 'has' && /^(attachment|file)s?$/.test(lower)) return { hasAttachment: true }
  if (!given.includes(lower)) return say.value(name, value, given)
  if (name === 'in') return { channel: CHANNELS.find((one) => one === lower) ?? null }
  if (name === 'assigned') return { assignedTo: me }
  return lower.endsWith('read') ? { unread: lower === 'unread' } : { state: lower as State }
}

const NOTHING: Omit<Search, 'state'> = {
  ...{ words: '', from: null, to: null, subject: null, label: null, agentId: null, channel: null },
  ...{ unread: null, hasAttachment: false, assignedTo: null, since: null, until: null },
}

const isSearched = ({ words, from, to, subject, label, hasAttachment, since, until }: typeof NOTHING) =>
  words !== '' || (from ?? to ?? subject ?? label ?? since ?? until) !== null || hasAttachment

/** Reads a query. A part that means nothing is left out, and named. */
export const parseSearch = (query: string, known: Known): { search: Search; problems: Problem[] } => {
  const problems: Problem[] = []
  const found: Partial<Search> & typeof NOTHING = { ...NOTHING }
  const words: string[] = []
  const groups = new Map<string, string>()
  for (const token of tokensOf(query)) {
    const { word, name, value } = token
    const refuse = (why: string) => problems.push({ word, text: why })
    if ((word.match(/"/g)?.length ?? 0) % 2 === 1) refuse(known.say.quote(word))
    else if (name === null) words.push(word)
    else if (word.startsWith('-')) refuse(known.say.excluded(word))
    else {
      const before = groups.get(groupOf(token)!)
      groups.set(groupOf(token)!, word)
      const read = readFilter(name, value, known)
      if (typeof read === 'string') refuse(read)
      else if (before !== undefined && before !== word) refuse(known.say.both(before, word))
      else Object.assign(found, read)
    }
  }
  found.words = words.join(' ')
  return { search: { ...found, state: found.state ?? (isSearched(found) ? 'all' : 'open') }, problems }
}

export const isOfThreads = (search: Search): boolean =>
  isOneOf(THREAD_STATES, search.state) && !isSearched({ ...search, label: null })

/** Whether threads are listed in this state, or messages. */
export const isThreadState = (state: State): state is (typeof THREAD_STATES)[number] =>
  isOneOf(THREAD_STATES, state)

/** The query with a filter added instead of those that it excludes, or taken out if it was in it. */
export const toggleFilter = (query: string, filter: string): string => {
  const [added] = tokensOf(filter)
  const tokens = tokensOf(query)
  const has = tokens.some(({ word }) => word.toLowerCase() === filter)
  const others = tokens.filter((token) => groupOf(token) === null || groupOf(token) !== groupOf(added!))
  return [...others.map(({ word }) => word), ...(has ? [] : [filter])].join(' ')
}

/** The query for another state of the same search; the state that is meant without one is not named. */
export const withState = (query: string, state: State, known: Known): string => {
  const without = tokensOf(query)
    .filter((token) => groupOf(token) !== 'state')
    .map(({ word }) => word)
    .join(' ')
  return parseSearch(without, known).search.state === state ? without : toggleFilter(without, `is:${state}`)
}
