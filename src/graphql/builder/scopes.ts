import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql'
import { ensureScope, type Needed, type Scope } from '../../core/scopes.ts'
import type { GraphqlContext } from '../context/context.ts'

/** What a token needs to read a field: it follows from the type of what the field returns, wherever in a query it is. */

/** Types that are read with these scopes. */
const READ: Partial<Record<Scope, readonly string[]>> = {
  'messages:read': [
    ...['Message', 'MessageConnection', 'Thread', 'ThreadConnection', 'ThreadNote', 'Transcript'],
    ...['Draft', 'DraftConnection', 'Recipient', 'HeaderField', 'AttachmentLink', 'AttachmentText'],
    ...[
      'Suppression',
      'SuppressionConnection',
      'DayCounts',
      'DomainHealth',
      'Question',
      'QuestionConnection',
    ],
  ],
  events: [
    ...['Event', 'EventConnection', 'Listener', 'Connection', 'WorkspaceChanges', 'WebhookChange'],
    ...['Webhook', 'Delivery', 'DeliveryConnection'],
  ],
  settings: ['AgentAccess', 'Secret', 'WorkspaceSettings'],
  tokens: ['Token', 'ConnectedApp'],
  members: ['Member', 'Invitation', 'Session', 'Passkey', 'MemberIdentity', 'SavedView'],
  billing: ['Plan', 'Domain', 'PhoneNumber', 'PhoneNumberOffer'],
  audit: ['AuditConnection', 'AuditEntry', 'Trace'],
}

/** Types that every token may read: who it is, and where to go on from. */
const FREE: readonly string[] = [
  ...['Service', 'Viewer', 'ViewerMay', 'Workspace', 'Agent', 'Address', 'Listening', 'Template', 'PageInfo'],
]

/** Parts of what needs a scope, with which they come. */
const PARTS: readonly string[] = [
  ...[
    'Access',
    'Answer',
    'Attachment',
    'AuditActor',
    'AuditEdge',
    'Author',
    'Check',
    'Code',
    'CompanySignIn',
    'DraftFile',
    'DraftEdge',
  ],
  ...['DeliveryAnswer', 'DeliveryAttempt', 'DeliveryEdge', 'DeliveryRequest', 'HttpHeader', 'DomainRecord'],
  ...[
    'EndedQuestion',
    'EventEdge',
    'EventSender',
    'Highlight',
    'HighlightPart',
    'Hold',
    'MessageEdge',
    'MessageMarks',
    'Participant',
    'PlanLimits',
  ],
  ...[
    'PlanUsage',
    'Price',
    'QuestionEdge',
    'RefusalCount',
    'RevealedSecret',
    'SuppressionEdge',
    'TakenCode',
    'ThreadEdge',
  ],
  ...['ThreadHeaders', 'ThreadMember', 'ThreadWriter', 'TraceMoment', 'TranscriptEntry', 'WorkspaceChange'],
]

/** Fields that need something else than the type of what they return. */
const OWN: Readonly<Record<string, Needed>> = {
  'Message.attachment': 'messages:read',
  'Message.html': 'messages:read',
  'Message.hiddenText': 'messages:read',
  'Message.rawUrl': 'messages:read',
  'Attachment.url': 'messages:read',
  'Workspace.trace': ['audit', 'messages:read'],
  'Subscription.messageChanged': ['events', 'messages:read'],
  // An entry of a page that needed the scope, or what a change returned.
  ...Object.fromEntries(
    ['Audit', 'Delivery', 'Draft', 'Event', 'Message', 'Question', 'Suppression', 'Thread'].map((name) => [
      `${name}Edge.node`,
      'any' as const,
    ]),
  ),
}

const NEEDED = new Map<string, Needed>([
  ...Object.entries(READ).flatMap(([scope, types]) => types!.map((type) => [type, scope as Needed] as const)),
  ...[...FREE, ...PARTS].map((type) => [type, 'any'] as const),
])

type Field = GraphQLField<unknown, GraphqlContext>

/** What a token needs for a field. Throws for one of which nobody has said it: then there is no schema. */
export const scopeOfField = ({ name: type }: GraphQLObjectType, field: Field): Needed => {
  const place = `${type}.${field.name}`
  if (type === 'Mutation') {
    const scope = field.extensions.scope as Needed | undefined
    if (scope === undefined) throw new Error(`${place} has no scope`)
    return scope
  }
  if (OWN[place] !== undefined) return OWN[place]
  // What a mutation returns was allowed with it.
  if (type.endsWith('Payload')) return 'any'
  const returned = getNamedType(field.type)
  const isRoot = type === 'Query' || type === 'Subscription'
  if (!isObjectType(returned) && !isRoot) return 'any'
  const needed = NEEDED.get(returned.name)
  const isAlone = (isRoot || FREE.includes(type)) && PARTS.includes(returned.name)
  if (needed === undefined || isAlone)
    throw new Error(`${place} returns ${returned.name}, which has no scope`)
  return needed
}

const requireScope = (field: Field, needed: Needed): void => {
  const { resolve = defaultFieldResolver, subscribe } = field
  if (subscribe)
    field.subscribe = (root, args, context, info) => {
      ensureScope(context.viewer, needed)
      return subscribe(root, args, context, info)
    }
  field.resolve = (root, args, context, info) => {
    ensureScope(context.viewer, needed)
    return resolve(root, args, context, info)
  }
}

/** Makes every field check the scopes of the token, before anything is read for it. */
export const requireScopes = (schema: GraphQLSchema): void => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const needed = scopeOfField(type, field)
      if (needed !== 'any') requireScope(field, needed)
    }
  }
}
