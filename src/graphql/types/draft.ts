import { sentenceOf } from '../../api/resource.ts'
import { SENT, SentFile } from '../../api/send.ts'
import {
  createDraft,
  deleteDraft,
  draftCursor,
  presentDraft,
  readDraft,
  readDrafts,
  type SavedDraft,
  sendDraft,
  updateDraft,
} from '../../message/out/saved-draft.ts'
import type { AttachmentView } from '../../message/row.ts'
import { builder } from '../builder.ts'
import { counted } from '../execution/limits.ts'
import { checked } from '../input.ts'
import { pageArgs, pageCost, readPage } from '../page.ts'
import { groupInputOf } from '../rendered.ts'
import { Agent } from './agent.ts'
import { Author } from './author.ts'
import { AddressChannel } from './enums.ts'
import { Message } from './message.ts'

const AttachmentInput = groupInputOf(SentFile)

const DraftFile = builder.objectRef<AttachmentView>('DraftFile').implement({
  description: 'A file attached to a draft, without its content.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.exposeString('type', { description: 'Its media type.' }),
    size: t.expose('size', { type: 'SafeInt', description: 'Its size in bytes.' }),
  }),
})

type PresentedDraft = ReturnType<typeof presentDraft>

const Draft = builder.objectRef<PresentedDraft>('Draft').implement({
  description: 'A message that is being written, shared by the members and the agent.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    text: t.string({
      nullable: true,
      description: 'Its text so far.',
      resolve: ({ text }, _args, context) => counted(context, text),
    }),
    html: t.string({
      nullable: true,
      description: 'Its HTML, which is sanitized when it is sent.',
      resolve: ({ html }, _args, context) => counted(context, html),
    }),
    replyTo: t.expose('replyTo', {
      type: 'UUID',
      nullable: true,
      description: 'The message that it replies to.',
    }),
    replyAll: t.exposeBoolean('replyAll', { description: 'Whether it replies to all.' }),
    forward: t.expose('forward', {
      type: 'UUID',
      nullable: true,
      description: 'The message that it forwards.',
    }),
    channel: t.expose('channel', {
      type: AddressChannel,
      nullable: true,
      description: 'The channel of a new message.',
    }),
    to: t.exposeStringList('to', { description: 'Its recipients.' }),
    cc: t.exposeStringList('cc', { description: 'Its Cc recipients.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'Its subject.' }),
    sendAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is to be sent.',
      resolve: ({ sendAt }) => (sendAt === null ? null : new Date(sendAt)),
    }),
    attachments: t.expose('attachments', { type: [DraftFile], description: 'Its files.' }),
    savedBy: t.field({
      type: Author,
      nullable: true,
      description: 'Who saved it last; null if that was not recorded.',
      resolve: ({ savedBy }) => savedBy,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ createdAt }) => new Date(createdAt),
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When it was last changed.',
      resolve: ({ updatedAt }) => new Date(updatedAt),
    }),
  }),
})

const DraftConnection = builder.connectionObject(
  { type: Draft, name: 'DraftConnection', description: 'A page of drafts, newest first.' },
  { name: 'DraftEdge', description: 'A draft and its cursor.' },
)

builder.prismaObjectField(Agent, 'drafts', (t) =>
  t.field({
    type: DraftConnection,
    description: "The agent's drafts, newest first.",
    complexity: ({ first }) => pageCost(first),
    args: pageArgs(),
    resolve: ({ id }, args, context, info) =>
      readPage(
        context,
        info,
        { key: id, ...args },
        {
          read: (agentIds, request) => readDrafts(context.deps, agentIds, request),
          edge: (draft) => ({ cursor: draftCursor(draft), node: presentDraft(draft) }),
        },
      ),
  }),
)

builder.queryField('draft', (t) =>
  t.field({
    type: Draft,
    description: 'One draft of an agent.',
    args: {
      agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }),
      id: t.arg({ type: 'UUID', required: true, description: 'The draft.' }),
    },
    resolve: async (_root, { agentId, id: draftId }, { deps, viewer }) =>
      presentDraft(await readDraft(deps, viewer, { agentId, draftId })),
  }),
)

const UNCHANGED_SINCE =
  'The `updatedAt` of the draft as you know it: if it was changed since, the error is `conflict`.'

const SaveDraftInput = builder.inputType('SaveDraftInput', {
  description:
    'A draft to save: a new one, or with `draftId` changes of an existing one. Fields left out are unchanged, and null empties a field.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that will send it.' }),
    draftId: t.field({ type: 'UUID', description: 'The draft to change; left out, a new one is created.' }),
    unchangedSince: t.field({ type: 'DateTime', description: UNCHANGED_SINCE }),
    text: t.string({ description: 'Its text, 1 to 32000 characters.' }),
    html: t.string({ description: `${sentenceOf(SENT.html)} At most 256000 characters.` }),
    replyTo: t.field({ type: 'UUID', description: 'The id of the message to reply to.' }),
    replyAll: t.boolean({ description: 'Whether it replies to all.' }),
    forward: t.field({ type: 'UUID', description: 'The id of the message to forward.' }),
    channel: t.field({ type: AddressChannel, description: 'The channel of a new message.' }),
    to: t.stringList({ description: '1 to 10 recipients of 1 to 320 characters.' }),
    cc: t.stringList({ description: 'At most 50 Cc recipients of 1 to 320 characters.' }),
    subject: t.string({ description: 'At most 240 characters.' }),
    sendAt: t.field({ type: 'DateTime', description: 'When to send it.' }),
    attachments: t.field({
      type: [AttachmentInput],
      description: 'Attachments, 10 MiB in total; they replace all files of the draft.',
    }),
  }),
})

const DeleteDraftInput = builder.inputType('DeleteDraftInput', {
  description: 'A draft to delete.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    draftId: t.field({ type: 'UUID', required: true, description: 'The draft.' }),
  }),
})
const SendDraftInput = builder.inputType('SendDraftInput', {
  description: 'A draft to send.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    draftId: t.field({ type: 'UUID', required: true, description: 'The draft.' }),
    unchangedSince: t.field({ type: 'DateTime', description: UNCHANGED_SINCE }),
  }),
})

const SaveDraftPayload = builder.objectRef<{ draft: SavedDraft }>('SaveDraftPayload').implement({
  description: 'Result of `saveDraft`.',
  fields: (t) => ({
    draft: t.field({ type: Draft, description: 'The draft.', resolve: ({ draft }) => presentDraft(draft) }),
  }),
})

const DeleteDraftPayload = builder.objectRef<{ draftId: string }>('DeleteDraftPayload').implement({
  description: 'Result of `deleteDraft`.',
  fields: (t) => ({
    draftId: t.expose('draftId', { type: 'UUID', description: 'The id of the deleted draft.' }),
  }),
})

const SendDraftPayload = builder.objectRef<{ id: string; agentId: string }>('SendDraftPayload').implement({
  description: 'Result of `sendDraft`.',
  fields: (t) => ({
    message: t.prismaField({
      type: Message,
      description: 'The message, with status `sending`.',
      resolve: (query, { id, agentId }, _args, { deps }) =>
        deps.prisma.message.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
    }),
  }),
})

builder.mutationFields((t) => ({
  saveDraft: t.field({
    type: SaveDraftPayload,
    nullable: true,
    idempotency: 'once',
    description: 'Creates a draft, or changes one.',
    args: { input: t.arg({ type: SaveDraftInput, required: true, description: 'The draft.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentId, draftId, unchangedSince, ...fields } = input
      const { text, html, subject, to, cc, attachments } = SENT
      const { attachments: _files, ...plain } = fields
      const changes = {
        ...plain,
        attachments: fields.attachments === null ? null : undefined,
        ...checked({ text, html, subject, to, cc, attachments }, fields),
      }
      const draft = draftId
        ? await updateDraft(deps, viewer, { agentId, draftId }, { ...changes, unchangedSince })
        : await createDraft(deps, viewer, agentId, changes)
      return { draft }
    },
  }),
  deleteDraft: t.field({
    type: DeleteDraftPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Deletes a draft.',
    args: { input: t.arg({ type: DeleteDraftInput, required: true, description: 'The draft.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      await deleteDraft(deps, viewer, input)
      return { draftId: input.draftId }
    },
  }),
  sendDraft: t.field({
    type: SendDraftPayload,
    nullable: true,
    idempotency: 'once',
    description: 'Sends a draft, which thereby ends. If sending fails, the draft is unchanged.',
    args: { input: t.arg({ type: SendDraftInput, required: true, description: 'The draft.' }) },
    resolve: (_root, { input }, { deps, viewer }) => sendDraft(deps, viewer, input),
  }),
}))
