import { CopyButton } from '../parts/copy.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

/** The codes in a message, each of which a press copies. Its links are in the text. */
export const Codes = ({ of }: { of: ShownMessage['codes'] }) => {
  const codes = of.filter(({ kind }) => kind === 'code')
  if (codes.length === 0) return null
  return (
    <ul className="codes" aria-label={text.codes}>
      {codes.map(({ value }) => (
        <li key={value}>
          <CopyButton value={value} what={text.code(value)} label={value} />
        </li>
      ))}
    </ul>
  )
}
