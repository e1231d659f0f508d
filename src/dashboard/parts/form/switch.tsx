import { type ReactNode, useEffect, useState } from 'react'
import { Toggle } from './field.tsx'

interface SwitchProps {
  label: string
  hint: ReactNode
  on: boolean
  disabled?: boolean
  /** Resolves to whether it was switched. */
  onSwitch(on: boolean): Promise<boolean>
}

/** A setting that is stored at once. It shows what was chosen, and goes back if that fails. */
export const Switch = ({ on, onSwitch, ...rest }: SwitchProps) => {
  const [wanted, setWanted] = useState<boolean | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is stored has changed
  useEffect(() => setWanted(null), [on])
  const choose = async (next: boolean) => {
    setWanted(next)
    if (!(await onSwitch(next))) setWanted(null)
  }
  return <Toggle {...rest} checked={wanted ?? on} onChange={(event) => void choose(event.target.checked)} />
}
