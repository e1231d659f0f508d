import { messageOf } from '../../core/errors.ts'
import { MESSAGE_CHANGED, readStatuses } from '../../message/reading/changed.ts'
import { readWebhookStates, WEBHOOK_ADDED, WEBHOOK_CHANGED, WEBHOOK_REMOVED } from '../../webhook/webhook.ts'
import type { GraphqlDeps } from '../execution/context.ts'
import type { Change } from './item.ts'

/**
 * How often webhooks that somebody watches are looked at: nothing is published for each delivery, which would
 * cost every one of them.
 */
const WEBHOOKS_MS = 1_000
/** The net under the notifications of messages. */
const MESSAGES_MS = 5_000
/** Notifications within this time are read with one statement. */
const GATHER_MS = 10
/** Messages whose last told status is remembered, for those who watch an agent. */
const MAX_TOLD = 10_000

type Watcher = (change: Change) => void

/** Who watches what of which agent. */
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

  tell(change: Change): void {
    for (const watcher of this.#byAgent.get(change.agentId) ?? []) watcher(change)
  }
}

/**
 * What changes of messages and webhooks, for the agents that somebody watches: each change once, however many
 * watch. Messages are told by the process that moves them; a look at those still on their way makes up for
 * words that got lost.
 */
export class Changes {
  readonly #deps: GraphqlDeps
  readonly #messages = new Watchers()
  readonly #webhooks = new Watchers()
  /** The last status that was told of each message, the oldest first. */
  readonly #told = new Map<string, string>()
  readonly #fresh = new Set<string>()
  /** The state of every webhook of the agents that are watched. */
  #known = new Map<string, Change>()
  readonly #seen = new Set<string>()
  #looking: Promise<void> = Promise.resolve()
  #gathering: NodeJS.Timeout | undefined
  readonly #unsubscribe: (() => void)[]

  constructor(deps: GraphqlDeps) {
    this.#deps = deps
    const { notifier } = deps
    const look = () => void this.#lookAtWebhooks()
    const timers = [setInterval(look, WEBHOOKS_MS), setInterval(() => this.#makeUp(), MESSAGES_MS)]
    this.#unsubscribe = [
      notifier.subscribe(MESSAGE_CHANGED, (key) => this.#hear(key)),
      notifier.subscribe(WEBHOOK_ADDED, look),
      notifier.subscribe(WEBHOOK_CHANGED, look),
      notifier.subscribe(WEBHOOK_REMOVED, look),
      notifier.onReconnect(() => this.#makeUp()),
      () => timers.forEach(clearInterval),
      () => clearTimeout(this.#gathering),
    ]
  }

  /** Hears of the agent's messages whose status moves. Returns how to stop. */
  watchMessages(agentId: string, watcher: Watcher): () => void {
    return this.#messages.add(agentId, watcher)
  }

  /**
   * Hears of the agent's webhooks as they are added, fail, deliver and are removed. Resolves, with how to
   * stop, once it does.
   */
  async watchWebhooks(agentId: string, watcher: Watcher): Promise<() => void> {
    const stop = this.#webhooks.add(agentId, watcher)
    if (!this.#seen.has(agentId)) await this.#lookAtWebhooks()
    return stop
  }

  stop(): void {
    for (const end of this.#unsubscribe) end()
  }

  #hear(key: string): void {
    const [agentId = '', messageId = ''] = key.split('/')
    if (!this.#messages.has(agentId)) return
    this.#fresh.add(messageId)
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      void this.#tellMessages()
    }, GATHER_MS)
  }

  #makeUp(): void {
    for (const [id, status] of this.#told) if (status === 'sending') this.#fresh.add(id)
    if (this.#messages.agentIds.length > 0) void this.#tellMessages()
    else this.#told.clear()
  }

  async #tellMessages(): Promise<void> {
    const ids = [...this.#fresh]
    this.#fresh.clear()
    if (ids.length === 0) return
    try {
      for (const { id, agentId, status } of await readStatuses(this.#deps, ids)) {
        if (this.#told.get(id) === status) continue
        this.#remember(id, status)
        this.#messages.tell({ agentId, kind: 'message', changed: id, state: status })
      }
    } catch (error) {
      for (const id of ids) this.#fresh.add(id)
      this.#deps.log.warn({ error: messageOf(error) }, 'could not read what changed; it is tried again')
    }
  }

  #remember(id: string, status: string): void {
    this.#told.delete(id)
    this.#told.set(id, status)
    if (this.#told.size > MAX_TOLD) this.#told.delete(this.#told.keys().next().value!)
  }

  /** One look at a time; who asks during one gets a look that begins after it. */
  #lookAtWebhooks(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      const agentIds = this.#webhooks.agentIds
      if (agentIds.length === 0 && this.#known.size === 0) return
      try {
        await this.#compareWebhooks(agentIds)
      } catch (error) {
        this.#deps.log.warn({ error: messageOf(error) }, 'could not look at webhooks; it is tried again')
      }
    })
    return this.#looking
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
    // The first look at an agent only says how things are.
    for (const change of changes) if (seen.has(change.agentId)) this.#webhooks.tell(change)
  }
}
