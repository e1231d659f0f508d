import { text } from '../strings.ts'

export const RECEIVED = 'message.received'

/** The types of events, in the order in which they can happen to a message. */
const TYPES = Object.keys(text.events)

interface EventChoiceProps {
  label: string
  hint: string
  chosen: readonly string[]
  /** The types that cannot be left out. */
  always?: readonly string[]
  onChoose(types: readonly string[]): void
}

/** The types of events that an agent or a listener is told of. */
export const EventChoice = ({ label, hint, chosen, always = [RECEIVED], onChoose }: EventChoiceProps) => (
  <fieldset className="event-choice">
    <legend>{label}</legend>
    {Object.entries(text.events).map(([type, happened]) => (
      <label key={type}>
        <input
          type="checkbox"
          checked={always.includes(type) || chosen.includes(type)}
          disabled={always.includes(type)}
          onChange={(event) =>
            onChoose(TYPES.filter((one) => (one === type ? event.target.checked : chosen.includes(one))))
          }
        />
        <span>
          {happened} <code className="hint">{type}</code>
        </span>
      </label>
    ))}
    <p className="hint">{hint}</p>
  </fieldset>
)
