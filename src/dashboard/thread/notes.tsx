import { useRef, useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { LinkedText } from '../message/linked-text.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { TextField } from '../parts/form/field.tsx'
import { Form } from '../parts/form.tsx'
import { PencilIcon, Trash2Icon } from '../parts/icons.tsx'
import { dropKept, type Kept, keep, keptOf, readKept } from '../parts/kept.ts'
import { Time } from '../parts/time.tsx'
import { useKeys } from '../screen/keys.ts'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'

export const NOTES = graphql(`
  fragment ThreadNotes on Thread { id agentId notes { id text createdAt author { id name } } }
`)
const ADD = graphql(`
  mutation AddThreadNote($input: AddThreadNoteInput!) { addThreadNote(input: $input) { note { id } } }
`)
const DELETE = graphql(`
  mutation DeleteThreadNote($input: DeleteThreadNoteInput!) { deleteThreadNote(input: $input) { noteId } }
`)

type NotedThread = ResultOf<typeof NOTES>
type Note = NotedThread['notes'][number]

const MOST_TEXT = 10_000

const tell = (agentId: string) => announce([{ topic: 'messages', agentId }])

const OneNote = ({ note, thread }: { note: Note; thread: NotedThread }) => {
  const { run } = useAction(DELETE)
  const [deleting, setDeleting] = useState(false)
  const { agentId, id: threadId } = thread
  const remove = async () => {
    const done = await run({ input: { agentId, threadId, noteId: note.id } })
    tell(agentId)
    return done !== null
  }
  return (
    <li className="note-line">
      <p className="row between hint">
        <span>
          <bdi>{note.author.name}</bdi> · <Time at={note.createdAt} detailed />
        </span>
        <IconButton icon={Trash2Icon} label={text.notes.remove} onClick={() => setDeleting(true)} />
      </p>
      <div className="message-text" dir="auto">
        <LinkedText text={note.text} agentId={agentId} />
      </div>
      {deleting && (
        <Confirm
          title={text.notes.removeTitle}
          label={text.notes.remove}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{text.notes.removeHint}</p>
        </Confirm>
      )}
    </li>
  )
}

interface KeptNote extends Kept {
  text: string
}

/** What is being noted stays on the device until it is saved: closing the page loses no word. */
export const useNote = (threadId: string) => {
  const place = keptOf(useViewer(), 'note', threadId)
  const [written, setWritten] = useState(() => readKept<KeptNote>(place)?.text ?? null)
  const write = (value: string | null): void => {
    setWritten(value)
    const kept: KeptNote = { at: Date.now(), text: value ?? '' }
    if (value) keep(place, kept)
    else dropKept(place)
  }
  return { written, write, begin: () => write(written ?? '') }
}

/** What members note on a thread for each other. It is never sent, and the agent does not see it. */
export const Notes = ({ thread, note }: { thread: NotedThread; note: ReturnType<typeof useNote> }) => {
  const { agentId, id: threadId, notes } = thread
  const { written, write, begin } = note
  const { run, busy } = useAction(ADD)
  const [isSaved, setSaved] = useState(false)
  const [takesFocus, setTakesFocus] = useState(false)
  const section = useRef<HTMLElement>(null)
  useKeys([{ keys: 'n', label: text.notes.add, group: 'thread', run: begin }])
  const save = async () => {
    if (!(await run({ input: { agentId, threadId, text: (written ?? '').trim() } }))) return
    // Whoever has gone on to something else in the meantime stays there.
    const { activeElement, body } = document
    setTakesFocus(activeElement === body || section.current?.contains(activeElement) === true)
    write(null)
    setSaved(true)
    tell(agentId)
  }
  // A first note that was saved has not been read yet: the keyboard has its place here until it is.
  if (notes.length === 0 && written === null && !isSaved) return null
  return (
    <section className="notes" aria-label={text.notes.title} ref={section}>
      <h2>{text.notes.title}</h2>
      <p className="hint">{text.notes.hint}</p>
      <ul>
        {notes.map((note) => (
          <OneNote key={note.id} note={note} thread={thread} />
        ))}
      </ul>
      {written === null ? (
        <Button icon={PencilIcon} onClick={begin} autoFocus={takesFocus}>
          {text.notes.add}
        </Button>
      ) : (
        <Form
          className="stack"
          onSubmit={save}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            event.currentTarget.requestSubmit()
          }}
        >
          <TextField
            label={text.notes.text}
            value={written}
            onChange={({ target }) => write(target.value)}
            maxLength={MOST_TEXT}
            dir="auto"
            // What was begun before does not take the keyboard.
            autoFocus={written === ''}
            required
          />
          <div className="row">
            <Button submit busy={busy}>
              {text.notes.save}
            </Button>
            <Button kind="ghost" onClick={() => write(null)}>
              {text.notes.discard}
            </Button>
          </div>
        </Form>
      )}
    </section>
  )
}
