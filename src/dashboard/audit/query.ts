import { graphql, type ResultOf, type VariablesOf } from '../live/graphql.ts'

/** Who changed what in the workspace. */
export const AUDIT = graphql(`
  query Audit($action: AuditAction, $agentId: UUID, $after: String) {
    workspace {
      id
      audit(first: 50, action: $action, agentId: $agentId, after: $after) {
        edges { node { id action createdAt agentId detail actor { kind id name } } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)

export const NAMES = graphql(`query MemberNames { workspace { id members { id name email } } }`)

export type Entry = ResultOf<typeof AUDIT>['workspace']['audit']['edges'][number]['node']
export type Action = Entry['action']
export type Filter = Omit<VariablesOf<typeof AUDIT>, 'after'>
