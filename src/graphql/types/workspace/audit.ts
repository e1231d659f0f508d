import { AUDIT_FILTER, AuditEntry } from '../../../api/workspace/audit.ts'
import { auditCursor, listAudit } from '../../../workspace/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { given, rethrowAsAfter } from '../../builder/input.ts'
import { checkFirst, pageArgs, pageCost, pageInfoOf } from '../../builder/page.ts'
import { argsOf, objectOf, valuesOf } from '../../builder/rendered.ts'
import { countRows } from '../../context/limits.ts'
import { Workspace } from './workspace.ts'

const AuditConnection = builder.connectionObject(
  {
    type: objectOf(AuditEntry),
    name: 'AuditConnection',
    description: 'A page of audit entries, newest first.',
  },
  { name: 'AuditEdge', description: 'An audit entry and its cursor.' },
)

builder.prismaObjectField(Workspace, 'audit', (t) =>
  t.field({
    type: AuditConnection,
    ...forMembers,
    description:
      'The audit log: who changed what in the workspace, and who revealed secrets, newest first. Members only.',
    complexity: ({ first }) => pageCost(first),
    args: { ...pageArgs(), ...argsOf(AUDIT_FILTER) },
    resolve: async (_workspace, { first: wanted, after, ...filter }, context) => {
      const first = checkFirst(wanted)
      countRows(context, first)
      const page = await listAudit(context.deps, context.viewer, valuesOf(AUDIT_FILTER, filter), {
        limit: first,
        cursor: given(after),
      }).catch(rethrowAsAfter)
      const edges = page.items.map((entry) => ({ cursor: auditCursor(entry), node: entry }))
      return { edges, pageInfo: pageInfoOf(edges, page.nextCursor !== null, { first, after: given(after) }) }
    },
  }),
)
