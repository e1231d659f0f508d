import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.ts'
import './types/scalars.ts'
import './types/enums.ts'
import './types/phone-number.ts'
import './types/identity.ts'
import './types/workspace.ts'
import './types/domain.ts'
import './types/agent.ts'
import './types/address.ts'
import './types/access.ts'
import './types/secret.ts'
import './types/token.ts'
import './types/member.ts'
import './types/listener.ts'
import './types/webhook.ts'
import './types/message.ts'
import './types/message-list.ts'
import './types/send-message.ts'
import './types/suppression.ts'
import './types/thread.ts'
import './types/event.ts'
import './types/event-list.ts'
import './types/delivery.ts'
import './types/webhook-operation.ts'
import './types/change.ts'
import './types/viewer.ts'

let made: GraphQLSchema | undefined

/** The schema of all types. Made once. */
export const createSchema = (): GraphQLSchema => {
  made ??= builder.toSchema()
  return made
}
