import { type ReactNode, type Ref, useRef, useState } from 'react'
import { Button, IconButton } from '../parts/button.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ClockIcon, PaperclipIcon, SendIcon, XIcon } from '../parts/icons.tsx'
import { say } from '../parts/toast.ts'
import { useKeys } from '../shell/keys.ts'
import './compose.css'
import type { AttachedFile } from './files.ts'
import { text } from './strings.ts'
import type { Sent, useLetter } from './use-letter.ts'

type Writing = ReturnType<typeof useLetter>

const Files = ({
  files,
  onChange,
}: {
  files: readonly AttachedFile[]
  onChange(files: AttachedFile[]): void
}) => (
  <ul className="attached" aria-label={text.attached}>
    {files.map((file, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
      <li key={index}>
        <PaperclipIcon size={14} />
        {file.name}
        <IconButton
          icon={XIcon}
          label={text.removeFile(file.name)}
          onClick={() => onChange(files.filter((one) => one !== file))}
        />
      </li>
    ))}
  </ul>
)

const AttachButton = ({ onFiles }: { onFiles(files: readonly File[]): void }) => {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton icon={PaperclipIcon} label={text.attach} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={text.attach}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          target.value = ''
        }}
      />
    </>
  )
}

const saySent = ({ hold }: Sent): void => {
  const held = hold?.reason === 'schedule' ? text.scheduled : text.held
  say({ kind: 'done', text: hold ? held : text.sent })
}

interface ActionsProps {
  writing: Writing
  children: ReactNode
  onSend(): void
  onSaved(): void
}

const Actions = ({ writing, children, onSend, onSaved }: ActionsProps) => {
  const { letter, change, busy } = writing
  const isLater = letter.sendAt !== ''
  const [choosing, setChoosing] = useState(isLater)
  const save = async () => {
    if (!(await writing.save())) return
    say({ kind: 'done', text: text.saved })
    onSaved()
  }
  return (
    <div className="row">
      <Button kind="primary" submit icon={isLater ? ClockIcon : SendIcon} busy={busy} onClick={onSend}>
        {isLater ? text.schedule : text.send}
      </Button>
      <Button onClick={() => void save()}>{text.save}</Button>
      {children}
      {letter.channel === 'email' && <AttachButton onFiles={(files) => void writing.attach(files)} />}
      <IconButton
        icon={ClockIcon}
        label={choosing ? text.notLater : text.later}
        aria-expanded={choosing}
        onClick={() => {
          setChoosing(!choosing)
          change({ sendAt: '' })
        }}
      />
      {choosing && (
        <input
          type="datetime-local"
          className="when"
          aria-label={text.sendAt}
          value={letter.sendAt}
          onChange={({ target }) => change({ sendAt: target.value })}
        />
      )}
    </div>
  )
}

interface LetterFormProps {
  writing: Writing
  /** Names the field of the text. */
  label: string
  hint?: ReactNode
  textRef?: Ref<HTMLTextAreaElement>
  /** The fields above the text, of a message that is no answer. */
  children?: ReactNode
  onSent(sent: Sent): void
  onSaved(): void
}

/** Where a message is written: its text, files, when it is sent, and what to do with it. */
export const LetterForm = ({ writing, label, hint, textRef, children, onSent, onSaved }: LetterFormProps) => {
  const { letter, change, problem, busy } = writing
  const [showCc, setShowCc] = useState(letter.cc !== '')
  const send = async () => {
    if (busy || letter.text.trim() === '') return
    const sent = await writing.send()
    if (!sent) return
    saySent(sent)
    onSent(sent)
  }
  useKeys([
    { keys: 'mod+enter', label: text.keys.send, group: 'thread', inFields: true, run: () => void send() },
  ])
  return (
    <form className="letter" onSubmit={(event) => event.preventDefault()}>
      {children}
      {showCc && (
        <Field label={text.cc} value={letter.cc} onChange={({ target }) => change({ cc: target.value })} />
      )}
      <TextField
        ref={textRef}
        label={label}
        hint={hint}
        error={problem}
        value={letter.text}
        onChange={({ target }) => change({ text: target.value })}
        onPaste={({ clipboardData }) => {
          if (clipboardData.files.length > 0) void writing.attach([...clipboardData.files])
        }}
        maxLength={32_000}
      />
      {letter.files.length > 0 && <Files files={letter.files} onChange={(files) => change({ files })} />}
      <Actions writing={writing} onSend={() => void send()} onSaved={onSaved}>
        {letter.channel === 'email' && !showCc && (
          <Button kind="ghost" onClick={() => setShowCc(true)}>
            {text.addCc}
          </Button>
        )}
      </Actions>
    </form>
  )
}
