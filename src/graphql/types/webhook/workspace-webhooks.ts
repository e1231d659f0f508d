import { invalidInput } from '../../../core/errors.ts'
import { formatTopicKey, parseTopicKey, readBlocking } from '../../../webhook/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { batched } from '../../context/batch.ts'
import { countRows } from '../../context/limits.ts'
import { Workspace } from '../workspace/workspace.ts'
import { Delivery } from './delivery.ts'
import { Webhook } from './webhook.ts'

const MAX = 200
/** Number of webhooks that a query without `first` is assumed to return. */
const ASSUMED = 50

builder.prismaObjectField(Webhook, 'blocking', (t) =>
  t.field({
    type: Delivery,
    nullable: true,
    complexity: 10,
    select: { id: true, agentId: true },
    description:
      'The delivery that is being retried, with its attempts so far: all later events wait for it. Null if none is.',
    resolve: (webhook, _args, context) =>
      batched(context, 'blocking', formatTopicKey(webhook), (keys: readonly string[]) =>
        readBlocking(context.deps, keys.map(parseTopicKey)),
      ),
  }),
)

builder.prismaObjectField(Workspace, 'webhooks', (t) =>
  t.prismaField({
    type: [Webhook],
    ...forMembers,
    complexity: ({ first }) => ({ field: 10, multiplier: first ?? ASSUMED }),
    description: `The webhooks of all agents: those that fail first, longest failing first, then by age. At most ${MAX}. Members only.`,
    args: {
      first: t.arg.int({ description: `Number of webhooks to return: 1 to ${MAX}; defaults to ${MAX}.` }),
      failing: t.arg.boolean({ description: 'true: only those that fail; false: only those that do not.' }),
    },
    resolve: (query, _workspace, { first, failing }, context) => {
      const take = first ?? MAX
      if (take < 1 || take > MAX) throw invalidInput('first', `must be a whole number from 1 to ${MAX}`)
      countRows(context, take)
      return context.deps.prisma.webhook.findMany({
        ...query,
        where: {
          workspaceId: context.viewer.workspaceId,
          kind: 'webhook',
          ...(failing == null ? {} : { failingSince: failing ? { not: null } : null }),
        },
        orderBy: [{ failingSince: { sort: 'asc', nulls: 'last' } }, { createdAt: 'asc' }, { id: 'asc' }],
        take,
      })
    },
  }),
)
