import { graphql, type ResultOf } from '../live/graphql.ts'
import { AGENT_LIMITS } from './limits.ts'

/** The settings of an agent. */
export const SETTINGS = graphql(
  `
    query AgentSettings($id: UUID!) {
      agent(id: $id) {
        id name icon approval secretsInMessages manipulated instructors eventTypes wakeAfterSeconds ...AgentLimits
        signature templates { name text }
        addresses { id channel value primary domainId }
      }
    }
  `,
  [AGENT_LIMITS],
)

export type Agent = ResultOf<typeof SETTINGS>['agent']
export type Address = Agent['addresses'][number]
