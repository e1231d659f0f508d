import type { AuditEntry as EntryRow } from '../../db/generated/prisma/client.ts'
import type { Action } from '../../workspace/audit.ts'
import { auditCursor, listAudit } from '../../workspace/read-audit.ts'
import { builder, forMembers } from '../builder.ts'
import { given, saidOfAfter } from '../input.ts'
import { countRows } from '../limits.ts'
import { ActorKind, AuditAction } from './enums.ts'
import { pageInfoOf } from './message-list.ts'
import { checkFirst, pageCost } from './message-page.ts'
import { Workspace } from './workspace.ts'

const Actor = builder.objectRef<EntryRow>('AuditActor').implement({
  description: 'Who did what the audit tells of.',
  fields: (t) => ({
    kind: t.expose('actorKind', { type: ActorKind, description: 'A member, an agent or whoever runs the service.' }),
    id: t.expose('actorId', { type: 'UUID', nullable: true, description: "The member's or the agent's id." }),
    tokenId: t.expose('tokenId', { type: 'UUID', nullable: true, description: 'The token that it was done with; null: with none.' }),
  }),
})

const Entry = builder.objectRef<EntryRow>('AuditEntry').implement({
  description: 'Something that somebody did and that may be asked about later.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    action: t.field({ type: AuditAction, description: 'What was done.', resolve: ({ action }) => action as Action }),
    actor: t.field({ type: Actor, description: 'Who did it, with which token.', resolve: (entry) => entry }),
    agentId: t.expose('agentId', {
      type: 'UUID',
      nullable: true,
      description: 'The agent that it was done to, which may be gone by now; null: the workspace.',
    }),
    detail: t.field({
      type: 'JSONObject',
      description: 'What it was done with, such as the `names` of revealed secrets; never a value or a token.',
      resolve: ({ detail }) => detail as Record<string, unknown>,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was done.' }),
  }),
})

const AuditConnection = builder.connectionObject(
  { type: Entry, name: 'AuditConnection', description: 'A page of what was done, newest first.' },
  { name: 'AuditEdge', description: 'Something that was done and its place in the list.' },
)

builder.prismaObjectField(Workspace, 'audit', (t) =>
  t.field({
    type: AuditConnection,
    ...forMembers,
    description: 'Who revealed secrets, made or revoked tokens, changed members, numbers, domains or settings, newest first. For members.',
    complexity: ({ first }) => pageCost(first),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "An entry's cursor: the page begins behind it." }),
      agentId: t.arg({ type: 'UUID', description: 'Only what was done to this agent, which may be gone by now.' }),
      action: t.arg({ type: AuditAction, description: 'Only this.' }),
    },
    resolve: async (_workspace, { first: wanted, after, agentId, action }, context) => {
      const first = checkFirst(wanted)
      countRows(context, first)
      const filter = { agentId: given(agentId), action: given(action) }
      const page = await listAudit(context.deps, context.viewer, filter, { limit: first, cursor: given(after) }).catch(saidOfAfter)
      const edges = page.items.map((entry) => ({ cursor: auditCursor(entry), node: entry }))
      return { edges, pageInfo: pageInfoOf(edges, page.nextCursor !== null, { first, after: given(after) }) }
    },
  }),
)
