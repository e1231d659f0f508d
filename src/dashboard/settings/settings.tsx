import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Load } from '../parts/states.tsx'
import { Addresses } from './addresses.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { Identity } from './identity.tsx'
import { Rules } from './rules.tsx'

const SETTINGS = graphql(`
  query AgentSettings($id: UUID!) {
    agent(id: $id) {
      id name icon approval wakesPerHour wakesPerThreadDay eventTypes
      addresses { id channel value primary domainId }
    }
  }
`)

export type Agent = ResultOf<typeof SETTINGS>['agent']

/** What an agent is called, where it is reached, and what it may do without asking. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const loaded = useLive(SETTINGS, { id: agentId }, ['agents'])
  return (
    <Load from={loaded} lines={8}>
      {({ agent }) => (
        <>
          <Identity key={`${agent.name} ${agent.icon}`} agent={agent} />
          <Addresses agent={agent} />
          <Rules key={`${agent.wakesPerHour} ${agent.wakesPerThreadDay}`} agent={agent} />
          <DeleteAgent agent={agent} />
        </>
      )}
    </Load>
  )
}
