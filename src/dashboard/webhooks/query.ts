import { graphql, type ResultOf } from '../live/graphql.ts'

/** The webhooks of an agent. */
export const WEBHOOKS = graphql(`
  query AgentWebhooks($id: UUID!) {
    agent(id: $id) {
      id
      webhooks { id url name events createdAt pausedAt error attempts retryAt lastDeliveredAt }
    }
  }
`)

export type Webhook = ResultOf<typeof WEBHOOKS>['agent']['webhooks'][number]
