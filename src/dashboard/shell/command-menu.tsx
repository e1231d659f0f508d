import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { ChevronRightIcon, SearchIcon } from '../parts/icons.tsx'
import { useModal } from '../parts/modal.ts'
import { Keys } from './key-help.tsx'
import { useBindings } from './keys.ts'
import { DESTINATIONS } from './navigation.ts'
import { text } from './strings.ts'
import { useAgents } from './viewer.tsx'

interface Command {
  id: string
  label: string
  icon: ReactNode
  keys?: string
  run(): void
}

/** Whether all words occur, in any order. */
const matches = (label: string, words: readonly string[]): boolean =>
  words.every((word) => label.toLowerCase().includes(word))

const useCommands = (typed: string): Command[] => {
  const [, go] = useLocation()
  const bindings = useBindings()
  const agents = useAgents()
  const all = useMemo<Command[]>(
    () => [
      ...DESTINATIONS.map(({ href, label, icon: Shape, keys }) => ({
        id: href,
        label,
        icon: <Shape />,
        keys,
        run: () => go(href),
      })),
      ...bindings
        .filter(({ group, keys }) => group !== 'go' && keys !== 'mod+k')
        .map(({ keys, label, run }) => ({ id: keys, label, icon: <ChevronRightIcon />, keys, run })),
      ...agents.map(({ id, name, icon }) => ({
        id,
        label: name,
        icon: <AgentIcon name={icon} />,
        run: () => go(`/inbox?agent=${id}`),
      })),
    ],
    [agents, bindings, go],
  )
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const found = all.filter(({ label }) => matches(label, words))
  if (words.length === 0) return found
  const search = {
    id: 'search',
    label: text.searchFor(typed.trim()),
    icon: <SearchIcon />,
    run: () => go(`/inbox?q=${encodeURIComponent(typed.trim())}`),
  }
  return [...found, search]
}

/** Goes anywhere and does anything by typing a part of its name. */
export const CommandMenu = ({ onClose }: { onClose(): void }) => {
  const modal = useModal(onClose)
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const commands = useCommands(typed)
  const id = useId()
  const current = Math.min(at, commands.length - 1)
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [current, id])
  const choose = (command: Command | undefined) => {
    onClose()
    command?.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((current + step + commands.length) % Math.max(1, commands.length))
    else if (event.key === 'Enter') choose(commands[current])
    else return
    event.preventDefault()
  }
  return (
    <dialog {...modal} className="dialog commands" aria-label={text.commands}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={commands.length > 0 ? `${id}-${current}` : undefined}
        aria-label={text.commandHint}
        placeholder={text.commandHint}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-list`} aria-label={text.commands}>
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keyboard, and names the current entry
          <div
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            onClick={() => choose(command)}
          >
            {command.icon}
            <span>{command.label}</span>
            {command.keys && <Keys keys={command.keys} />}
          </div>
        ))}
      </div>
      {commands.length === 0 && <p className="hint">{text.noCommand}</p>}
    </dialog>
  )
}
