import { useMemo } from 'react'
import { CopyButton } from '../parts/copy.tsx'
import { codesIn } from './codes-in.ts'
import { text } from './strings.ts'

/** Codes that a message announces, each of which a press copies. */
export const Codes = ({ of }: { of: string }) => {
  const codes = useMemo(() => codesIn(of), [of])
  if (codes.length === 0) return null
  return (
    <ul className="codes" aria-label={text.codes}>
      {codes.map((code) => (
        <li key={code}>
          <CopyButton value={code} what={text.code(code)} label={code} />
        </li>
      ))}
    </ul>
  )
}
