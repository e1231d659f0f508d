import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Load } from '../parts/states.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'
import { Summary } from './why.tsx'

const HIDDEN = graphql(`query MessageHiddenText($id: UUID!) { message(id: $id) { id hiddenText } }`)

const Texts = ({ id }: { id: string }) => (
  <Load from={useLive(HIDDEN, { id }, [])}>
    {({ message: { hiddenText } }) =>
      hiddenText.length === 0 ? (
        <p className="soft">{text.hidden.none}</p>
      ) : (
        <ul className="hidden-text" aria-label={text.hidden.label}>
          {hiddenText.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: texts are known by their order
            <li key={index} dir="auto">
              {one}
            </li>
          ))}
        </ul>
      )
    }
  </Load>
)

/** What of an email people do not see: read on demand, because it may be long and meant for programs. */
export const Hidden = ({ message }: { message: ShownMessage }) => {
  const [isOpen, setOpen] = useState(false)
  const found = message.checks.filter(({ name, verdict }) => name === 'manipulation' && verdict !== 'none')
  if (found.length === 0) return null
  return (
    <details className="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <Summary label={text.hidden.summary(found.map(({ verdict }) => text.verdict[verdict] ?? verdict))} />
      <div className="why-content">
        <p className="hint">{text.hidden.hint}</p>
        {isOpen && <Texts id={message.id} />}
      </div>
    </details>
  )
}
