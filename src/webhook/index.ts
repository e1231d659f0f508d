export { readBlocking } from './blocking.ts'
export { CallbackError } from './challenge.ts'
export {
  type Attempt,
  type Delivery,
  deleteDeliveriesOf,
  listDeliveries,
  pruneDeliveries,
  readDeliveries,
  readDelivery,
  toDelivery,
  withRequest,
} from './deliveries.ts'
export { enqueueWebhookJobs } from './delivery/enqueue.ts'
export { createLanes } from './delivery/lane-worker.ts'
export { createOldestDueDelivery } from './delivery/oldest-due.ts'
export { endSubscriptions } from './end-subscriptions.ts'
export { type IncidentDeps, notifyOwners } from './incident.ts'
export { resendDelivery, rotateWebhook, testWebhook } from './operate.ts'
export { occurrenceOf } from './payload.ts'
export { replayStart, replayWebhook, resendGivenUp } from './replay.ts'
export { type DeliveryRequest, type RequestSource, rebuildRequests } from './request.ts'
export { SEALED_TEXTS } from './sealed-texts.ts'
export { SEALED_IN_WEBHOOKS } from './secret.ts'
export {
  MAX_SUBSCRIPTIONS,
  pruneSubscriptions,
  subscribeWebhook,
  TooManySubscriptions,
  unsubscribeWebhook,
} from './subscribe.ts'
export { createTerminationNotices, hasNotices } from './termination-notice.ts'
export { unblockWebhook } from './unblock.ts'
export { updateWebhook } from './update.ts'
export {
  addWebhook,
  formatTopicKey,
  headersOf,
  listWebhooks,
  parseTopicKey,
  readWebhookStates,
  removeWebhook,
  WEBHOOK_ADDED,
  WEBHOOK_CHANGED,
  WEBHOOK_REMOVED,
  type WebhookDeps,
} from './webhook.ts'
