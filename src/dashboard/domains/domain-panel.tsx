import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { CircleAlertIcon, CircleCheckIcon, ClockIcon, RefreshCwIcon } from '../parts/icons.tsx'
import { Table } from '../parts/list/table.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { CatchAll } from './catch-all.tsx'
import type { Domain } from './query.ts'
import { RECORD_COLUMNS } from './records.tsx'
import { text } from './strings.ts'

const VERIFY = graphql(`
  mutation VerifyDomain($input: VerifyDomainInput!) { verifyDomain(input: $input) { domain { id state checkedAt } } }
`)
const REMOVE = graphql(`
  mutation RemoveDomain($input: RemoveDomainInput!) { removeDomain(input: $input) { domainId } }
`)

const STATES = {
  pending: { tone: 'warn', icon: ClockIcon },
  verified: { tone: 'good', icon: CircleCheckIcon },
  broken: { tone: 'bad', icon: CircleAlertIcon },
} as const

const Actions = ({ domain }: { domain: Domain }) => {
  const [removing, setRemoving] = useState(false)
  const verify = useAction(VERIFY, { changes: { topic: 'all' } })
  const removal = useAction(REMOVE, { changes: { topic: 'all' } })
  const input = { domainId: domain.id }
  return (
    <div className="row">
      <Button icon={RefreshCwIcon} busy={verify.busy} onClick={() => void verify.run({ input })}>
        {text.check}
      </Button>
      <Button kind="danger" onClick={() => setRemoving(true)}>
        {text.remove}
      </Button>
      {removing && (
        <Confirm
          title={text.removeTitle(domain.name)}
          label={text.remove}
          onConfirm={() => removal.run({ input })}
          onClose={() => setRemoving(false)}
        >
          <p>{text.removeHint}</p>
        </Confirm>
      )}
    </div>
  )
}

/** A domain: its state, what to publish, and what the last check found. */
export const DomainPanel = ({ domain }: { domain: Domain }) => {
  const { may } = useViewer()
  const { tone, icon } = STATES[domain.state]
  return (
    <section className="panel">
      <header className="row between">
        <div className="row">
          <h2>{domain.name}</h2>
          <Badge tone={tone} icon={icon}>
            {text.states[domain.state]}
          </Badge>
        </div>
        {may.manageDomains && <Actions domain={domain} />}
      </header>
      <div className="panel-content">
        <CatchAll domain={domain} />
        <p className="hint">
          {text.stateHints[domain.state]}{' '}
          {domain.checkedAt ? (
            <>
              {text.checked} <Time at={domain.checkedAt} />.
            </>
          ) : (
            text.neverChecked
          )}
        </p>
        <Table
          label={text.records(domain.name)}
          stacked
          columns={RECORD_COLUMNS}
          rows={domain.records}
          keyOf={({ purpose, name, value }) => `${purpose} ${name} ${value}`}
        />
      </div>
    </section>
  )
}
