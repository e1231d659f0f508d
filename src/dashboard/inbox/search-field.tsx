import { type Ref, useEffect, useState } from 'react'
import { IconButton } from '../parts/button.tsx'
import { SearchIcon, XIcon } from '../parts/icons.tsx'
import { toggleFilter } from './query.ts'
import { text } from './strings.ts'

/** The search runs when the typing pauses. */
const PAUSE_MS = 250

interface SearchProps {
  query: string
  onQuery(query: string): void
  ref: Ref<HTMLInputElement>
}

const Filters = ({ query, onQuery }: Pick<SearchProps, 'onQuery' | 'query'>) => {
  const words = query.toLowerCase().split(/\s+/)
  return (
    <fieldset className="filters">
      <legend className="unseen">{text.filters}</legend>
      {Object.entries(text.filter).map(([filter, label]) => (
        <button
          key={filter}
          type="button"
          aria-pressed={words.includes(filter)}
          onClick={() => onQuery(toggleFilter(query, filter))}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}

/** The search field, whose filters are words, with the usual ones as buttons. */
export const SearchField = ({ query, onQuery, ref }: SearchProps) => {
  const [typed, setTyped] = useState(query)
  const [known, setKnown] = useState(query)
  if (query !== known) {
    setKnown(query)
    setTyped(query)
  }
  useEffect(() => {
    if (typed.trim() === query) return
    const timer = setTimeout(() => onQuery(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, query, onQuery])
  return (
    <search className="inbox-search">
      <div className="search-field">
        <SearchIcon size={14} />
        <input
          ref={ref}
          aria-label={text.search}
          placeholder={text.searchHint}
          value={typed}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Escape') currentTarget.blur()
            if (key === 'Enter') onQuery(typed.trim())
          }}
        />
        {typed !== '' && <IconButton icon={XIcon} label={text.clear} onClick={() => onQuery('')} />}
      </div>
      <Filters query={query} onQuery={onQuery} />
    </search>
  )
}
