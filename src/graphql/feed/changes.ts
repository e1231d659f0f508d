import { messageOf } from '../../core/errors.ts'
import { setNewest } from '../../core/newest.ts'
import { MESSAGE_CHANGED, type MessageState, readStates } from '../../message/index.ts'
import {
  readWebhookStates,
  WEBHOOK_ADDED,
  WEBHOOK_CHANGED,
  WEBHOOK_REMOVED,
  type WebhookDeps,
} from '../../webhook/index.ts'
import type { ViewerDeps } from '../../workspace/index.ts'
import type { Change } from './item.ts'

export type FeedDeps = Pick<ViewerDeps, 'prisma' | 'pool' | 'afterCommit' | 'log'> &
  Pick<WebhookDeps, 'notifier'>

/**
 * Interval at which watched webhooks are polled. Nothing is published for each delivery, because that would
 * slow down all deliveries.
 */
const WEBHOOKS_MS = 1_000
/** Interval of the fallback poll for messages, in case a notification is missed. */
const MESSAGES_MS = 5_000
/** Notifications within this time are read with one statement. */
const GATHER_MS = 10
/** Maximum number of messages whose last published state is remembered. */
const MAX_REMEMBERED = 10_000

type Watcher = (change: Change) => void

/** The watchers of each agent. */
class Watchers {
  readonly #byAgent = new Map<string, Set<Watcher>>()

  get agentIds(): string[] {
    return [...this.#byAgent.keys()]
  }

  has(agentId: string): boolean {
    return this.#byAgent.has(agentId)
  }

  add(agentId: string, watcher: Watcher): () => void {
    const group = this.#byAgent.get(agentId) ?? new Set()
    this.#byAgent.set(agentId, group.add(watcher))
    return () => {
      group.delete(watcher)
      if (group.size === 0 && this.#byAgent.get(agentId) === group) this.#byAgent.delete(agentId)
    }
  }

  notify(change: Change): void {
    for (const watcher of this.#byAgent.get(change.agentId) ?? []) watcher(change)
  }
}

/**
 * Publishes changes of messages and webhooks of the watched agents, with one read per change for all
 * watchers. The process that changes a message sends a notification; re-reading the messages still being sent
 * makes up for lost ones.
 */
export class Changes {
  readonly #deps: FeedDeps
  readonly #messages = new Watchers()
  readonly #webhooks = new Watchers()
  /** The last published state of each message, oldest first. */
  readonly #lastState = new Map<string, MessageState>()
  readonly #fresh = new Set<string>()
  /** The state of every webhook of the watched agents. */
  #known = new Map<string, Change>()
  readonly #seen = new Set<string>()
  #checking: Promise<void> = Promise.resolve()
  #gathering: NodeJS.Timeout | undefined
  readonly #unsubscribe: (() => void)[]

  constructor(deps: FeedDeps) {
    this.#deps = deps
    const { notifier } = deps
    const check = () => void this.#checkWebhooks()
    const timers = [setInterval(check, WEBHOOKS_MS), setInterval(() => this.#catchUp(), MESSAGES_MS)]
    this.#unsubscribe = [
      notifier.subscribe(MESSAGE_CHANGED, (key) => this.#onMessageChanged(key)),
      notifier.subscribe(WEBHOOK_ADDED, check),
      notifier.subscribe(WEBHOOK_CHANGED, check),
      notifier.subscribe(WEBHOOK_REMOVED, check),
      notifier.onReconnect(() => this.#catchUp()),
      () => timers.forEach(clearInterval),
      () => clearTimeout(this.#gathering),
    ]
  }

  /**
   * Calls `watcher` when the status, the labels or the read mark of one of the agent's messages changes. Returns a function that stops it.
   */
  watchMessages(agentId: string, watcher: Watcher): () => void {
    return this.#messages.add(agentId, watcher)
  }

  /**
   * Calls `watcher` when one of the agent's webhooks is added, fails, delivers or is removed. Resolves, with
   * a function that stops it, once the initial state is known.
   */
  async watchWebhooks(agentId: string, watcher: Watcher): Promise<() => void> {
    const stop = this.#webhooks.add(agentId, watcher)
    if (!this.#seen.has(agentId)) await this.#checkWebhooks()
    return stop
  }

  stop(): void {
    for (const end of this.#unsubscribe) end()
  }

  #onMessageChanged(key: string): void {
    const [agentId = '', messageId = ''] = key.split('/')
    if (!this.#messages.has(agentId)) return
    this.#fresh.add(messageId)
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      void this.#publishMessages()
    }, GATHER_MS)
  }

  #catchUp(): void {
    for (const { id, sending } of this.#lastState.values()) if (sending) this.#fresh.add(id)
    if (this.#messages.agentIds.length > 0) void this.#publishMessages()
    else this.#lastState.clear()
  }

  async #publishMessages(): Promise<void> {
    const ids = [...this.#fresh]
    this.#fresh.clear()
    if (ids.length === 0) return
    try {
      for (const current of await readStates(this.#deps, ids)) {
        const { id, agentId, state } = current
        if (this.#lastState.get(id)?.state === state) continue
        this.#remember(current)
        this.#messages.notify({ agentId, kind: 'message', changed: id, state })
      }
    } catch (error) {
      for (const id of ids) this.#fresh.add(id)
      this.#deps.log.warn({ error: messageOf(error) }, 'could not read changed messages; retrying')
    }
  }

  #remember(current: MessageState): void {
    setNewest(this.#lastState, current.id, current, MAX_REMEMBERED)
  }

  /** Runs one check at a time; a call during a check resolves after another one that starts later. */
  #checkWebhooks(): Promise<void> {
    this.#checking = this.#checking.then(async () => {
      const agentIds = this.#webhooks.agentIds
      if (agentIds.length === 0 && this.#known.size === 0) return
      try {
        await this.#compareWebhooks(agentIds)
      } catch (error) {
        this.#deps.log.warn({ error: messageOf(error) }, 'could not check webhooks for changes; retrying')
      }
    })
    return this.#checking
  }

  async #compareWebhooks(agentIds: string[]): Promise<void> {
    const rows = await readWebhookStates(this.#deps, agentIds)
    const now = new Map(
      rows.map(({ id, agentId, ...state }) => [
        id,
        { agentId, kind: 'webhook', changed: id, state: JSON.stringify(state) } as const,
      ]),
    )
    const changes: Change[] = [...now.values()].filter(
      ({ changed, state }) => this.#known.get(changed)?.state !== state,
    )
    for (const [id, change] of this.#known) if (!now.has(id)) changes.push({ ...change, state: 'removed' })
    const seen = new Set(this.#seen)
    this.#known = now
    this.#seen.clear()
    for (const agentId of agentIds) this.#seen.add(agentId)
    // The first check of an agent only records the current state.
    for (const change of changes) if (seen.has(change.agentId)) this.#webhooks.notify(change)
  }
}
