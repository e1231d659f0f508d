import type { Row } from '../triage/row.ts'
import { FILTERS, type Token, tokensOf, VALUES } from './query.ts'

/** What the field suggests: a text in place of the word that is being typed. */
export interface Suggestion {
  text: string
  /** The filter that it begins, for an explanation. */
  filter?: (typeof FILTERS)[number]
}

const MOST = 8

interface Sources {
  agents: readonly { name: string }[]
  /** The rows that are loaded: of them, the labels and who writes. */
  rows: readonly Row[]
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value)

const valuesOf = (name: Token['name'], { agents, rows }: Sources): readonly string[] => {
  if (name === 'agent') return agents.map((agent) => agent.name)
  if (name === 'label') return rows.flatMap(({ labels }) => labels)
  if (name === 'from' || name === 'to') return rows.flatMap(({ people }) => people)
  return (name && VALUES[name]) ?? []
}

/** The word at the end of which somebody types. */
export const typedWord = (query: string, caret: number): Token | undefined =>
  tokensOf(query).find(({ end }) => end === caret)

export const suggestionsFor = (typed: Token | undefined, sources: Sources): Suggestion[] => {
  if (!typed) return []
  const lower = typed.value.toLowerCase()
  if (typed.name === null)
    return FILTERS.filter((name) => name.startsWith(lower)).map((filter) => ({ text: `${filter}:`, filter }))
  const values = new Set(valuesOf(typed.name, sources))
  return [...values]
    .filter((value) => value.toLowerCase().includes(lower) && value.toLowerCase() !== lower)
    .slice(0, MOST)
    .map((value) => ({ text: `${typed.name}:${quoted(value)}` }))
}

/** The query after a suggestion was taken. */
export const take = (query: string, { start, end }: Token, { text }: Suggestion): string =>
  `${query.slice(0, start)}${text}${text.endsWith(':') ? '' : ' '}${query.slice(end).trimStart()}`
