import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { AppError } from '../../core/errors.ts'
import type PrismaTypes from '../../db/generated/pothos-types.ts'
import { getDatamodel } from '../../db/generated/pothos-types.ts'
import type { GraphqlContext } from '../context/context.ts'
import { IdempotencyPlugin } from './idempotency-option.ts'
import { LoadedPlugin } from './loaded.ts'

interface Types {
  Context: GraphqlContext
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  DefaultEdgesNullability: false
  DefaultNodeNullability: false
  AuthScopes: {
    /** Whether the viewer may read and change the agent with this id. */
    manage: string
    /** Whether the viewer is a member. */
    member: boolean
  }
  Scalars: {
    UUID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    EmailAddress: { Input: string; Output: string }
    SafeInt: { Input: number; Output: number }
    JSONObject: { Input: Record<string, unknown>; Output: Record<string, unknown> }
  }
}

/** Assumed length of a list that declares no limit of its own, in the complexity calculation. */
const LIST_COST = 10

/** Collects the types; `createSchema` (schema.ts) builds the schema from them. */
export const builder = new SchemaBuilder<Types>({
  plugins: [ScopeAuthPlugin, ComplexityPlugin, IdempotencyPlugin, LoadedPlugin, PrismaPlugin, RelayPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: ({ deps }) => deps.prisma,
    dmmf: getDatamodel(),
    exposeDescriptions: false, // they are meant for developers of the service
    onUnusedQuery: 'error',
  },
  relay: {
    cursorType: 'String',
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    edgesFieldOptions: {
      nullable: false,
      complexity: { field: 0, multiplier: 1 },
      description: 'The entries on this page, in order.',
    },
    nodeFieldOptions: { nullable: false, description: 'The entry.' },
    cursorFieldOptions: { description: "The entry's cursor; pass it as `after`." },
    pageInfoFieldOptions: { description: 'Pagination details.' },
    pageInfoTypeOptions: { description: 'Pagination details of a page.' },
    hasNextPageFieldOptions: { description: 'Whether more entries follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the page starts after a cursor.' },
    startCursorFieldOptions: { description: 'Cursor of the first entry; null when the page is empty.' },
    endCursorFieldOptions: { description: 'Cursor of the last entry; null when the page is empty.' },
  },
  complexity: { defaultListMultiplier: LIST_COST },
  scopeAuth: {
    authScopes: ({ viewer }) => ({
      manage: (agentId) => viewer.kind === 'member' || viewer.id === agentId,
      member: viewer.kind === 'member',
    }),
    unauthorizedError: () => new AppError('forbidden', 'This token belongs to another agent.'),
  },
})

/** Options of a field that is restricted to members. */
export const forMembers = {
  authScopes: { member: true },
  unauthorizedError: () => new AppError('forbidden', 'Only a member can do this.'),
} as const

builder.queryType({ description: 'All queries.' })
builder.mutationType({
  description:
    'All mutations. Each takes one argument, `input`, and returns its own payload, which is null when the mutation failed; the results of the other mutations in the same document are still returned. With an `Idempotency-Key` header, a single mutation runs at most once, like a POST in REST.',
})
builder.subscriptionType({ description: 'Real-time updates over Server-Sent Events.' })
