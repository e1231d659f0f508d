import { addThreadNote, deleteThreadNote, ThreadNote as NOTE } from '../../../api/message/thread-note.ts'
import { columnsOf, sentenceOf } from '../../../api/resource.ts'
import {
  MAX_NOTES,
  readNotes,
  readWriters,
  type ThreadKey,
  type ThreadNote as ThreadNoteShape,
  type ThreadWriter as ThreadWriterShape,
} from '../../../message/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { exposed, mutation, removal } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { counted } from '../../context/limits.ts'
import { Author } from './author.ts'
import { Thread } from './thread.ts'

const ThreadNote = builder.objectRef<ThreadNoteShape>('ThreadNote').implement({
  description: NOTE.sentence,
  fields: (t) => ({
    ...exposed(t, columnsOf(NOTE, 'text')),
    text: t.string({
      description: sentenceOf(NOTE.fields.text),
      resolve: ({ text }, _args, context) => counted(context, text),
    }),
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

mutation(
  addThreadNote,
  'A note on a thread.',
  (t) => ({
    note: t.field({ type: ThreadNote, description: 'The note.', resolve: ({ result }) => result }),
  }),
  forMembers,
)

removal(deleteThreadNote, 'A note to delete.', { noteId: 'The id of the deleted note.' }, forMembers)
