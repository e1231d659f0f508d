import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { AppError } from '../core/errors.ts'
import type PrismaTypes from '../db/generated/pothos-types.ts'
import { getDatamodel } from '../db/generated/pothos-types.ts'
import type { GraphqlContext } from './context.ts'
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
    JSONObject: { Input: never; Output: Record<string, unknown> }
  }
}

/** What a list without a limit of its own counts as. */
const LIST_COST = 10

/** Collects the types; `createSchema` (schema.ts) makes the schema of them. */
export const builder = new SchemaBuilder<Types>({
  plugins: [ScopeAuthPlugin, ComplexityPlugin, LoadedPlugin, PrismaPlugin, RelayPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: ({ deps }) => deps.prisma,
    dmmf: getDatamodel(),
    exposeDescriptions: false, // they speak to builders of the service
    onUnusedQuery: 'error',
  },
  relay: {
    cursorType: 'String',
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    edgesFieldOptions: { nullable: false, complexity: { field: 0, multiplier: 1 }, description: 'The entries of this page, in order.' },
    nodeFieldOptions: { nullable: false, description: 'The entry itself.' },
    cursorFieldOptions: { description: 'Its place in the list: what `after` takes.' },
    pageInfoFieldOptions: { description: 'How this page lies in the list.' },
    pageInfoTypeOptions: { description: 'How a page lies in its list.' },
    hasNextPageFieldOptions: { description: 'Whether there is more behind it.' },
    hasPreviousPageFieldOptions: { description: 'Whether it began behind a cursor.' },
    startCursorFieldOptions: { description: 'The cursor of its first entry; null when it is empty.' },
    endCursorFieldOptions: { description: 'The cursor of its last entry; null when it is empty.' },
  },
  complexity: { defaultListMultiplier: LIST_COST },
  scopeAuth: {
    authScopes: ({ viewer }) => ({
      manage: (agentId) => viewer.kind === 'member' || viewer.id === agentId,
      member: viewer.kind === 'member',
    }),
    unauthorizedError: () => new AppError('forbidden', "This token is another agent's."),
  },
})

/** What a field for members alone says of itself. */
export const forMembers = {
  authScopes: { member: true },
  unauthorizedError: () => new AppError('forbidden', 'Only a member can do this.'),
} as const

builder.queryType({ description: 'Everything that can be read.' })
builder.mutationType({
  description:
    'Everything that can be changed. Each has one argument, `input`, and a payload of its own, which is null when it failed: what the others of a document did stays to be read. With an `Idempotency-Key` header one mutation is done at most once, as a POST of REST is.',
})
builder.subscriptionType({ description: 'What is told as it happens, over Server-Sent Events.' })
