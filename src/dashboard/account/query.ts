import { graphql, type ResultOf } from '../live/graphql.ts'

/** What the screens about the member who is signed in show. */
export const ACCOUNT = graphql(`
  query Account {
    service { publicUrl }
    viewer {
      id name email
      sessions { id browser createdAt lastUsedAt current }
      passkeys { id name createdAt lastUsedAt }
      tokens { id name createdAt lastUsedAt expiresAt scopes }
      workspace {
        id
        members { id approvalMails questionMails }
        connectedApps { id name host agentName memberEmail lastUsedAt scopes }
      }
    }
  }
`)

export type Viewer = ResultOf<typeof ACCOUNT>['viewer']
