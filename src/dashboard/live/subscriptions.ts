import { stringifyDocument } from 'urql'
import type { Change, Topic } from './change.ts'
import { graphql, type ResultOf } from './graphql.ts'

/** What the service is asked to tell, and how it becomes changes. The only place that knows the subscription. */

const CHANGED = graphql(`
  subscription WorkspaceChanged($after: String) {
    workspaceChanged(after: $after) { position truncated changes { kind agentId ids } }
  }
`)

export const SUBSCRIPTION = stringifyDocument(CHANGED)

export type Result = ResultOf<typeof CHANGED>

const TOPICS: Record<Result['workspaceChanged']['changes'][number]['kind'], Topic> = {
  access: 'access',
  address: 'agents',
  agent: 'agents',
  app: 'members',
  domain: 'domains',
  draft: 'drafts',
  identity: 'members',
  invitation: 'members',
  listener: 'listeners',
  member: 'members',
  message_arrived: 'messages',
  message_changed: 'messages',
  number: 'numbers',
  passkey: 'members',
  question: 'questions',
  secret: 'secrets',
  session: 'members',
  suppression: 'suppressions',
  // A thread has the id of its first message.
  thread: 'messages',
  token: 'tokens',
  webhook: 'webhooks',
  workspace: 'workspace',
}

export const changesOf = ({ workspaceChanged: { truncated, changes } }: Result): Change[] =>
  truncated
    ? [{ topic: 'all' }]
    : changes.map(({ kind, agentId, ids }) => ({
        topic: TOPICS[kind],
        ids,
        arrived: kind === 'message_arrived',
        ...(agentId === null ? {} : { agentId }),
      }))
