import { AGENT_ICONS, AgentIcon, type AgentIconName } from '../agent-icon.tsx'
import { text } from '../strings.ts'

interface IconChoiceProps {
  chosen: AgentIconName
  onChoose(icon: AgentIconName): void
}

/** The icons that an agent can have, to choose one. */
export const IconChoice = ({ chosen, onChoose }: IconChoiceProps) => (
  <fieldset className="icon-choice">
    <legend>{text.icon}</legend>
    <div>
      {AGENT_ICONS.map((icon) => (
        <label key={icon} title={icon.replaceAll('_', ' ')}>
          <input
            type="radio"
            name="icon"
            className="unseen"
            aria-label={icon.replaceAll('_', ' ')}
            checked={icon === chosen}
            onChange={() => onChoose(icon)}
          />
          <AgentIcon name={icon} size={18} />
        </label>
      ))}
    </div>
  </fieldset>
)
