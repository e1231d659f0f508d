import { choice } from '../../../api/resource.ts'
import {
  MOMENTS,
  MOST_FOR_MEMBERS,
  type Moment as MomentShape,
  SUBJECTS,
  type Trace as TraceShape,
  traceFor,
} from '../../../trace/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { enumOf } from '../../builder/rendered.ts'
import { countRows } from '../../context/limits.ts'
import { Workspace } from './workspace.ts'

const MomentKind = enumOf(choice('TraceMomentKind', 'What happened at a moment, or is so now.', MOMENTS))

const Moment = builder.objectRef<MomentShape>('TraceMoment').implement({
  description: 'Something that happened, or is so.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When; what is so now has the present time.' }),
    kind: t.field({
      type: MomentKind,
      description: 'What it is.',
      resolve: ({ kind }) => kind as keyof typeof MOMENTS,
    }),
    subject: t.string({
      nullable: true,
      description: 'What it is about: see the kind.',
      resolve: ({ subject }) => subject ?? null,
    }),
    detail: t.string({
      nullable: true,
      description: 'What was said or found: see the kind.',
      resolve: ({ detail }) => detail ?? null,
    }),
  }),
})

const SubjectKind = enumOf(choice('TraceSubject', 'What a trace is about.', SUBJECTS))

const Trace = builder.objectRef<TraceShape>('Trace').implement({
  description:
    'What happened to a message, at an address, at an agent (by its id), with a token or by a request.',
  fields: (t) => ({
    kind: t.field({
      type: SubjectKind,
      description: 'What it is about.',
      resolve: ({ kind }) => kind as keyof typeof SUBJECTS,
    }),
    subject: t.exposeString('subject', { description: 'Its name: see the kind.' }),
    owner: t.exposeString('owner', {
      nullable: true,
      description: 'Whose it is: see the kind. Null if it is nobody’s.',
    }),
    agentId: t.expose('agentId', {
      type: 'UUID',
      nullable: true,
      description: 'The agent; null if none is.',
    }),
    threadId: t.expose('threadId', {
      type: 'UUID',
      nullable: true,
      description: 'The thread of a message; null for all else.',
    }),
    moments: t.expose('moments', { type: [Moment], description: 'What happened, in order.' }),
  }),
})

/** A message takes about ten statements. */
const COST = 1_000

builder.prismaObjectField(Workspace, 'trace', (t) =>
  t.field({
    type: [Trace],
    ...forMembers,
    complexity: { field: COST * MOST_FOR_MEMBERS, multiplier: MOST_FOR_MEMBERS },
    description: `What happened to a message (by its \`Message-ID\` or id), at an address, with a token of an agent or of one's own (by its id), or by a request (by its \`X-Request-Id\`): at most ${MOST_FOR_MEMBERS} messages, newest first. Messages with an address that is no agent's are found for two days. Empty when nothing is stored of it. Members only.`,
    args: { what: t.arg.string({ required: true, description: 'A `Message-ID`, an address or an id.' }) },
    resolve: (_workspace, { what }, context) => {
      countRows(context, 1_000)
      return traceFor(context.deps, context.viewer, what, context.deps.clock.now())
    },
  }),
)
