import { type KeyboardEvent, type Ref, useCallback, useEffect, useId, useState } from 'react'
import { CHANNELS } from '../channels/channels.ts'
import { IconButton } from '../parts/button.tsx'
import { SearchIcon, XIcon } from '../parts/icons.tsx'
import { useAgents } from '../screen/viewer.tsx'
import type { Row } from '../triage/row.ts'
import { parseSearch, type Token } from './query.ts'
import { SaveView } from './save-view.tsx'
import { text } from './strings.ts'
import { type Suggestion, suggestionsFor, take, typedWord } from './suggestions.ts'
import type { List } from './use-list.ts'

const meaningOf = (filter: keyof typeof text.means | 'in'): string =>
  filter === 'in' ? CHANNELS.join(', ') : text.means[filter]

/** The search runs when the typing pauses. */
const PAUSE_MS = 250

/** What is typed, and what is wrong with it; the search runs when the typing pauses and nothing is wrong. */
const useTyped = ({ query, known, setQuery }: List) => {
  const [typed, setTyped] = useState(query)
  const [shown, setShown] = useState(query)
  /** The query that was set from here, until the address has it: what is typed meanwhile stays, also a space. */
  const [own, setOwn] = useState<string | null>(null)
  const [isChecked, setChecked] = useState(true)
  if (query !== shown) {
    setShown(query)
    setOwn(null)
    if (query !== own) setTyped(query)
  }
  const set = useCallback(
    (next: string) => {
      setOwn(next)
      setQuery(next)
    },
    [setQuery],
  )
  const { problems } = parseSearch(typed, known)
  const isRight = problems.length === 0
  useEffect(() => {
    const timer = setTimeout(() => {
      setChecked(true)
      if (isRight && typed.trim() !== query) set(typed.trim())
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, query, set, isRight])
  return {
    typed,
    type: (next: string) => {
      setTyped(next)
      setChecked(false)
    },
    problem: isChecked ? problems[0] : undefined,
    search: () => {
      setChecked(true)
      if (isRight && typed.trim() !== query) set(typed.trim())
    },
  }
}

/** The suggestions for the word that is being typed, of which the arrow keys choose one. */
const useSuggestions = (word: Token | undefined, rows: readonly Row[]) => {
  const agents = useAgents()
  const [isClosed, setClosed] = useState(true)
  const [at, setAt] = useState(-1)
  // While another list is loaded, those of the last one are suggested: they do not vanish under the keys.
  const [known, setKnown] = useState(rows)
  if (rows.length > 0 && rows !== known) setKnown(rows)
  const options = isClosed ? [] : suggestionsFor(word, { agents, rows: known })
  return {
    options,
    at: Math.min(at, options.length - 1),
    close: () => setClosed(true),
    open: () => {
      setClosed(false)
      setAt(-1)
    },
    step: (step: number) => setAt((old) => (old + step + options.length) % Math.max(1, options.length)),
  }
}

interface OptionsProps {
  id: string
  options: readonly Suggestion[]
  at: number
  onTake(suggestion: Suggestion): void
}

const Options = ({ id, options, at, onTake }: OptionsProps) => (
  <div role="listbox" id={id} aria-label={text.suggestions} className="suggestions">
    {options.map((option, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keyboard, and names the current entry
      <div
        key={option.text}
        id={`${id}-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === at}
        // The field would lose the focus, and close the list.
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onTake(option)}
      >
        <span>{option.text}</span>
        {option.filter && <span className="hint">{meaningOf(option.filter)}</span>}
      </div>
    ))}
  </div>
)

interface SearchProps {
  list: List
  rows: readonly Row[]
  /** The keyboard goes on to the list. */
  onLeave(): void
  ref: Ref<HTMLInputElement>
}

/** The search field, whose filters are words. What it does not understand is said below it. */
export const SearchField = ({ list, rows, onLeave, ref }: SearchProps) => {
  const id = useId()
  const { typed, type, problem, search } = useTyped(list)
  const [caret, setCaret] = useState(0)
  const word = typedWord(typed, caret)
  const { options, at, open, close, step } = useSuggestions(word, rows)
  const isOpen = options.length > 0
  // What has suggestions is not finished yet.
  const shown = isOpen ? undefined : problem
  const takeOption = (option: Suggestion) => {
    if (!word) return
    const next = take(typed, word, option)
    type(next)
    setCaret(word.start + option.text.length)
    open()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event
    const moves = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (isOpen && moves) step(at < 0 && moves < 0 ? 0 : moves)
    else if (isOpen && key === 'Escape') close()
    else if (key === 'Escape' || key === 'ArrowDown') onLeave()
    else if (isOpen && key === 'Enter' && at >= 0) takeOption(options[at]!)
    else if (key === 'Enter') {
      close()
      search()
    } else return
    event.preventDefault()
  }
  return (
    <search className="inbox-search">
      <div className="search-field">
        <SearchIcon size={14} />
        <input
          ref={ref}
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={`${id}-options`}
          aria-activedescendant={isOpen && at >= 0 ? `${id}-options-${at}` : undefined}
          aria-label={text.search}
          aria-invalid={shown !== undefined || undefined}
          aria-describedby={shown && `${id}-problem`}
          placeholder={text.searchHint}
          value={typed}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => {
            type(target.value)
            setCaret(target.selectionStart ?? target.value.length)
            open()
          }}
          onBlur={close}
          onKeyDown={onKeyDown}
        />
        {typed !== '' && <IconButton icon={XIcon} label={text.clear} onClick={() => list.setQuery('')} />}
        <SaveView list={list} />
        {isOpen && <Options id={`${id}-options`} options={options} at={at} onTake={takeOption} />}
      </div>
      {shown && (
        <p className="error" id={`${id}-problem`} role="alert">
          {shown.text}
        </p>
      )}
    </search>
  )
}
