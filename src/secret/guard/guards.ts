import type { Clock } from '../../core/clock.ts'
import type { Db, Statements } from '../../db/client.ts'
import type { SecretsInMessages } from '../../db/generated/prisma/enums.ts'
import type { Notifier } from '../../db/notify.ts'
import { sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import type { Keyring } from '../../workspace/index.ts'
import { Comparison } from './comparison.ts'

/**
 * Returns the context that a value is encrypted with: it decrypts only as this agent's secret of this name.
 */
export const boundTo = (agentId: string, name: string) => `secret:${agentId}:${name}`

/** What decides whether messages of an agent may leave. */
export interface Guard {
  /** The agent's `guardVersion` of which this is true. */
  version: number
  setting: SecretsInMessages
  /** Until when all messages wait for approval; null if they do not. */
  holdsUntil: Date | null
  comparison: Comparison
}

export interface GuardDeps {
  keyring: Keyring
  notifier: Notifier
  clock: Clock
}

const SECRETS_CHANGED = 'secrets.changed'

/** How long a process keeps the hashes of an agent's secrets, and how many bytes of them of all agents. */
const KEPT_MS = 5 * 60_000
const MAX_BYTES = 64 * 1024 * 1024
/** What one takes besides its hashes. */
const BASE_BYTES = 2_000

const READ = statement<{ agentId: string }>(
  'guard of an agent',
  ({ agentId }) => sql`
    select a.workspace_id, a.guard_version, a.secrets_in_messages, a.guard_holds_until, s.name, s.sealed
      from agent a left join secret s on s.agent_id = a.id where a.id = ${agentId}::uuid`,
)
const READ_VERSION = statement<{ agentId: string }>(
  'guard version',
  ({ agentId }) => sql`select guard_version from agent where id = ${agentId}::uuid`,
)

interface Row {
  workspace_id: string
  guard_version: number
  secrets_in_messages: SecretsInMessages
  guard_holds_until: Date | null
  name: string | null
  sealed: Uint8Array | null
}

interface Kept {
  guard: Guard
  until: number
  bytes: number
}

/** The guards of agents that have sent lately. Each is forgotten in all processes when its agent's secrets change. */
export class Guards {
  readonly #deps: GuardDeps
  readonly #kept = new Map<string, Kept>()
  readonly #loading = new Map<string, Promise<Guard | null>>()
  #bytes = 0

  constructor(deps: GuardDeps) {
    this.#deps = deps
    deps.notifier.subscribe(SECRETS_CHANGED, (agentId) => this.#forget(agentId))
    deps.notifier.onReconnect(() => [...this.#kept.keys()].forEach((agentId) => void this.#forget(agentId)))
  }

  /** Returns what this process knows of an agent. It may have changed since: its version says so. */
  known(agentId: string): Guard | undefined {
    const kept = this.#kept.get(agentId)
    if (!kept) return undefined
    if (kept.until > this.#deps.clock.now().getTime()) return kept.guard
    this.#forget(agentId)
    return undefined
  }

  /** Returns the guard as it is now. Null for an agent that does not exist. */
  async current(db: Statements, agentId: string): Promise<Guard | null> {
    const known = this.known(agentId)
    if (known) {
      const { rows } = await db.pool.query<{ guard_version: number }>(READ_VERSION({ agentId }))
      if (rows[0]?.guard_version === known.version) return known
    }
    return this.#load(db, agentId)
  }

  /** To be called once what decides about an agent's messages has changed, also in a transaction. */
  changed({ afterCommit }: Pick<Db, 'afterCommit'>, agentId: string): void {
    afterCommit(() => this.#deps.notifier.publish(SECRETS_CHANGED, agentId))
  }

  #load(db: Statements, agentId: string): Promise<Guard | null> {
    // What a transaction reads may never be committed.
    if (db.inTransaction) return this.#read(db, agentId)
    const loading =
      this.#loading.get(agentId) ?? this.#read(db, agentId).finally(() => this.#loading.delete(agentId))
    this.#loading.set(agentId, loading)
    return loading
  }

  async #read({ pool, inTransaction = false }: Statements, agentId: string): Promise<Guard | null> {
    const { rows } = await pool.query<Row>(READ({ agentId }))
    const [first] = rows
    if (!first) return null
    const compares = first.secrets_in_messages !== 'allow'
    const sealed = compares ? rows.filter(({ name }) => name !== null) : []
    const secrets = await Promise.all(
      sealed.map(async ({ name, sealed, workspace_id }) => {
        const value = await this.#deps.keyring.open(workspace_id, sealed!, boundTo(agentId, name!))
        return { name: name!, value: value.toString() }
      }),
    )
    const guard: Guard = {
      version: first.guard_version,
      setting: first.secrets_in_messages,
      holdsUntil: first.guard_holds_until,
      comparison: new Comparison(secrets),
    }
    if (!inTransaction) this.#keep(agentId, guard)
    return guard
  }

  #keep(agentId: string, guard: Guard): void {
    this.#forget(agentId)
    const bytes = BASE_BYTES + guard.comparison.bytes
    this.#kept.set(agentId, { guard, bytes, until: this.#deps.clock.now().getTime() + KEPT_MS })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) break
      this.#forget(oldest)
    }
  }

  #forget(agentId: string): void {
    this.#bytes -= this.#kept.get(agentId)?.bytes ?? 0
    this.#kept.delete(agentId)
  }
}
