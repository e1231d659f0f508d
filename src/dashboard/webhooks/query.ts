import { graphql, type ResultOf } from '../live/graphql.ts'

/** How a webhook is doing. */
export const STATE = graphql(`
  fragment WebhookState on Webhook {
    id agentId url name pausedAt error attempts retryAt failingSince lastDeliveredAt
  }
`)

/** The delivery that all others of a webhook wait for, with what was answered. */
export const BLOCKING = graphql(`
  fragment Blocking on Webhook {
    id agentId pausedAt retryAt
    blocking { id eventId createdAt attempts { at ms status error answer { body } } }
  }
`)

/** The webhooks of an agent. */
export const WEBHOOKS = graphql(
  `
    query AgentWebhooks($id: UUID!) {
      agent(id: $id) { id webhooks { ...WebhookState ...Blocking events headers body } }
    }
  `,
  [STATE, BLOCKING],
)

export type Webhook = ResultOf<typeof WEBHOOKS>['agent']['webhooks'][number]
export type WebhookState = ResultOf<typeof STATE>
export type BlockedWebhook = ResultOf<typeof BLOCKING>
