import { Button } from '../parts/button.tsx'
import { text } from './strings.ts'
import type { useLetter } from './use-letter.ts'

type Writing = ReturnType<typeof useLetter>

/** What its writer should know of a letter: what happened to it elsewhere, and what became of its files. */
export const LetterNotes = ({ writing }: { writing: Writing }) => {
  const { letter, notice, other, inDraft, lost, objection } = writing
  const names = (files: typeof lost) => files.map(({ name }) => name).join(', ')
  return (
    <>
      {(notice || other) && (
        <div className="note" role="status">
          <p>{notice ?? text.otherVersion}</p>
          {other && <Button onClick={() => writing.writing.swap()}>{text.swap}</Button>}
        </div>
      )}
      {inDraft.length > 0 && (
        <p className="hint">
          {text.inDraft(names(inDraft))}{' '}
          <Button kind="ghost" onClick={() => writing.change({ files: [] })}>
            {text.removeFiles}
          </Button>
        </p>
      )}
      {lost.length > 0 && (
        <div className="note" role="status">
          <p>{text.attachAgain(lost.map(({ name }) => name))}</p>
          <Button onClick={() => writing.change({ files: letter.files })}>{text.leaveOut}</Button>
        </div>
      )}
      {objection && (
        <div className="note" role="alert">
          <p>{objection}</p>
        </div>
      )}
    </>
  )
}

/** Whether the words are saved, in words. */
export const Saving = ({ writing: { saving, trouble } }: { writing: Writing }) => (
  <span className="hint letter-saving">
    {saving === 'yes' && text.isSaved}
    {saving === 'no' &&
      (trouble && trouble !== text.noRoom ? text.notSavedFor(trouble) : (trouble ?? text.notSaved))}
  </span>
)
