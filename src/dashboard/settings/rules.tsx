import { Button } from '../parts/button.tsx'
import { EventChoice, RECEIVED } from '../parts/form/event-choice.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { toField, toNumber } from '../parts/form/optional-number.ts'
import { useEdits } from '../parts/form/use-edits.ts'
import { Panel } from '../parts/panel.tsx'
import { eachLimit, LIMITS } from './limits.ts'
import type { Agent } from './query.ts'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

const Outgoing = ({ agent }: { agent: Agent }) => {
  const { update, busy, failure } = useUpdate(agent.id)
  return (
    <Panel title={text.outgoing}>
      <Select
        label={text.approval}
        error={failure?.message}
        options={text.approvals}
        chosen={agent.approval}
        disabled={busy}
        onChoose={(approval) => void update({ approval })}
      />
      <Select
        label={text.secrets}
        hint={text.secretsHint}
        options={text.secretsChoices}
        chosen={agent.secretsInMessages}
        disabled={busy}
        onChoose={(secretsInMessages) => void update({ secretsInMessages })}
      />
    </Panel>
  )
}

const Instructions = ({ agent }: { agent: Agent }) => {
  const { update, busy, failure } = useUpdate(agent.id)
  return (
    <Panel title={text.instructions}>
      <Select
        label={text.instructors}
        hint={text.instructorsHint}
        error={failure?.message}
        options={text.instructorChoices}
        chosen={agent.instructors}
        disabled={busy}
        onChoose={(instructors) => void update({ instructors })}
      />
      <Select
        label={text.manipulated}
        hint={text.manipulatedHint}
        options={text.manipulatedChoices}
        chosen={agent.manipulated}
        disabled={busy}
        onChoose={(manipulated) => void update({ manipulated })}
      />
    </Panel>
  )
}

const Limits = ({ agent }: { agent: Agent }) => {
  const { fields, edit } = useEdits(eachLimit((name) => toField(agent[name])))
  const { update, busy, failure } = useUpdate(agent.id)
  const submit = () => update(eachLimit((name) => toNumber(fields[name])))
  const errorOf = (field: string) => (failure?.field === field ? failure.message : undefined)
  const common = { type: 'number', min: 1, max: 10_000, placeholder: text.noLimit }
  return (
    <Panel title={text.limits} onSubmit={submit}>
      <p className="hint">{text.limitsHint}</p>
      <div className="number-fields">
        {LIMITS.map(({ name, label }) => (
          <Field
            key={name}
            {...common}
            label={label}
            error={errorOf(name)}
            value={fields[name]}
            onChange={(event) => edit(name, event.target.value)}
          />
        ))}
      </div>
      <div className="row">
        <Button submit busy={busy}>
          {text.save}
        </Button>
      </div>
    </Panel>
  )
}

const WAITS = [0, 5, 15, 30, 60, 120, 300]
/** The times to choose from, in ascending order as all numeric keys; programs may have set another one. */
const waitsFor = (set: number): Record<string, string> =>
  Object.fromEntries([...WAITS, set].map((seconds) => [seconds, text.wakeAfterChoice(seconds)]))

/** The service writes these down whatever the setting says. */
const IN_EVERY_LOG = [RECEIVED, 'question.answered']

const Events = ({ agent }: { agent: Agent }) => {
  const { update, busy, failure } = useUpdate(agent.id)
  return (
    <section className="panel">
      <h2>{text.events}</h2>
      <fieldset className="panel-content" disabled={busy}>
        <EventChoice
          label={text.eventTypes}
          hint={text.eventTypesHint}
          chosen={agent.eventTypes}
          always={IN_EVERY_LOG}
          onChoose={(eventTypes) => void update({ eventTypes: [...eventTypes] })}
        />
        <Select
          label={text.wakeAfter}
          hint={text.wakeAfterHint}
          options={waitsFor(agent.wakeAfterSeconds)}
          chosen={String(agent.wakeAfterSeconds)}
          onChoose={(seconds) => void update({ wakeAfterSeconds: Number(seconds) })}
        />
        {failure && (
          <p className="error" role="alert">
            {failure.message}
          </p>
        )}
      </fieldset>
    </section>
  )
}

/** What an agent may do without asking: sending, being instructed and woken, and what it is told of. */
export const Rules = ({ agent }: { agent: Agent }) => (
  <>
    <Outgoing agent={agent} />
    <Instructions agent={agent} />
    <Limits agent={agent} />
    <Events agent={agent} />
  </>
)
