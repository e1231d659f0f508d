import { type GraphQLEnumType, type GraphQLSchema, isEnumType } from 'graphql'
import { builder } from './builder/builder.ts'
import { ScalarError } from './builder/input.ts'
import './types/scalars.ts'
import './types/enums.ts'
import './types/phone-number.ts'
import './types/identity.ts'
import './types/workspace.ts'
import './types/domain.ts'
import './types/audit.ts'
import './types/trace.ts'
import './types/counts.ts'
import './types/agent.ts'
import './types/address.ts'
import './types/access.ts'
import './types/secret.ts'
import './types/token.ts'
import './types/member.ts'
import './types/connected-app.ts'
import './types/listener.ts'
import './types/agent-state.ts'
import './types/agent-texts.ts'
import './types/webhook.ts'
import './types/message.ts'
import './types/mail-view.ts'
import './types/may-instruct.ts'
import './types/message-list.ts'
import './types/draft.ts'
import './types/held-message.ts'
import './types/unsubscribe.ts'
import './types/send-message.ts'
import './types/mark-messages.ts'
import './types/release-messages.ts'
import './types/delete-messages.ts'
import './types/suppression.ts'
import './types/thread.ts'
import './types/thread-state.ts'
import './types/thread-notes.ts'
import './types/event.ts'
import './types/event-list.ts'
import './types/delivery.ts'
import './types/workspace-webhooks.ts'
import './types/mail-health.ts'
import './types/webhook-operation.ts'
import './types/change.ts'
import './types/workspace-change.ts'
import './types/workspace-deletion.ts'
import './types/service.ts'
import './types/viewer.ts'
import './types/session.ts'
import './types/passkey.ts'

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
