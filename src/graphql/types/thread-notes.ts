import { noteText } from '../../core/rules.ts'
import {
  addNote,
  deleteNote,
  MAX_NOTES,
  readNotes,
  type ThreadNote as ThreadNoteShape,
} from '../../message/thread/notes.ts'
import type { ThreadKey } from '../../message/thread/state.ts'
import { readWriters, type ThreadWriter as ThreadWriterShape } from '../../message/thread/writers.ts'
import { builder, forMembers } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import type { GraphqlContext } from '../execution/context.ts'
import { counted } from '../execution/limits.ts'
import { checked } from '../input.ts'
import { Author } from './author.ts'
import { Thread, ThreadMember } from './thread.ts'

const ThreadNote = builder.objectRef<ThreadNoteShape>('ThreadNote').implement({
  description:
    'What a member noted on a thread for other members. It is never sent, and agents never see it.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    text: t.string({
      description: 'The text.',
      resolve: ({ text }, _args, context) => counted(context, text),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    author: t.expose('author', { type: ThreadMember, description: 'Who added it, with their name then.' }),
  }),
})

const ThreadWriter = builder.objectRef<ThreadWriterShape>('ThreadWriter').implement({
  description: 'Somebody who is writing a reply in a thread.',
  fields: (t) => ({
    draftId: t.expose('draftId', { type: 'UUID', description: 'The draft.' }),
    by: t.expose('by', { type: Author, description: 'Who saved the draft last.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last saved.' }),
  }),
})

/** Reads something of a thread together with that of the other threads of the query. */
const ofThread = <Value>(
  context: GraphqlContext,
  name: string,
  { agentId, id }: { agentId: string; id: string },
  read: (db: GraphqlContext['deps'], keys: readonly ThreadKey[]) => Promise<Value[]>,
): Promise<Value> =>
  batched(context, name, `${agentId} ${id}`, (keys: readonly string[]) =>
    read(
      context.deps,
      keys.map((key) => {
        const [owner, thread] = key.split(' ')
        return { agentId: owner!, threadId: thread! }
      }),
    ),
  )

builder.objectFields(Thread, (t) => ({
  notes: t.field({
    type: [ThreadNote],
    ...forMembers,
    description: `What members noted on it, oldest first; at most ${MAX_NOTES}. Members only.`,
    // A hundred notes of 10,000 characters: of 25 threads in one operation.
    complexity: 1_000,
    resolve: (thread, _args, context) => ofThread(context, 'notes', thread, readNotes),
  }),
  writers: t.field({
    type: [ThreadWriter],
    description: 'Who has an unsent draft of a reply to one of its messages, newest first; at most 20.',
    resolve: (thread, _args, context) => ofThread(context, 'writers', thread, readWriters),
  }),
}))

const AddThreadNoteInput = builder.inputType('AddThreadNoteInput', {
  description: 'A note on a thread.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that the thread belongs to.' }),
    threadId: t.field({ type: 'UUID', required: true, description: 'The id of the thread.' }),
    text: t.string({ required: true, description: '1 to 10000 characters.' }),
  }),
})

const DeleteThreadNoteInput = builder.inputType('DeleteThreadNoteInput', {
  description: 'A note to delete.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that the thread belongs to.' }),
    threadId: t.field({ type: 'UUID', required: true, description: 'The id of the thread.' }),
    noteId: t.field({ type: 'UUID', required: true, description: 'The id of the note.' }),
  }),
})

const AddThreadNotePayload = builder.objectRef<{ note: ThreadNoteShape }>('AddThreadNotePayload').implement({
  description: 'Result of `addThreadNote`.',
  fields: (t) => ({
    note: t.field({ type: ThreadNote, description: 'The note.', resolve: ({ note }) => note }),
  }),
})

const DeleteThreadNotePayload = builder.objectRef<{ noteId: string }>('DeleteThreadNotePayload').implement({
  description: 'Result of `deleteThreadNote`.',
  fields: (t) => ({
    noteId: t.expose('noteId', { type: 'UUID', description: 'The id of the deleted note.' }),
  }),
})

builder.mutationFields((t) => ({
  addThreadNote: t.field({
    type: AddThreadNotePayload,
    nullable: true,
    ...forMembers,
    idempotency: 'once',
    description: 'Notes something on a thread for other members. Members only.',
    args: { input: t.arg({ type: AddThreadNoteInput, required: true, description: 'The note.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => ({
      note: await addNote(deps, viewer, { ...input, ...checked({ text: noteText }, input) }),
    }),
  }),
  deleteThreadNote: t.field({
    type: DeleteThreadNotePayload,
    nullable: true,
    ...forMembers,
    idempotency: 'ignored',
    description: 'Deletes a note. Members only.',
    args: { input: t.arg({ type: DeleteThreadNoteInput, required: true, description: 'The note.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      await deleteNote(deps, viewer, input)
      return { noteId: input.noteId }
    },
  }),
}))
