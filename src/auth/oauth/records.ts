import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Clock } from '../../core/clock.ts'
import { publicError } from '../../db/failure.ts'
import { hashToken, isMoving, movingError } from '../../workspace/index.ts'
import { metadataIn } from './client-id.ts'
import { mayReceiveCodes } from './client-metadata.ts'
import { errors } from './library.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export interface RecordDeps {
  clock: Clock
  unit: UnitOfWork
  /** Authenticates ids of registered clients; null if clients are stored instead. */
  clientIdKey: Uint8Array | null
  /** Ends a connected app with all its tokens. Ending one that has ended has no effect. */
  endApp(appId: string): Promise<void>
}

/** A registered client that no member has connected is deleted after a day. */
const UNUSED_CLIENT_S = 24 * 3600

interface Row {
  payload: AdapterPayload
  /** Whether the app's workspace moves: what is issued now would be missing where it is afterwards. */
  moving: boolean
  consumed_at: Date | null
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

const FIND = {
  name: 'oauth record',
  text: `select r.payload, r.consumed_at, exists (select from token t where t.id = r.app_id and ${isMoving('t.workspace_id')}) as moving
           from oauth_record r where r.hash = $1 and r.kind = $2 and r.expires_at > $3::timestamptz`,
}
const UPSERT = `insert into oauth_record (kind, hash, app_id, payload, expires_at) values ($1, $2, $3::uuid, $4::jsonb, $5::timestamptz)
  on conflict (hash, kind) do update set payload = excluded.payload, expires_at = excluded.expires_at`
const CONSUME = `update oauth_record set consumed_at = $3::timestamptz where hash = $1 and kind = $2 and consumed_at is null returning 1 as done`

/** How long an expired record is still found, in milliseconds: the library tells expired from unknown ones. */
const GRACE_MS = 60_000

/**
 * The library's storage of one kind of record. Ids of codes and tokens are secrets, so only their hashes are
 * stored. A grant's id is the id of its connected app, on which all that was issued for it hangs.
 */
export class Records implements Adapter {
  readonly #kind: string
  readonly #deps: RecordDeps

  constructor(kind: string, deps: RecordDeps) {
    this.#kind = kind
    this.#deps = deps
  }

  async upsert(id: string, { jti: _, ...payload }: AdapterPayload, expiresIn?: number): Promise<void> {
    const { unit, clock, clientIdKey } = this.#deps
    if (this.#kind === 'Client' && clientIdKey !== null) return
    const { pool } = await unit.current()
    const expiresAt = new Date(clock.now().getTime() + (expiresIn ?? UNUSED_CLIENT_S) * 1000)
    const appId = this.#kind === 'Grant' ? id : (payload.grantId ?? null)
    const values = [this.#kind, hashToken(id), appId, JSON.stringify(payload), expiresAt]
    try {
      await pool.query(UPSERT, values)
    } catch (error) {
      // The app was disconnected in the meantime.
      if (publicError(error).code === 'conflict') throw new errors.InvalidGrant('grant not found')
      throw error
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { unit, clock, clientIdKey } = this.#deps
    const client = this.#kind === 'Client' && clientIdKey !== null ? metadataIn(clientIdKey, id) : undefined
    if (client) return client
    const { pool } = await unit.current()
    const since = new Date(clock.now().getTime() - GRACE_MS)
    const { rows } = await pool.query<Row>({ ...FIND, values: [hashToken(id), this.#kind, since] })
    const row = rows[0]
    if (!row) return undefined
    if (row.moving) throw movingError()
    // A client that was registered under older rules may have a redirect URI that no code may go to.
    if (this.#kind === 'Client')
      return row.payload.redirect_uris?.every((uri) => mayReceiveCodes(new URL(uri)))
        ? row.payload
        : undefined
    return {
      ...row.payload,
      jti: id,
      ...(row.consumed_at ? { consumed: seconds(row.consumed_at) } : {}),
    }
  }

  /**
   * Uses up a code or refresh token. Of two concurrent uses, the second waits here and then counts as a replay:
   * everything that was issued for the grant ends.
   */
  async consume(id: string): Promise<void> {
    const { unit, clock } = this.#deps
    const payload = await this.find(id)
    const { pool } = await unit.begin()
    const { rows } = await pool.query(CONSUME, [hashToken(id), this.#kind, clock.now()])
    if (rows.length > 0) return
    await unit.abandon()
    if (payload?.grantId) await this.#deps.endApp(payload.grantId)
    throw new errors.InvalidGrant('it was already used')
  }

  async destroy(id: string): Promise<void> {
    const { pool } = await this.#deps.unit.current()
    await pool.query('delete from oauth_record where hash = $1 and kind = $2', [hashToken(id), this.#kind])
  }

  /**
   * The library calls it for every kind when a client revokes a token, and when a code or refresh token is used
   * twice. Once is enough: the app's records end with it.
   */
  async revokeByGrantId(grantId: string): Promise<void> {
    if (this.#kind === 'AccessToken') await this.#deps.endApp(grantId)
  }

  /** Only for sessions and device codes, of which there are none. */
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
}

/** The library's own sessions are not stored: members sign in to the service, and consent each time. */
export class NoRecords implements Adapter {
  async upsert(): Promise<void> {}
  async find(): Promise<undefined> {}
  async consume(): Promise<void> {}
  async destroy(): Promise<void> {}
  async revokeByGrantId(): Promise<void> {}
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
}
