import { graphql, type ResultOf } from '../live/graphql.ts'
import { MESSAGE } from '../message/message-fields.ts'

/** Messages that wait for approval, as the queue lists them. */
export const HELD = graphql(`
  query HeldMessages($after: String) {
    workspace {
      id
      messages(first: 50, hold: approval, after: $after) {
        edges { node { id threadId to cc bcc subject preview createdAt agent { id name } } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)

export type HeldRow = ResultOf<typeof HELD>['workspace']['messages']['edges'][number]['node']

/** All that a member decides by: what is sent, why it waits, and what was said before. */
export const HELD_MESSAGE = graphql(
  `
    query HeldMessage($id: UUID!, $threadId: UUID!) {
      message(id: $id) {
        ...ThreadMessage
        threadId addressId strangers htmlLink { url }
        agent { id name approval addresses { id value } }
      }
      thread(id: $threadId) {
        id messageCount
        messages(first: 6) {
          edges { node { id direction status counterpart counterpartName preview createdAt } }
        }
      }
    }
  `,
  [MESSAGE],
)

export type HeldMessage = ResultOf<typeof HELD_MESSAGE>['message']
export type HeldThread = ResultOf<typeof HELD_MESSAGE>['thread']

/** What became of a message that does not wait any more. */
export const OUTCOME = graphql(
  `query Outcome($id: UUID!) { message(id: $id) { id status error hold { by } } }`,
)

/** Messages that were refused. */
export const REFUSED = graphql(`
  query RefusedMessages($after: String) {
    workspace {
      id
      messages(first: 30, status: refused, after: $after) {
        edges {
          node {
            id threadId channel counterpart counterpartName subject createdAt refusal
            checks { name verdict detail }
            agent { id name }
          }
        }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)

export type RefusedMessage = ResultOf<typeof REFUSED>['workspace']['messages']['edges'][number]['node']
