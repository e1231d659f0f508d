import { Link } from 'wouter'
import { type State, toggleFilter, tokensOf, withState } from './query.ts'
import { text } from './strings.ts'
import type { List } from './use-list.ts'

const VIEWS = Object.keys(text.view) as (State & keyof typeof text.view)[]

/** The views of the inbox: threads by what is left to do, and messages that were refused or sent. */
export const Views = ({ list }: { list: List }) => (
  <nav className="views" aria-label={text.views}>
    {VIEWS.map((view) => (
      <Link
        key={view}
        href={list.hrefOfQuery(withState(list.query, view, list.known))}
        aria-current={list.search.state === view ? 'page' : undefined}
      >
        {text.view[view]}
      </Link>
    ))}
  </nav>
)

/** The usual filters as buttons. */
export const Filters = ({ list: { query, setQuery } }: { list: List }) => {
  const words = tokensOf(query.toLowerCase()).map(({ word }) => word)
  return (
    <fieldset className="filters">
      <legend className="unseen">{text.filters}</legend>
      {Object.entries(text.filter).map(([filter, label]) => (
        <button
          key={filter}
          type="button"
          aria-pressed={words.includes(filter)}
          onClick={() => setQuery(toggleFilter(query, filter))}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}
