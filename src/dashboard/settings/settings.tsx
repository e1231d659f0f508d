import { useLive } from '../live/use.ts'
import { Load } from '../parts/states.tsx'
import { Addresses } from './addresses.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { Identity } from './identity.tsx'
import { SETTINGS } from './query.ts'
import { Rules } from './rules.tsx'
import { Writing } from './writing.tsx'

/** What an agent is called, where it is reached, and what it may do without asking. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const loaded = useLive(SETTINGS, { id: agentId }, ['agents'])
  return (
    <Load from={loaded} lines={8}>
      {({ agent }) => (
        <>
          <Identity agent={agent} />
          <Addresses agent={agent} />
          <Writing agent={agent} />
          <Rules agent={agent} />
          <DeleteAgent agent={agent} />
        </>
      )}
    </Load>
  )
}
