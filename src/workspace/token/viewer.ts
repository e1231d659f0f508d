import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Scope } from '../../core/scopes.ts'
import type { Db } from '../../db/client.ts'
import type { MemberRole } from '../../db/generated/prisma/enums.ts'
import type { Notifier } from '../../db/notify.ts'
import { define, rows, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { noteChanges } from '../change/change-log.ts'
import { isMoving, movingError, WORKSPACE_MOVES } from '../change/moving.ts'
import { COMMAND_LINE } from './app-token.ts'
import { isElsewhere } from './company-rule.ts'
import type { FailedTokens } from './failed-tokens.ts'
import { isLimited } from './session-token.ts'
import { hashToken, TOKEN_REVOKED } from './token.ts'

/** The authenticated caller. Every operation takes one, and returns only data of its workspace. */
export interface Viewer {
  readonly kind: 'member' | 'agent'
  /** Id of the member or the agent. */
  readonly id: string
  readonly workspaceId: string
  readonly tokenId: string
  readonly name: string | null
  /** Email address and role of a member; null for an agent. */
  readonly email: string | null
  readonly role: MemberRole | null
  /** What the token may be used for; null means everything that its holder may do. */
  readonly scopes: readonly Scope[] | null
  /** Expiry of the token, at which its open streams end too. */
  readonly expiresAt: Date | null
  /** A member's session in a browser; null for a bearer token. */
  readonly session: {
    /** Whether the member must register a passkey before the session allows anything else. */
    readonly enrolling: boolean
    /** Whether the session allows nothing at all until the member signs in as the workspace requires. */
    readonly refused: boolean
  } | null
  /** Name of the connected app that acts as the agent; undefined without one. */
  readonly app?: string | undefined
  /** The `X-Request-Id` of the response; undefined where there is none. */
  readonly requestId?: string | undefined
}

export interface ViewerDeps extends Db {
  clock: Clock
  log: Logger
  knownViewers: KnownViewers
  failedTokens: FailedTokens
}

/**
 * Time in milliseconds for which a process trusts what it read about a token, in case the notification of its
 * revocation is lost.
 */
const TRUSTED_MS = 1_000
const MAX_KNOWN = 10_000

/** Topic that notifies every process that roles or rules of a workspace were changed; the key is its id. */
export const RIGHTS_CHANGED = 'rights_changed'

const keyOf = (hash: Buffer, audience: string | null): string => hash.toString('latin1') + (audience ?? '')

/**
 * Viewers that were authenticated within the last second, by the hash of their token. A revoked token is
 * removed as soon as the process is notified.
 */
export class KnownViewers {
  readonly #viewers = new Map<string, { viewer: Viewer; until: number }>()

  /** Forgets revoked tokens, and what members of a workspace may do, when notified; returns a function that stops it. */
  follow(notifier: Pick<Notifier, 'subscribe'>): () => void {
    const ends = [
      notifier.subscribe(TOKEN_REVOKED, (id) => this.#forget((viewer) => viewer.tokenId === id)),
      ...[RIGHTS_CHANGED, WORKSPACE_MOVES].map((topic) =>
        notifier.subscribe(topic, (id) => this.#forget((viewer) => viewer.workspaceId === id)),
      ),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  /** `audience` is what the token was looked up for: it is not valid for anything else. */
  get(hash: Buffer, now: Date, audience: string | null = null): Viewer | null {
    const known = this.#viewers.get(keyOf(hash, audience))
    return known && known.until > now.getTime() ? known.viewer : null
  }

  add(hash: Buffer, viewer: Viewer, now: Date, audience: string | null = null): void {
    const key = keyOf(hash, audience)
    this.#viewers.delete(key)
    this.#viewers.set(key, { viewer, until: now.getTime() + TRUSTED_MS })
    this.#forgetOldest(now)
  }

  /** Reads a member again whose name has just changed. */
  forgetMember(memberId: string): void {
    this.#forget((viewer) => viewer.id === memberId)
  }

  #forget(isMeant: (viewer: Viewer) => boolean): void {
    for (const [key, { viewer }] of this.#viewers) if (isMeant(viewer)) this.#viewers.delete(key)
  }

  /** Removes what is no longer trusted: thousands of open streams need their viewers only once. */
  #forgetOldest(now: Date): void {
    for (const [key, { until }] of this.#viewers) {
      if (until > now.getTime() && this.#viewers.size <= MAX_KNOWN) return
      this.#viewers.delete(key)
    }
  }
}

/** A session that is not used for this long ends. */
export const SESSION_IDLE_MS = 12 * 3_600_000

interface TokenRow {
  id: string
  workspace_id: string
  member_id: string | null
  agent_id: string | null
  expires_at: Date | null
  scopes: Scope[] | null
  last_used_at: Date | null
  email: string | null
  role: MemberRole | null
  name: string | null
  /** Null for a bearer token. */
  session_ends_at: Date | null
  limited: boolean | null
  /** Whether a session that is limited does not allow to register a passkey, which the member has, or which does not suffice. */
  refused: boolean | null
  /** Name of the connected app; undefined for a bearer token of the agent or a member. */
  app?: string
  /** Whether its workspace is closed, because it is moving to another installation. */
  moving: boolean
}

const BY_HASH = {
  name: 'token by hash',
  text: `select t.id, t.workspace_id, t.member_id, t.agent_id, t.expires_at, t.scopes, t.last_used_at, m.email, m.role, coalesce(m.name, a.name) as name,
                s.ends_at as session_ends_at, s.token_id is not null and ${isLimited('t')} as limited,
                s.token_id is not null and (${isElsewhere('m', 's.way')} or
                  exists (select from passkey p where p.member_id = t.member_id
                                                  and (s.way is distinct from 'link' or p.created_at > t.created_at))) as refused,
                ${isMoving('t.workspace_id')} as moving
           from token t left join member m on m.id = t.member_id left join agent a on a.id = t.agent_id left join session s on s.token_id = t.id
          where t.hash = $1`,
}

/**
 * An access token of a connected app acts as the app's token, with its own expiry. It is valid for one
 * audience (RFC 8707), which for the command line is the whole service, and, as its app, ends with the member
 * who connected it.
 */
const BY_ACCESS_TOKEN = {
  name: 'token by access token',
  text: `select t.id, t.workspace_id, t.member_id, t.agent_id, least(r.expires_at, t.expires_at) as expires_at, t.scopes, t.last_used_at,
                null as email, null as role, a.name, null as session_ends_at, null as limited, null as refused, coalesce(t.name, '') as app,
                ${isMoving('t.workspace_id')} as moving
           from oauth_record r join connected_app c on c.token_id = r.app_id join token t on t.id = c.token_id join agent a on a.id = t.agent_id
          where r.hash = $1 and r.kind = 'AccessToken' and (r.payload->>'aud' = $2 or r.payload->>'clientId' = '${COMMAND_LINE}')`,
}

/** `lastUsedAt` is accurate to the minute: a write for every request would cost too much. */
const USE_GRAIN_MS = 60_000

const USED = rows('used', 'id', 'agent_id', 'workspace_id')
const TOUCH = sql`update token set last_used_at = $2, expires_at = coalesce($3, expires_at)
              where id = $1 and (last_used_at is null or last_used_at < $2)`
const USE = composedOf(TOUCH)
const FIRST_USE = composedOf(sql`
  with ${define(USED)} as (${TOUCH} returning id, agent_id, workspace_id),${noteChanges('token', USED)}
  select 1`)

/**
 * Records the use of a token. The use of a session also postpones its end; the first use of an agent's token is
 * told to the members who watch.
 */
const noteUse = ({ pool, clock, log }: ViewerDeps, row: TokenRow) => {
  const now = clock.now()
  if (row.last_used_at && now.getTime() - row.last_used_at.getTime() < USE_GRAIN_MS) return
  const isFirst = row.agent_id !== null && row.last_used_at === null
  pool
    .query({ ...(isFirst ? FIRST_USE : USE), values: [row.id, now, sessionExpiry(row, now)] })
    .catch((error: unknown) =>
      log.warn({ err: error, tokenId: row.id }, 'could not record the last use of a token'),
    )
}

/** Returns when a session ends that is used now; null for a bearer token. */
const sessionExpiry = ({ session_ends_at: endsAt }: TokenRow, now: Date): Date | null =>
  endsAt && new Date(Math.min(endsAt.getTime(), now.getTime() + SESSION_IDLE_MS))

/**
 * Authenticates a bearer token. Throws the same `unauthorized` for every invalid token, so that the reason is
 * not revealed, and `rate_limited` after too many of them from one address. `source` is that address, as
 * returned by `clientOf`. Throws `unavailable` while the workspace moves to another installation. Access tokens of connected apps are accepted only where the `audience` is given,
 * except for those of the command line.
 */
export const authenticate = async (
  deps: ViewerDeps,
  token: string | null,
  source: string,
  audience = '',
): Promise<Viewer> => {
  if (!token) throw new AppError('unauthorized', 'Send a bearer token: Authorization: Bearer <token>.')
  const viewer = await findViewer(deps, token, source, token.startsWith('aot_') ? audience : null)
  if (!viewer || viewer.session) throw deps.failedTokens.fail(source)
  return viewer
}

/**
 * Authenticates the token of a session, which comes in a cookie. Throws `unauthorized` when it has ended or the
 * member has to sign in as the workspace requires, and
 * `rate_limited` after too many invalid ones from one address.
 */
export const authenticateSession = async (
  deps: ViewerDeps,
  token: string,
  source: string,
): Promise<Viewer & { session: NonNullable<Viewer['session']> }> => {
  const viewer = await findViewer(deps, token, source)
  if (!viewer?.session) throw deps.failedTokens.fail(source, 'This session has ended. Sign in again.')
  if (viewer.session.refused)
    throw new AppError('unauthorized', 'This workspace requires another way to sign in. Sign in again.')
  return { ...viewer, session: viewer.session }
}

/** Returns the viewer of a token that is not expired; with an audience, of an app's access token. */
const findViewer = async (
  deps: ViewerDeps,
  token: string,
  source: string,
  audience: string | null = null,
): Promise<Viewer | null> => {
  const hash = hashToken(token)
  const now = deps.clock.now()
  const known = deps.knownViewers.get(hash, now, audience)
  const viewer = known ?? (await deps.failedTokens.lookUp(source, () => readViewer(deps, hash, audience)))
  return viewer?.expiresAt && viewer.expiresAt <= now ? null : viewer
}

const readViewer = async (
  deps: ViewerDeps,
  hash: Buffer,
  audience: string | null,
): Promise<Viewer | null> => {
  const statement =
    audience === null ? { ...BY_HASH, values: [hash] } : { ...BY_ACCESS_TOKEN, values: [hash, audience] }
  const { rows } = await deps.pool.query<TokenRow>(statement)
  const row = rows[0]
  if (!row) return null
  const now = deps.clock.now()
  if (row.expires_at && row.expires_at <= now) return null
  if (row.moving) throw movingError()
  noteUse(deps, row)
  const viewer = toViewer(row, now)
  deps.knownViewers.add(hash, viewer, now, audience)
  return viewer
}

const toViewer = (row: TokenRow, now: Date): Viewer => ({
  kind: row.member_id ? 'member' : 'agent',
  id: (row.member_id ?? row.agent_id)!,
  workspaceId: row.workspace_id,
  tokenId: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  scopes: row.scopes,
  expiresAt: sessionExpiry(row, now) ?? row.expires_at,
  session: row.session_ends_at && {
    enrolling: row.limited === true && !row.refused,
    refused: row.limited === true && row.refused === true,
  },
  app: row.app,
})
