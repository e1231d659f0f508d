import type { Db } from '../db/client.ts'
import { type Moment, settled, type Trace } from './moment.ts'

/** Whose eyes a trace is for: those of a member, who sees their workspace. Null for an operator. */
export type Scope = { workspaceId: string; memberId: string } | null

/** How many entries of the audit log are shown. */
const MOST = 20

export interface Audited {
  at: Date
  action: string
  actor: string | null
  detail: Record<string, unknown>
}

/** Columns of an entry `e`. */
export const AUDITED = 'created_at as at, action, coalesce(actor_name, actor_kind::text) as actor, detail'

/** Details contain no values of secrets and no tokens. */
const told = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([name, one]) => (Array.isArray(value) ? told(one) : `${name} ${told(one)}`))
        .join(', ')
    : String(value ?? 'not set')

export const ofAudited = ({ at, action, actor, detail }: Audited): Moment => ({
  at,
  kind: 'audit',
  subject: action,
  detail: [actor, told(detail)].filter(Boolean).join(' · '),
})

/** Each token that a viewer may know of: agents' and their own. */
const readToken = async ({ prisma }: Db, id: string, scope: Scope) => {
  const token = await prisma.token.findUnique({ where: { id }, include: { member: true, agent: true } })
  if (!scope || !token) return token
  const isOwn = token.memberId === scope.memberId || token.agentId !== null
  return token.workspaceId === scope.workspaceId && isOwn ? token : null
}

/** Returns what a token did. */
export const traceToken = async (db: Db, id: string, scope: Scope): Promise<Trace[]> => {
  const token = await readToken(db, id, scope)
  if (!token) return []
  const owner = token.agent?.name ?? token.member?.email ?? ''
  // Of the actor, whose entries an index has.
  const { rows } = await db.pool.query<Audited & Record<string, unknown>>(
    `select ${AUDITED} from audit_entry where actor_id = $1 and token_id = $2 order by created_at desc limit ${MOST}`,
    [token.agentId ?? token.memberId, id],
  )
  return [
    settled({
      kind: 'token',
      ...{ subject: token.name ?? id, owner, agentId: token.agentId, threadId: null },
      about: `Token ${token.name ?? id} of ${token.agent ? 'agent' : 'member'} ${owner}`,
      moments: [
        { at: token.createdAt, kind: 'token_created' },
        ...rows.map(ofAudited),
        ...(token.lastUsedAt ? [{ at: token.lastUsedAt, kind: 'token_used' } as const] : []),
      ],
    }),
  ]
}

interface Requested extends Audited {
  actorId: string | null
  actorKind: string
  tokenId: string | null
}

const BY_REQUEST = `select ${AUDITED}, actor_id as "actorId", actor_kind::text as "actorKind", token_id as "tokenId"
  from audit_entry where request_id = $1 and ($2::uuid is null or workspace_id = $2) order by created_at limit ${MOST}`

/** Returns what a request changed, and with which token, by the audit log. */
export const traceRequest = async (db: Db, id: string, scope: Scope): Promise<Trace[]> => {
  const { rows } = await db.pool.query<Requested & Record<string, unknown>>(BY_REQUEST, [
    id,
    scope?.workspaceId ?? null,
  ])
  const [first] = rows
  if (!first) return []
  const token = first.tokenId ? await readToken(db, first.tokenId, scope) : null
  const used = first.tokenId ? { subject: token?.name ?? '', detail: first.tokenId } : null
  return [
    settled({
      kind: 'request',
      ...{ subject: id, owner: first.actor, threadId: null },
      agentId: first.actorKind === 'agent' ? first.actorId : null,
      about: `Request ${id} of ${first.actorKind} ${first.actor}, token ${token?.name ?? first.tokenId ?? 'none'}`,
      moments: [...(used ? [{ at: first.at, kind: 'token', ...used } as const] : []), ...rows.map(ofAudited)],
    }),
  ]
}
