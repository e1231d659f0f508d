import type { Notifier } from '../../db/notify.ts'
import type { Feed, News } from '../../event/index.ts'
import type { OwnedParts } from '../../worker/index.ts'
import { TOKEN_REVOKED, WORKSPACE_MOVES } from '../../workspace/index.ts'
import {
  parseTopicKey,
  WEBHOOK_ADDED,
  WEBHOOK_CHANGED,
  WEBHOOK_DELIVERY_REQUESTED,
  WEBHOOK_REMOVED,
} from '../webhook.ts'
import type { Lane } from './lane/lane.ts'
import type { LaneReader } from './lane-reader.ts'
import type { LaneRegistry } from './lane-registry.ts'

/**
 * Topic on which a worker that stops notifies the others, by its id, that its parts and lanes are free; `LANES_MOVED`
 * if it goes on, and has released lanes whose parts another worker owns by now.
 */
export const LANES_FREE = 'lanes_free'
export const LANES_MOVED = 'moved'

interface LaneNotificationsDeps {
  /** This worker's id in its `LANES_FREE` notifications. */
  owner: string
  feed: Pick<Feed, 'onNews'>
  notifier: Pick<Notifier, 'subscribe'>
  lanes: LaneRegistry
  reader: LaneReader
  parts: Pick<OwnedParts, 'has'>
  /** Called for a lane that a notification affects. */
  proceed(lane: Lane): void
  /** Called for a lane that this worker no longer holds or may no longer post to. */
  lose(lane: Lane): void
  /** Called when another worker has released lanes; `by` is its id, or `LANES_MOVED`. */
  lanesFree(by: string): void
}

/**
 * Subscribes to notifications of new events and of changes to webhooks, and applies them to the lanes.
 * Notifications may be lost; the poll and the lease renewal find what was missed. Returns the functions that
 * unsubscribe.
 */
export const followNotifications = (deps: LaneNotificationsDeps): (() => void)[] => {
  const { owner, feed, notifier, lanes, reader, parts, proceed, lose } = deps
  const onNews: News = (agentId, eventsOf) => {
    const isOurs = parts.has(agentId)
    const held = lanes.ofAgent(agentId)
    if (!isOurs && held.size === 0) return
    const events = eventsOf() ?? [null]
    let webhooks = 1
    for (const lane of held) {
      webhooks = lane.siblings
      for (const event of events) lane.events.announce(event)
      proceed(lane)
    }
    // The agent's other webhooks may be free. A lane that is being released is leased again afterwards.
    if (isOurs && held.size < webhooks) for (const event of events) reader.leaseLanesOf(agentId, event)
  }
  const onWebhook = (topic: string, apply: (lane: Lane) => void) =>
    notifier.subscribe(topic, (key) => {
      const { agentId, id } = parseTopicKey(key)
      const lane = lanes.get(id)
      if (!lane) return parts.has(agentId) && reader.leaseLanesOf(agentId)
      apply(lane)
      proceed(lane)
    })
  const onDeletion = (topic: string, isOf: (lane: Lane, id: string) => boolean) =>
    notifier.subscribe(topic, (id) => {
      reader.noteDeleted(id)
      for (const lane of lanes) if (isOf(lane, id)) lose(lane)
    })
  return [
    feed.onNews(onNews),
    notifier.subscribe(LANES_FREE, (by) => by !== owner && deps.lanesFree(by)),
    notifier.subscribe(WEBHOOK_ADDED, (agentId) => {
      for (const lane of lanes.ofAgent(agentId)) lane.siblingAdded()
    }),
    onDeletion(WEBHOOK_REMOVED, (lane, id) => lane.id === id),
    onDeletion(TOKEN_REVOKED, ({ policy }, id) => policy.tokenId === id),
    notifier.subscribe(WORKSPACE_MOVES, (id) => {
      for (const lane of lanes) {
        if (lane.workspaceId !== id) continue
        lane.rowChanged()
        proceed(lane)
      }
    }),
    onWebhook(WEBHOOK_CHANGED, (lane) => lane.rowChanged()),
    onWebhook(WEBHOOK_DELIVERY_REQUESTED, (lane) => lane.manualRequested()),
  ]
}
