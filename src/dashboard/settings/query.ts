import { graphql, type ResultOf } from '../live/graphql.ts'

/** The settings of an agent. */
export const SETTINGS = graphql(`
  query AgentSettings($id: UUID!) {
    agent(id: $id) {
      id name icon approval instructors wakesPerHour wakesPerThreadDay eventTypes
      signature templates { name text }
      addresses { id channel value primary domainId }
    }
  }
`)

export type Agent = ResultOf<typeof SETTINGS>['agent']
export type Address = Agent['addresses'][number]
