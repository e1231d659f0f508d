import type { VariablesOf } from '../live/graphql.ts'
import type { CREATE } from './create.ts'
import { text } from './strings.ts'

export type Scope = NonNullable<VariablesOf<typeof CREATE>['input']['scopes']>[number]

/** What tokens of agents can be used for. */
export const AGENT_SCOPES: readonly Scope[] = [
  'messages_read',
  'messages_write',
  'events',
  'secrets_reveal',
  'settings',
  'tokens',
]

/** The scopes of a token for which these were chosen: null, everything, for all of them. */
export const narrowed = (chosen: readonly Scope[]): Scope[] | null =>
  chosen.length === AGENT_SCOPES.length ? null : [...chosen]

/** What a token may be used for, in words. */
export const Scopes = ({ of }: { of: readonly Scope[] | null }) =>
  of ? of.map((scope) => text.scopes[scope]).join(', ') : <span className="soft">{text.everything}</span>

interface ScopeChoiceProps {
  chosen: readonly Scope[]
  onChange(chosen: readonly Scope[]): void
}

/** What a new token may be used for; everything at first. */
export const ScopeChoice = ({ chosen, onChange }: ScopeChoiceProps) => (
  <fieldset className="event-choice">
    <legend>{text.may}</legend>
    {AGENT_SCOPES.map((scope) => (
      <label key={scope}>
        <input
          type="checkbox"
          checked={chosen.includes(scope)}
          onChange={(event) =>
            onChange(
              AGENT_SCOPES.filter((one) => (one === scope ? event.target.checked : chosen.includes(one))),
            )
          }
        />
        <span>{text.scopes[scope]}</span>
      </label>
    ))}
    <p className="hint">{text.scopesHint}</p>
  </fieldset>
)
