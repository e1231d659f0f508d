import { graphql, type ResultOf } from '../live/graphql.ts'

/** Messages that wait for approval. */
export const HELD = graphql(`
  query HeldMessages($after: String) {
    workspace {
      id
      messages(first: 20, hold: approval, after: $after) {
        edges {
          node {
            id threadId channel to cc subject text createdAt htmlLink { url }
            hold { until }
            agent { id name }
            attachments { name size }
          }
        }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)

export type HeldMessage = ResultOf<typeof HELD>['workspace']['messages']['edges'][number]['node']

/** Messages that were refused. */
export const REFUSED = graphql(`
  query RefusedMessages($after: String) {
    workspace {
      id
      messages(first: 30, status: refused, after: $after) {
        edges {
          node {
            id threadId channel counterpart counterpartName subject createdAt refusal
            agent { id name }
          }
        }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)

export type RefusedMessage = ResultOf<typeof REFUSED>['workspace']['messages']['edges'][number]['node']
