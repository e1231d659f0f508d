import type { FormEvent } from 'react'
import { Button } from '../parts/button.tsx'
import { EventChoice, RECEIVED } from '../parts/form/event-choice.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { toField, toNumber } from '../parts/form/optional-number.ts'
import { useEdits } from '../parts/form/use-edits.ts'
import { eachLimit, LIMITS } from './limits.ts'
import type { Agent } from './query.ts'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

type Approval = Agent['approval']
const APPROVALS = Object.keys(text.approvals) as readonly Approval[]

type Secrets = Agent['secretsInMessages']
const SECRETS = Object.keys(text.secretsChoices) as readonly Secrets[]

type Manipulated = Agent['manipulated']
const MANIPULATED = Object.keys(text.manipulatedChoices) as readonly Manipulated[]

type Instructors = Agent['instructors']
const INSTRUCTORS = Object.keys(text.instructorChoices) as readonly Instructors[]

const Outgoing = ({ agent }: { agent: Agent }) => {
  const { update, busy, failure } = useUpdate(agent.id)
  return (
    <section className="panel">
      <h2>{text.outgoing}</h2>
      <div className="panel-content">
        <Select
          label={text.approval}
          error={failure?.message}
          value={agent.approval}
          disabled={busy}
          onChange={(event) => void update({ approval: event.target.value as Approval })}
        >
          {APPROVALS.map((approval) => (
            <option key={approval} value={approval}>
              {text.approvals[approval]}
            </option>
          ))}
        </Select>
        <Select
          label={text.secrets}
          hint={text.secretsHint}
          value={agent.secretsInMessages}
          disabled={busy}
          onChange={(event) => void update({ secretsInMessages: event.target.value as Secrets })}
        >
          {SECRETS.map((secrets) => (
            <option key={secrets} value={secrets}>
              {text.secretsChoices[secrets]}
            </option>
          ))}
        </Select>
      </div>
    </section>
  )
}

const Instructions = ({ agent }: { agent: Agent }) => {
  const { update, busy, failure } = useUpdate(agent.id)
  return (
    <section className="panel">
      <h2>{text.instructions}</h2>
      <div className="panel-content">
        <Select
          label={text.instructors}
          hint={text.instructorsHint}
          error={failure?.message}
          value={agent.instructors}
          disabled={busy}
          onChange={(event) => void update({ instructors: event.target.value as Instructors })}
        >
          {INSTRUCTORS.map((instructors) => (
            <option key={instructors} value={instructors}>
              {text.instructorChoices[instructors]}
            </option>
          ))}
        </Select>
        <Select
          label={text.manipulated}
          hint={text.manipulatedHint}
          value={agent.manipulated}
          disabled={busy}
          onChange={(event) => void update({ manipulated: event.target.value as Manipulated })}
        >
          {MANIPULATED.map((manipulated) => (
            <option key={manipulated} value={manipulated}>
              {text.manipulatedChoices[manipulated]}
            </option>
          ))}
        </Select>
      </div>
    </section>
  )
}

const Limits = ({ agent }: { agent: Agent }) => {
  const { fields, edit } = useEdits(eachLimit((name) => toField(agent[name])))
  const { update, busy, failure } = useUpdate(agent.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void update(eachLimit((name) => toNumber(fields[name])))
  }
  const errorOf = (field: string) => (failure?.field === field ? failure.message : undefined)
  const common = { type: 'number', min: 1, max: 10_000, placeholder: text.noLimit }
  return (
    <section className="panel">
      <h2>{text.limits}</h2>
      <form className="panel-content" onSubmit={submit}>
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
      </form>
    </section>
  )
}

const WAITS = [0, 5, 15, 30, 60, 120, 300]
/** The times to choose from; programs may have set another one. */
const waitsFor = (seconds: number) => [...new Set([...WAITS, seconds])].sort((one, other) => one - other)

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
          value={agent.wakeAfterSeconds}
          onChange={(event) => void update({ wakeAfterSeconds: Number(event.target.value) })}
        >
          {waitsFor(agent.wakeAfterSeconds).map((seconds) => (
            <option key={seconds} value={seconds}>
              {text.wakeAfterChoice(seconds)}
            </option>
          ))}
        </Select>
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
