import { noteText, uuid } from '../../core/rules.ts'
import { addNote, deleteNote, listNotes, MAX_NOTES } from '../../message/index.ts'
import { ID, OTHER, TIME } from '../example.ts'
import { created, list, nothing, operation } from '../operation.ts'
import { id, part, resource, says, text, time } from '../resource.ts'
import { ONE, ThreadMember } from './thread.ts'

export const ThreadNote = resource(
  'ThreadNote',
  'What a member noted on a thread for other members. It is never sent, and agents never see it.',
  {
    fields: {
      id: id('Unique identifier.'),
      text: text('The text.'),
      createdAt: time('When it was added.'),
      author: part(ThreadMember, 'Who added it, with their name then.'),
    },
    example: { id: ID, text: 'Ann called, too.', createdAt: TIME, author: { id: OTHER, name: 'Bo' } },
  },
)

const tag = 'Threads'
const FOR_MEMBERS = 'Notes are for members only: agents never see them, and they are never sent.'

export const addThreadNote = operation({
  name: 'addThreadNote',
  says: `Adds a note to a thread, for other members (members only). ${FOR_MEMBERS}`,
  rest: 'POST /agents/{agentId}/threads/{threadId}/notes',
  tag,
  scope: 'messages:write',
  input: { ...ONE, text: says(noteText, 'The text.') },
  example: { text: 'Ann called, too.' },
  fails: ['agent', 'conflict'],
  output: created(ThreadNote, 'The note.'),
  run: (deps, viewer, note) => addNote(deps, viewer, note),
})

export const listThreadNotes = operation({
  name: 'listThreadNotes',
  says: `Lists the notes on a thread (members only). ${FOR_MEMBERS}`,
  rest: 'GET /agents/{agentId}/threads/{threadId}/notes',
  tag,
  scope: 'messages:read',
  input: ONE,
  fails: ['agent'],
  output: list(ThreadNote, 'Oldest first.', MAX_NOTES),
  run: (deps, viewer, key) => listNotes(deps, viewer, key),
})

export const deleteThreadNote = operation({
  name: 'deleteThreadNote',
  says: `Deletes a note (members only). ${FOR_MEMBERS}`,
  rest: 'DELETE /agents/{agentId}/threads/{threadId}/notes/{noteId}',
  tag,
  scope: 'messages:write',
  input: { ...ONE, noteId: says(uuid, 'The id of the note.') },
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, note) => deleteNote(deps, viewer, note),
})
