import {
  createDraft,
  Draft as DRAFT,
  deleteDraft,
  readDraft,
  sendDraft,
  unchangedSince,
  updateDraft,
} from '../../../api/message/draft.ts'
import { MessageFile } from '../../../api/message/message.ts'
import { says } from '../../../api/resource.ts'
import { uuid } from '../../../core/rules.ts'
import {
  type AttachmentView,
  draftCursor,
  draftOf,
  readDrafts,
  sendDraft as send,
} from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { pageArgs, pageCost, readPage } from '../../builder/page.ts'
import { described, exposed, fieldOf, mutation, removal } from '../../builder/rendered.ts'
import { counted } from '../../context/limits.ts'
import { Agent } from '../agent/agent.ts'
import { messageMutation } from './message.ts'

const DraftFile = builder.objectRef<AttachmentView>('DraftFile').implement({
  description: 'A file attached to a draft, without its content.',
  fields: (t) => {
    const { size, ...fields } = MessageFile.fields
    return { ...exposed(t, fields), size: t.expose('size', { ...described(size), type: 'SafeInt' }) }
  },
})

const { text, html, attachments, ...fields } = DRAFT.fields

const Draft = builder.objectRef<ReturnType<typeof draftOf>>('Draft').implement({
  description: DRAFT.sentence,
  fields: (t) => ({
    ...exposed(t, fields),
    text: t.field({ ...fieldOf(text), resolve: (draft, _args, context) => counted(context, draft.text) }),
    html: t.field({ ...fieldOf(html), resolve: (draft, _args, context) => counted(context, draft.html) }),
    attachments: t.expose('attachments', { ...described(attachments), type: [DraftFile] }),
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
      readPage(context, info, {
        ...{ key: id, ...args },
        read: (agentIds, request) => readDrafts(context.deps, agentIds, request),
        edge: (draft) => ({ cursor: draftCursor(draft), node: draftOf(draft) }),
      }),
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
    resolve: (_root, { agentId, id: draftId }, { deps, viewer }) =>
      readDraft.run(deps, viewer, { agentId, draftId }),
  }),
)

mutation(
  {
    name: 'saveDraft',
    says: 'Creates a draft, or changes one.',
    scope: updateDraft.scope,
    key: 'once',
    input: {
      ...updateDraft.input,
      draftId: says(uuid, 'The draft to change; left out, a new one is created.').optional(),
    },
    run: (deps, viewer, { draftId, unchangedSince, ...content }) =>
      draftId
        ? updateDraft.run(deps, viewer, { ...content, draftId, unchangedSince })
        : createDraft.run(deps, viewer, content),
  },
  'A draft to save: a new one, or with `draftId` changes of an existing one. Fields left out are unchanged, and null empties a field.',
  (t) => ({ draft: t.field({ type: Draft, description: 'The draft.', resolve: ({ result }) => result }) }),
)

removal(deleteDraft, 'A draft to delete.', { draftId: 'The id of the deleted draft.' })

messageMutation(
  {
    ...sendDraft,
    input: { ...sendDraft.input, unchangedSince },
    run: (deps, viewer, input) => send(deps, viewer, input),
  },
  'A draft to send.',
)
