import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './schema.d.ts'

export type { ResultOf, VariablesOf } from 'gql.tada'

/**
 * Makes a document of GraphQL, with the types of its variables and of its result. Fragments that it uses follow
 * as a list.
 */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: {
    DateTime: string
    EmailAddress: string
    JSONObject: Record<string, unknown>
    SafeInt: number
    UUID: string
  }
}>()
