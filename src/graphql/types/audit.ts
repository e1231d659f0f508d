import type { AuditEntry as EntryRow } from '../../db/generated/prisma/client.ts'
import type { Action } from '../../workspace/audit.ts'
import { auditCursor, listAudit } from '../../workspace/read-audit.ts'
import { builder, forMembers } from '../builder.ts'
import { countRows } from '../execution/limits.ts'
import { given, rethrowAsAfter } from '../input.ts'
import { checkFirst, pageArgs, pageCost, pageInfoOf } from '../page.ts'
import { ActorKind, AuditAction } from './enums.ts'
import { Workspace } from './workspace.ts'

const Actor = builder.objectRef<EntryRow>('AuditActor').implement({
  description: 'The actor of an audit entry.',
  fields: (t) => ({
    kind: t.expose('actorKind', {
      type: ActorKind,
      description: 'A member, an agent or the operator of the service.',
    }),
    id: t.expose('actorId', { type: 'UUID', nullable: true, description: "The member's or the agent's id." }),
    name: t.exposeString('actorName', {
      nullable: true,
      description:
        'The name that it had then, or else the email address; null for the operator, and for some who have left.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'UUID',
      nullable: true,
      description: 'The token that was used; null if there was none.',
    }),
  }),
})

const Entry = builder.objectRef<EntryRow>('AuditEntry').implement({
  description: 'An entry in the audit log.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    action: t.field({
      type: AuditAction,
      description: 'The action.',
      resolve: ({ action }) => action as Action,
    }),
    actor: t.field({
      type: Actor,
      description: 'Who performed the action, and with which token.',
      resolve: (entry) => entry,
    }),
    agentId: t.expose('agentId', {
      type: 'UUID',
      nullable: true,
      description: 'The agent that was affected, which may have been deleted since; null for the workspace.',
    }),
    detail: t.field({
      type: 'JSONObject',
      description:
        'Details of the action, such as the `names` of revealed secrets; never a value or a token.',
      resolve: ({ detail }) => detail as Record<string, unknown>,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the action was performed.' }),
  }),
})

const AuditConnection = builder.connectionObject(
  { type: Entry, name: 'AuditConnection', description: 'A page of audit entries, newest first.' },
  { name: 'AuditEdge', description: 'An audit entry and its cursor.' },
)

builder.prismaObjectField(Workspace, 'audit', (t) =>
  t.field({
    type: AuditConnection,
    ...forMembers,
    description:
      'The audit log: who changed what in the workspace, and who revealed secrets, newest first. Members only.',
    complexity: ({ first }) => pageCost(first),
    args: {
      ...pageArgs(),
      agentId: t.arg({
        type: 'UUID',
        description: 'Only entries about this agent, which may have been deleted since.',
      }),
      action: t.arg({ type: AuditAction, description: 'Only entries with this action.' }),
      actorId: t.arg({
        type: 'UUID',
        description: 'Only actions of this member or agent, who may have been removed since.',
      }),
      since: t.arg({ type: 'DateTime', description: 'Only entries from this time on.' }),
      until: t.arg({ type: 'DateTime', description: 'Only entries up to this time.' }),
    },
    resolve: async (_workspace, { first: wanted, after, ...filters }, context) => {
      const first = checkFirst(wanted)
      countRows(context, first)
      const { agentId, action, actorId, since, until } = filters
      const filter = {
        agentId: given(agentId),
        action: given(action),
        actorId: given(actorId),
        since: given(since),
        until: given(until),
      }
      const page = await listAudit(context.deps, context.viewer, filter, {
        limit: first,
        cursor: given(after),
      }).catch(rethrowAsAfter)
      const edges = page.items.map((entry) => ({ cursor: auditCursor(entry), node: entry }))
      return { edges, pageInfo: pageInfoOf(edges, page.nextCursor !== null, { first, after: given(after) }) }
    },
  }),
)
