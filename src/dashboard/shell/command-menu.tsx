import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useModal } from '../parts/dialog/modal.ts'
import { type Command, noteRun, useCommands } from './commands.tsx'
import { Keys } from './key-help.tsx'
import { text } from './strings.ts'

/** Commands of a group, which follow each other. */
const groupsOf = (commands: readonly Command[]) => {
  const groups = [...new Set(commands.map(({ group }) => group))]
  return groups.map((group) => ({ group, own: commands.filter((one) => one.group === group) }))
}

interface OptionProps {
  command: Command
  id: string
  selected: boolean
  onChoose(): void
}

const Option = ({ command, id, selected, onChoose }: OptionProps) => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keyboard, and names the current entry
  <div id={id} role="option" tabIndex={-1} aria-selected={selected} onClick={onChoose}>
    {command.icon}
    <span>{command.label}</span>
    {command.context && <span className="command-context">{command.context}</span>}
    {command.keys && <Keys keys={command.keys} />}
  </div>
)

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
    if (!command) return
    noteRun(command)
    // Before the menu has gone, and with it what closed menus contain.
    command.run()
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
        {groupsOf(commands).map(({ group, own }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
          <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
            <p id={`${id}-${group}`}>{text.commandGroups[group]}</p>
            {own.map((command) => {
              const index = commands.indexOf(command)
              return (
                <Option
                  key={command.id}
                  command={command}
                  id={`${id}-${index}`}
                  selected={index === current}
                  onChoose={() => choose(command)}
                />
              )
            })}
          </div>
        ))}
      </div>
    </dialog>
  )
}
