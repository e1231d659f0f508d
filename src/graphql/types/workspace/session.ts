import { listSessions, type PublicSession, revokeSession, revokeSessions } from '../../../auth/index.ts'
import { AppError } from '../../../core/errors.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { Viewer } from './viewer.ts'

const Session = builder.objectRef<PublicSession>('Session').implement({
  description: 'A browser in which a member is signed in.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    memberId: t.expose('memberId', { type: 'UUID', description: 'The member.' }),
    browser: t.exposeString('browser', {
      description: 'The browser in words, such as “Firefox on Linux”.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the member signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      description: 'When it was last used, to the minute.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description:
        'When it ends if it is not used until then: 12 hours after its last use, and 30 days after signing in at the latest.',
    }),
    current: t.exposeBoolean('current', { description: 'Whether this request uses it.' }),
  }),
})

builder.objectField(Viewer, 'sessions', (t) =>
  t.field({
    type: [Session],
    ...forMembers,
    description: "The member's own sessions, the last used first. Members only.",
    resolve: (viewer, _args, { deps }) => listSessions(deps, viewer, { memberId: viewer.id }),
  }),
)

builder.queryField('sessions', (t) =>
  t.field({
    type: [Session],
    description:
      'The sessions of one member, or of everyone in the workspace, the last used first. Owners only.',
    args: { memberId: t.arg({ type: 'UUID', description: 'The member; everyone if left out.' }) },
    resolve: (_root, { memberId }, { deps, viewer }) =>
      listSessions(deps, viewer, memberId ? { memberId } : 'everyone'),
  }),
)

const RevokeSessionInput = builder.inputType('RevokeSessionInput', {
  description: 'The session to end.',
  fields: (t) => ({ sessionId: t.field({ type: 'UUID', required: true, description: 'The session.' }) }),
})

const RevokeSessionPayload = builder.objectRef<{ sessionId: string }>('RevokeSessionPayload').implement({
  description: 'Result of `revokeSession`.',
  fields: (t) => ({
    sessionId: t.expose('sessionId', { type: 'UUID', description: 'The id of the ended session.' }),
  }),
})

const RevokeSessionsInput = builder.inputType('RevokeSessionsInput', {
  description: 'The sessions to end: those of one member, or of everyone in the workspace.',
  fields: (t) => ({
    memberId: t.field({ type: 'UUID', description: 'The member.' }),
    everyone: t.boolean({ description: 'Whether to end the sessions of everyone. Owners only.' }),
  }),
})

const RevokeSessionsPayload = builder.objectRef<{ count: number }>('RevokeSessionsPayload').implement({
  description: 'Result of `revokeSessions`.',
  fields: (t) => ({ count: t.exposeInt('count', { description: 'How many sessions were ended.' }) }),
})

builder.mutationFields((t) => ({
  revokeSession: t.field({
    type: RevokeSessionPayload,
    nullable: true,
    idempotency: 'ignored',
    scope: 'members',
    description:
      'Ends a session and closes the connections open with it: one of your own, or for owners any of the workspace.',
    args: { input: t.arg({ type: RevokeSessionInput, required: true, description: 'The session.' }) },
    resolve: async (_root, { input: { sessionId } }, { deps, viewer }) => {
      await revokeSession(deps, viewer, sessionId)
      return { sessionId }
    },
  }),
  revokeSessions: t.field({
    type: RevokeSessionsPayload,
    nullable: true,
    idempotency: 'ignored',
    scope: 'members',
    description:
      'Ends all sessions of a member, the one of this request included: your own, or for owners those of others or of everyone.',
    args: { input: t.arg({ type: RevokeSessionsInput, required: true, description: 'The sessions.' }) },
    resolve: async (_root, { input: { memberId, everyone } }, { deps, viewer }) => {
      if (Boolean(memberId) === Boolean(everyone))
        throw new AppError('invalid_input', 'memberId: give either a member or everyone', {
          field: 'memberId',
        })
      const count = await revokeSessions(deps, viewer, memberId ? { memberId } : 'everyone')
      return { count }
    },
  }),
}))
