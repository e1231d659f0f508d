import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Select } from '../parts/form/field.tsx'
import { useAgentNames, useViewer } from '../screen/viewer.tsx'
import type { Domain } from './query.ts'
import { text } from './strings.ts'

const UPDATE = graphql(`
  mutation UpdateDomain($input: UpdateDomainInput!) { updateDomain(input: $input) { domain { id catchAllAgentId } } }
`)

/** Which agent gets the mail to addresses that no agent has. */
export const CatchAll = ({ domain }: { domain: Domain }) => {
  const { may } = useViewer()
  const agents = useAgentNames(text.nobody)
  const { run, busy, failure } = useAction(UPDATE, { quiet: true, changes: { topic: 'all' } })
  const { id: domainId, catchAllAgentId, state } = domain
  if (state !== 'verified' && !catchAllAgentId) return null
  return (
    <Select
      label={text.catchAll}
      hint={text.catchAllHint(domain.name)}
      error={failure?.message}
      options={agents}
      chosen={catchAllAgentId ?? ''}
      disabled={busy || !may.manageDomains}
      onChoose={(id) => void run({ input: { domainId, catchAllAgentId: id || null } })}
    />
  )
}
