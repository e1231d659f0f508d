import { graphql, type ResultOf } from '../live/graphql.ts'

/** All agents with what may need a person, each field with one statement for all of them. */
export const FLEET = graphql(`
  query Fleet {
    agents {
      id name icon unreadCount unheardCount heldCount refusedCount activity
      listening { now since }
    }
    workspace {
      id
      webhooks(failing: true) { id agentId failingSince }
      questions { id }
    }
  }
`)

export type FleetData = ResultOf<typeof FLEET>
export type FleetAgent = FleetData['agents'][number]
