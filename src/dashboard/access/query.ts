import { graphql, type ResultOf } from '../live/graphql.ts'

/** Who may write to an agent, by channel. */
export const ACCESS = graphql(`
  query AgentAccess($id: UUID!) {
    agent(id: $id) {
      id
      addresses { id channel }
      access {
        email { admit senders blocked }
        sms { admit senders blocked }
        telegram { admit senders blocked }
        url { admit senders blocked }
      }
    }
  }
`)

type Agent = ResultOf<typeof ACCESS>['agent']
export type Channel = keyof Agent['access']
export type Access = Agent['access'][Channel]
