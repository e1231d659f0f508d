import { ACCESS_BY_CHANNEL } from '../channels/channels.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'

/** Who may write to an agent, by channel. */
export const ACCESS = graphql(
  `
    query AgentAccess($id: UUID!) {
      agent(id: $id) {
        id
        addresses { id channel }
        access { ...AccessByChannel url { admit senders blocked } }
      }
    }
  `,
  [ACCESS_BY_CHANNEL],
)

type Agent = ResultOf<typeof ACCESS>['agent']
export type Channel = keyof Agent['access']
export type Access = Agent['access'][Channel]
