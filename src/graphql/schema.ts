import { type GraphQLEnumType, type GraphQLSchema, isEnumType } from 'graphql'
import { builder } from './builder/builder.ts'
import { ScalarError } from './builder/input.ts'
import { requireScopes } from './builder/scopes.ts'
import './types/scalars.ts'
import './types/enums.ts'
import './types/workspace/phone-number.ts'
import './types/workspace/identity.ts'
import './types/workspace/workspace.ts'
import './types/workspace/domain.ts'
import './types/workspace/audit.ts'
import './types/workspace/trace.ts'
import './types/workspace/counts.ts'
import './types/agent/agent.ts'
import './types/agent/address.ts'
import './types/agent/access.ts'
import './types/agent/secret.ts'
import './types/workspace/token.ts'
import './types/workspace/member.ts'
import './types/workspace/connected-app.ts'
import './types/agent/listener.ts'
import './types/agent/agent-state.ts'
import './types/agent/agent-texts.ts'
import './types/webhook/webhook.ts'
import './types/message/message.ts'
import './types/message/mail-view.ts'
import './types/message/may-instruct.ts'
import './types/message/message-list.ts'
import './types/message/draft.ts'
import './types/message/held-message.ts'
import './types/message/code.ts'
import './types/message/unsubscribe.ts'
import './types/message/send-message.ts'
import './types/message/mark-messages.ts'
import './types/message/release-messages.ts'
import './types/message/delete-messages.ts'
import './types/agent/suppression.ts'
import './types/message/thread.ts'
import './types/message/thread-state.ts'
import './types/message/thread-notes.ts'
import './types/question/question.ts'
import './types/event/event.ts'
import './types/event/event-list.ts'
import './types/webhook/delivery.ts'
import './types/webhook/workspace-webhooks.ts'
import './types/workspace/mail-health.ts'
import './types/webhook/webhook-operation.ts'
import './types/event/change.ts'
import './types/event/workspace-change.ts'
import './types/workspace/workspace-deletion.ts'
import './types/service.ts'
import './types/workspace/viewer.ts'
import './types/workspace/session.ts'
import './types/workspace/passkey.ts'

/**
 * Gives invalid enum values REST's error. GraphQL's own message names a type that the client may not know.
 */
const explainValues = (type: GraphQLEnumType): void => {
  const names = type.getValues().map(({ name }) => name)
  const withExplanation = <Args extends unknown[]>(parse: (...args: Args) => unknown) =>
    function parsed(this: GraphQLEnumType, ...args: Args) {
      try {
        return parse.apply(this, args)
      } catch {
        throw new ScalarError(`must be one of ${names.join(', ')}`)
      }
    }
  type.parseValue = withExplanation(type.parseValue)
  type.parseLiteral = withExplanation(type.parseLiteral)
}

const makeSchema = (): GraphQLSchema => {
  const schema = builder.toSchema()
  requireScopes(schema)
  for (const type of Object.values(schema.getTypeMap()))
    if (isEnumType(type) && !type.name.startsWith('__')) explainValues(type)
  return schema
}

let created: GraphQLSchema | undefined

/** Returns the schema of all types, which is created once. */
export const createSchema = (): GraphQLSchema => {
  created ??= makeSchema()
  return created
}
