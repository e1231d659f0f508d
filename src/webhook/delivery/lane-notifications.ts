import type { Notifier } from '../../db/notify.ts'
import type { LoggedEvent } from '../../event/event.ts'
import type { Feed } from '../../event/feed.ts'
import { TOKEN_REVOKED } from '../../workspace/token.ts'
import {
  parseTopicKey,
  WEBHOOK_ADDED,
  WEBHOOK_CHANGED,
  WEBHOOK_DELIVERY_REQUESTED,
  WEBHOOK_REMOVED,
} from '../webhook.ts'
import type { Lane } from './lane.ts'
import type { LaneReader } from './lane-reader.ts'
import type { LaneRegistry } from './lane-registry.ts'

/** The topic on which a worker that stops tells the others that its lanes are free. */
export const LANES_FREE = 'lanes_free'

interface LaneNotificationsDeps {
  /** This worker, as it names itself on `LANES_FREE`. */
  owner: string
  feed: Pick<Feed, 'onNews'>
  notifier: Pick<Notifier, 'subscribe'>
  lanes: LaneRegistry
  reader: LaneReader
  /** Called for a lane that something has changed for. */
  proceed(lane: Lane): void
  /** Called for a lane that is no longer this worker's. */
  lose(lane: Lane): void
  /** Called when another worker freed its lanes. */
  lanesFree(): void
}

/**
 * Brings to the lanes what happened elsewhere: new events, and changes of their webhooks. Notifications may
 * be lost; the poll and the lease renewal find what was missed. Returns functions that end it.
 */
export const followNotifications = (deps: LaneNotificationsDeps): (() => void)[] => {
  const { owner, feed, notifier, lanes, reader, proceed, lose } = deps
  const onEvent = (agentId: string, event: LoggedEvent | null) => {
    const held = lanes.ofAgent(agentId)
    let webhooks = 1
    for (const lane of held) {
      webhooks = lane.siblings
      lane.events.announce(event)
      proceed(lane)
    }
    // The agent's other webhooks may be free. A lane that is leaving is leased again when it has left.
    if (held.size < webhooks) reader.leaseLanesOf(agentId, event)
  }
  const onWebhook = (topic: string, apply: (lane: Lane) => void) =>
    notifier.subscribe(topic, (key) => {
      const { agentId, id } = parseTopicKey(key)
      const lane = lanes.get(id)
      if (!lane) return reader.leaseLanesOf(agentId)
      apply(lane)
      proceed(lane)
    })
  const loseWhere = (applies: (lane: Lane) => boolean) => {
    for (const lane of lanes) if (applies(lane)) lose(lane)
  }
  return [
    feed.onNews(onEvent),
    notifier.subscribe(LANES_FREE, (by) => by !== owner && deps.lanesFree()),
    notifier.subscribe(WEBHOOK_ADDED, (agentId) => {
      for (const lane of lanes.ofAgent(agentId)) lane.siblingAdded()
    }),
    notifier.subscribe(WEBHOOK_REMOVED, (id) => loseWhere((lane) => lane.id === id)),
    notifier.subscribe(TOKEN_REVOKED, (tokenId) => loseWhere(({ policy }) => policy.tokenId === tokenId)),
    onWebhook(WEBHOOK_CHANGED, (lane) => lane.rowChanged()),
    onWebhook(WEBHOOK_DELIVERY_REQUESTED, (lane) => lane.manualRequested()),
  ]
}
