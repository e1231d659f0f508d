import { findAgent } from '../../agent/index.ts'
import type { Clock } from '../../core/clock.ts'
import { notFound } from '../../core/errors.ts'
import type { Scope } from '../../core/scopes.ts'
import type { Db, RootDb } from '../../db/client.ts'
import { deleteInBatches } from '../../db/delete-in-batches.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import {
  audit,
  createAppToken,
  deleteAppTokens,
  type EndSubscriptions,
  ensureMember,
  hashToken,
  holdMember,
  holdParent,
  revoking,
  type Viewer,
} from '../../workspace/index.ts'

export interface ConnectedAppDeps extends Db {
  clock: Clock
  notifier: Pick<Notifier, 'publish'>
  endSubscriptions: EndSubscriptions
}

/** A member must consent again after this time, in seconds, however often the app refreshes its tokens. */
export const CONSENT_S = 365 * 24 * 3600

const include = {
  member: true,
  token: { include: { agent: true } },
} satisfies Prisma.ConnectedAppInclude
type AppRow = Prisma.ConnectedAppGetPayload<{ include: typeof include }>

/** Returns an app in its public form. */
const presentApp = ({ clientId, host, createdAt, member, token }: AppRow) => ({
  id: token.id,
  name: token.name ?? host,
  host,
  clientId,
  agent: { id: token.agentId!, name: token.agent!.name },
  member: { id: member.id, email: member.email },
  createdAt,
  lastUsedAt: token.lastUsedAt,
  expiresAt: token.expiresAt!,
  scopes: token.scopes as Scope[] | null,
})

export type ConnectedApp = ReturnType<typeof presentApp>

/** The OAuth client that a member connects. */
export interface AppClient {
  clientId: string
  name: string
  /** The host that it is reached at. */
  host: string
  /** What the member lets it do; null for everything that apps may do. */
  scopes: readonly Scope[] | null
  /** The metadata of a client that has registered; null for others. */
  registration: object | null
}

/**
 * Stores a registered client for as long as it is connected: until then it is deleted after a day or, where installations share a
 * secret, in its id alone, which they no longer know once that secret is another or the workspace has moved away from them.
 */
const keepClient = async (
  tx: Prisma.TransactionClient,
  { clientId, registration }: AppClient,
  appExpiresAt: Date,
): Promise<void> => {
  if (registration === null) return
  const id = { kind: 'Client', hash: Uint8Array.from(hashToken(clientId)) }
  const expiresAt = new Date(appExpiresAt.getTime() + CONSENT_S * 1000)
  const payload = JSON.parse(JSON.stringify(registration)) as Prisma.InputJsonObject
  const create = { ...id, payload, expiresAt }
  await tx.oauthRecord.upsert({ where: { hash_kind: id }, create, update: { expiresAt } })
}

/**
 * Connects a client to an agent as its app, which the client's access tokens act as. If the member signed in with a token, the
 * app ends with that. Returns the app's id.
 * Throws `unauthorized` when the member was removed, and the errors of `findAgent`.
 */
export const connectApp = async (
  deps: ConnectedAppDeps,
  viewer: Viewer,
  agentId: string,
  client: AppClient,
): Promise<string> => {
  const { clientId, name, host, scopes } = client
  ensureMember(viewer)
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  const createdAt = deps.clock.now()
  return deps.prisma.$transaction(async (tx) => {
    await holdMember(tx, viewer.id) // a concurrent removal ends the app too
    const parent = await holdParent(tx, viewer)
    const latest = parent.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
    const expiresAt = new Date(Math.min(createdAt.getTime() + CONSENT_S * 1000, latest))
    const own = { name, scopes, createdAt, expiresAt, parentId: parent.id }
    const { id } = await createAppToken(tx, { workspaceId, agentId, ...own })
    await tx.connectedApp.create({ data: { tokenId: id, memberId: viewer.id, clientId, host, createdAt } })
    await keepClient(tx, client, expiresAt)
    const detail = { token: id, name, host, client: clientId, scopes: scopes && [...scopes] }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'app.connect', agentId, detail })
    return id
  })
}

/** Returns the apps that are connected to agents of the workspace, oldest first. For members. */
export const listApps = async (
  { prisma, clock }: ConnectedAppDeps,
  viewer: Viewer,
): Promise<ConnectedApp[]> => {
  ensureMember(viewer)
  const found = await prisma.connectedApp.findMany({
    where: { token: { workspaceId: viewer.workspaceId, expiresAt: { gt: clock.now() } } },
    orderBy: [{ createdAt: 'asc' }, { tokenId: 'asc' }],
    include,
  })
  return found.map(presentApp)
}

type Actor = Parameters<typeof audit>[1]

/** Deletes an app with its tokens; false when it does not exist. */
const deleteApp = async (
  deps: ConnectedAppDeps,
  where: Prisma.ConnectedAppWhereInput,
  actorOf: (app: AppRow) => Actor,
  reason?: string,
): Promise<boolean> => {
  const { ended } = await revoking(deps, async (tx) => {
    const app = await tx.connectedApp.findFirst({ where, include })
    if (!app) return { ended: [] }
    const { id, agentId, name } = app.token
    const held = await tx.$queryRaw<unknown[]>`select 1 from token where id = ${id}::uuid for update`
    if (held.length === 0) return { ended: [] }
    const ended = await deleteAppTokens(tx, deps.endSubscriptions, [id])
    const detail = { token: id, name, host: app.host, ...(reason === undefined ? {} : { reason }) }
    await audit({ ...deps, prisma: tx }, actorOf(app), { action: 'app.disconnect', agentId, detail })
    return { ended }
  })
  return ended.length > 0
}

/**
 * Disconnects an app: its tokens are no longer valid, its open streams are closed in every process, and its
 * subscriptions end. For members of the workspace.
 */
export const disconnectApp = async (deps: ConnectedAppDeps, viewer: Viewer, appId: string): Promise<void> => {
  ensureMember(viewer)
  const where = { tokenId: appId, token: { workspaceId: viewer.workspaceId } }
  if (!(await deleteApp(deps, where, () => viewer))) throw notFound('app')
}

/** Disconnects an app that revoked its own token, or whose tokens were stolen. May be called repeatedly. */
export const endApp = async (deps: ConnectedAppDeps, appId: string, reason: string): Promise<void> => {
  const actorOf = ({ token: { id, agentId, workspaceId } }: AppRow): Actor => ({
    workspaceId,
    kind: 'agent',
    id: agentId,
    tokenId: id,
  })
  await deleteApp(deps, { tokenId: appId }, actorOf, reason)
}

const DEAD = `
  select c.token_id as id from connected_app c join token t on t.id = c.token_id
   where t.expires_at <= $1
      or c.created_at < $1::timestamptz - interval '1 hour' and not exists (select 1 from oauth_record r where r.app_id = c.token_id and r.expires_at > $1
                        and r.kind in ('AccessToken', 'AuthorizationCode', 'RefreshToken') and r.consumed_at is null)
  order by 1 limit 1000`

const DELETE_EXPIRED = `
  with gone as (
    delete from oauth_record where (hash, kind) in (select hash, kind from oauth_record where expires_at < $1 limit $2) returning 1
  )
  select count(*)::int as count from gone`

/**
 * Deletes expired records, and apps that can never return: without a token or code that is still valid.
 * Idempotent; any process may call it at any time.
 */
export const pruneApps = async (
  deps: ConnectedAppDeps & RootDb,
  now: Date,
  signal?: AbortSignal,
): Promise<number> => {
  const { rows } = await deps.pool.query<{ id: string }>(DEAD, [now])
  const before = new Date(now.getTime() - 3_600_000)
  for (const { id } of rows) await endApp(deps, id, 'its tokens have expired')
  await deleteInBatches(deps, DELETE_EXPIRED, before, signal)
  return rows.length
}
