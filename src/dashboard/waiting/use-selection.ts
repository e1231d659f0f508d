import { useState } from 'react'
import { useKeys } from '../screen/keys.ts'
import { text } from './strings.ts'

/** Which rows are selected. Those that are gone are not, also when they come back. */
export const useSelection = (ids: readonly string[], current: string | undefined) => {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const chosen = ids.filter((id) => selected.has(id))
  const toggle = (id: string) =>
    setSelected(new Set(selected.has(id) ? chosen.filter((one) => one !== id) : [...chosen, id]))
  const all = () => setSelected(new Set(chosen.length === ids.length ? [] : ids))
  useKeys([
    {
      keys: 'x',
      label: text.keys.select,
      group: 'list',
      run: () => {
        if (current !== undefined && ids.includes(current)) toggle(current)
      },
    },
    { keys: '* a', label: text.keys.selectAll, group: 'list', run: all },
  ])
  return {
    ids: chosen,
    has: (id: string) => selected.has(id),
    toggle,
    all,
    clear: () => setSelected(new Set()),
  }
}

export type Selection = ReturnType<typeof useSelection>
