import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Notifier } from '../db/notify.ts'
import { handoverBinding, type LoggedEvent } from './event.ts'

/** Encryption between the processes of this service. */
export interface Sealer {
  seal(workspaceId: string, plain: string, bound: string): Promise<Buffer>
  open(workspaceId: string, sealed: Uint8Array, bound: string): Promise<Buffer>
}

export interface TextsDeps {
  notifier: Notifier
  sealer: Sealer
  clock: Clock
  log: Logger
}

/** Topic on which an encrypted text is sent to the other processes. */
const TEXTS = 'texts'
/** Topic on which a process requests a text that did not reach it; the key is the message's id. */
const TEXT_WANTED = 'text_wanted'
/** Slightly longer than a disconnected client counts as listening, so that it can reconnect. */
const TTL_MS = 60_000
/**
 * Times in milliseconds that a reader of the log waits for a text from another process: before it requests
 * the text, and after each request.
 */
const WAITS_MS = [100, 300, 600]
const MAX_KEPT = 10_000
/**
 * Maximum number of Base64 characters in one notification: PostgreSQL accepts fewer than 8,000 bytes, and an
 * encrypted text of 2,000 characters may be longer.
 */
const PART = 6_000

interface Kept {
  workspaceId: string
  text: string
  until: number
}

/**
 * The texts of messages that the service does not store, between their arrival and their delivery: in the
 * memory of every process, for a minute. They are never written to disk, and are encrypted between processes.
 */
export class Texts {
  readonly #deps: TextsDeps
  readonly #kept = new Map<string, Kept>()
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #parts = new Map<string, string[]>()

  constructor(deps: TextsDeps) {
    this.#deps = deps
  }

  start(): () => void {
    const { notifier } = this.#deps
    const ends = [
      notifier.subscribe(TEXTS, (key) => void this.#collect(key)),
      notifier.subscribe(TEXT_WANTED, (messageId) => void this.#sendAgain(messageId)),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  /** Stores a text in this process and sends it, encrypted, to the other processes. */
  share(workspaceId: string, messageId: string, text: string, sealed: Uint8Array): void {
    this.#keep(messageId, { workspaceId, text })
    this.#send(workspaceId, messageId, sealed)
  }

  #send(workspaceId: string, messageId: string, sealed: Uint8Array): void {
    const whole = Buffer.from(sealed).toString('base64')
    const parts = whole.match(new RegExp(`.{1,${PART}}`, 'g')) ?? []
    for (const [index, part] of parts.entries()) {
      this.#deps.notifier.publish(TEXTS, [workspaceId, messageId, index, parts.length, part].join(' '), {
        toSelf: false,
      })
    }
  }

  /**
   * Resends a text to a process that was not listening: its connection to the database was lost, or it has
   * just started.
   */
  async #sendAgain(messageId: string): Promise<void> {
    const kept = this.#kept.get(messageId)
    if (kept)
      this.#send(
        kept.workspaceId,
        messageId,
        await this.#deps.sealer.seal(kept.workspaceId, kept.text, handoverBinding(messageId)),
      )
  }

  /** Returns the events with their texts, as far as these are still available. */
  attach(events: LoggedEvent[]): Promise<LoggedEvent[]> | LoggedEvent[] {
    if (!events.some(({ channel }) => channel === 'url')) return events
    return Promise.all(events.map(async (event) => (event.channel === 'url' ? this.#withText(event) : event)))
  }

  async #withText(event: LoggedEvent): Promise<LoggedEvent> {
    const age = this.#deps.clock.now().getTime() - event.createdAt.getTime()
    if (age < TTL_MS) await this.#fetch(event.messageId)
    const kept = this.#kept.get(event.messageId)
    return kept ? { ...event, text: kept.text } : event
  }

  async #fetch(messageId: string): Promise<void> {
    for (const [asked, ms] of WAITS_MS.entries()) {
      if (this.#kept.has(messageId)) return
      if (asked > 0) this.#deps.notifier.publish(TEXT_WANTED, messageId, { toSelf: false })
      await this.#arrival(messageId, ms)
    }
  }

  async #arrival(messageId: string, ms: number): Promise<void> {
    const given = new AbortController()
    const readers = this.#waiting.get(messageId) ?? new Set()
    const wake = () => given.abort()
    this.#waiting.set(messageId, readers.add(wake))
    await this.#deps.clock.sleep(ms, given.signal)
    readers.delete(wake)
    if (readers.size === 0) this.#waiting.delete(messageId)
  }

  async #collect(key: string): Promise<void> {
    const [workspaceId, messageId, index, count, part] = key.split(' ') as [
      string,
      string,
      string,
      string,
      string,
    ]
    const parts = this.#parts.get(messageId) ?? []
    parts[Number(index)] = part
    if (parts.filter(Boolean).length < Number(count)) return void this.#parts.set(messageId, parts)
    this.#parts.delete(messageId)
    try {
      const sealed = Buffer.from(parts.join(''), 'base64')
      const text = (await this.#deps.sealer.open(workspaceId, sealed, handoverBinding(messageId))).toString()
      this.#keep(messageId, { workspaceId, text })
    } catch (error) {
      this.#deps.log.warn({ err: error, messageId }, 'could not decrypt a text from another process')
    }
  }

  #keep(messageId: string, what: Omit<Kept, 'until'>): void {
    const now = this.#deps.clock.now().getTime()
    for (const [id, { until }] of this.#kept) {
      if (until > now && this.#kept.size < MAX_KEPT) break
      this.#kept.delete(id)
    }
    this.#kept.set(messageId, { ...what, until: now + TTL_MS })
    for (const wake of this.#waiting.get(messageId) ?? []) wake()
  }
}
