import type { Clock } from '../../core/clock.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { ActorKind } from '../../db/generated/prisma/enums.ts'
import { type Rows, type Sql, sql } from '../../db/sql/sql.ts'
import { CHANGE_KINDS, type ChangeKind, noteChange } from './change-log.ts'

/** Actions that are recorded in the audit log. */
export const ACTIONS = [
  'secret.reveal',
  'secret.set',
  'secret.delete',
  'agent.create',
  'agent.delete',
  'address.add',
  'address.update',
  'address.remove',
  'webhook.add',
  'webhook.update',
  'webhook.rotate',
  'webhook.remove',
  'suppression.remove',
  'agent.approval',
  'message.send',
  'message.refuse',
  'message.hold',
  'message.approve',
  'message.reject',
  'message.cancel',
  'message.unsubscribe',
  'message.reschedule',
  'token.create',
  'token.revoke',
  'session.link',
  'session.create',
  'session.refuse',
  'session.revoke',
  'app.connect',
  'app.disconnect',
  'passkey.add',
  'passkey.remove',
  'workspace.update',
  'workspace.delete',
  'workspace.restore',
  'workspace.export',
  'agent.export',
  'agent.update',
  'access.set',
  'message.release',
  'message.import',
  'message.delete',
  'code.take',
  'question.answer',
  'question.withdraw',
  'member.invite',
  'member.join',
  'member.remove',
  'member.role',
  'member.update',
  'invitation.revoke',
  'number.buy',
  'identity.claim',
  'identity.verify',
  'identity.remove',
  'number.release',
  'domain.add',
  'domain.verify',
  'domain.update',
  'domain.remove',
] as const
export type Action = (typeof ACTIONS)[number]

/** An audited action. `detail` never contains a value or a token. */
export interface Audited {
  action: Action
  agentId: string | null
  detail: Prisma.InputJsonObject
}

interface AuditDeps {
  prisma: Pick<Prisma.TransactionClient, 'auditEntry' | 'member' | '$executeRaw'>
  clock: Pick<Clock, 'now'>
}

/** Who did it: a viewer, a person without a token, or an operator on the command line (without an id). */
export interface Actor {
  workspaceId: string
  kind: ActorKind
  id: string | null
  tokenId: string | null
  name?: string | null | undefined
  email?: string | null | undefined
  /** Name of the connected app that acted as an agent. */
  app?: string | undefined
  /** The request with which it was done. */
  requestId?: string | undefined
}

/** Arrays of equal length: the messages that members send, and the ids of their entries, tokens and requests. */
export type AuditedSends = Record<'messages' | 'entries' | 'tokens' | 'requests', Sql>

/** The part of a statement that records messages, which it has stored, as sent by members. */
export const auditSends = (
  sent: Rows<'id' | 'agent_id' | 'workspace_id' | 'sent_by_member_id' | 'sent_by_name' | 'created_at'>,
  { messages, entries, tokens, requests }: AuditedSends,
): Sql => sql`
    audited as (
      insert into audit_entry (id, workspace_id, agent_id, actor_kind, actor_id, actor_name, token_id, request_id, action, detail, created_at)
      select e.id, s.workspace_id, s.agent_id, 'member', s.sent_by_member_id, s.sent_by_name, e.token_id, e.request_id, 'message.send',
             jsonb_build_object('message', s.id), s.created_at
        from unnest(${messages}, ${entries}, ${tokens}, ${requests}) as e(message_id, id, token_id, request_id) join ${sent} s on s.id = e.message_id
    )`

/** Actions that change nothing. */
const READS = new Set<Action>(['secret.reveal', 'workspace.export', 'agent.export'])

/** The operator, on the command line or by the service itself. */
export const OPERATOR = { kind: 'operator', id: null, tokenId: null } as const

/** The change that members who watch a workspace see of an action; null if none. Changes of messages are noted separately. */
const changedBy = (action: Action): ChangeKind | null => {
  if (action === 'member.invite') return 'invitation'
  const [subject = ''] = action.split('.')
  return !READS.has(action) && subject in CHANGE_KINDS ? (subject as ChangeKind) : null
}

/** Returns what the log calls the actor: some are known by their id alone, such as a member who signs in. */
const nameOf = async (
  { member }: Pick<Prisma.TransactionClient, 'member'>,
  { kind, id, name, email }: Actor,
): Promise<string | null> => {
  const given = name ?? email ?? null
  if (given !== null || kind !== 'member' || id === null) return given
  const found = await member.findUnique({ where: { id }, select: { name: true, email: true } })
  return found?.name ?? found?.email ?? null
}

/**
 * Records who did what, when, and tells the members who watch the workspace. Resolves once that is committed, or
 * part of the caller's transaction.
 */
export const audit = async (
  { prisma, clock }: AuditDeps,
  actor: Actor,
  { action, agentId, detail }: Audited,
): Promise<void> => {
  const kind = changedBy(action)
  if (kind) await noteChange(prisma, { workspaceId: actor.workspaceId, kind, agentId })
  await prisma.auditEntry.create({
    data: {
      workspaceId: actor.workspaceId,
      agentId,
      actorKind: actor.kind,
      actorId: actor.id,
      actorName: await nameOf(prisma, actor),
      tokenId: actor.tokenId,
      requestId: actor.requestId ?? null,
      action,
      detail: actor.app === undefined ? detail : { ...detail, app: actor.app },
      createdAt: clock.now(),
    },
  })
}
