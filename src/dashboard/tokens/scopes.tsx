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

/** What tokens of members can be used for. */
export const MEMBER_SCOPES: readonly Scope[] = [...AGENT_SCOPES, 'members', 'billing', 'audit']

/** What a token may be used for, in words. */
export const Scopes = ({ of }: { of: readonly Scope[] | null }) =>
  of ? of.map((scope) => text.scopes[scope]).join(', ') : <span className="soft">{text.everything}</span>

interface ScopeChoiceProps {
  possible: readonly Scope[]
  chosen: readonly Scope[]
  onChange(chosen: readonly Scope[]): void
}

/** What a new token may be used for; everything at first. */
export const ScopeChoice = ({ possible, chosen, onChange }: ScopeChoiceProps) => (
  <fieldset className="event-choice">
    <legend>{text.may}</legend>
    {possible.map((scope) => (
      <label key={scope}>
        <input
          type="checkbox"
          checked={chosen.includes(scope)}
          onChange={(event) =>
            onChange(possible.filter((one) => (one === scope ? event.target.checked : chosen.includes(one))))
          }
        />
        <span>{text.scopes[scope]}</span>
      </label>
    ))}
    <p className="hint">{text.scopesHint}</p>
  </fieldset>
)
