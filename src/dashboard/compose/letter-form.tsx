import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { Button, IconButton } from '../parts/button.tsx'
import { Field, TextField } from '../parts/form/field.tsx'
import { ClockIcon, FileTextIcon, PaperclipIcon, SendIcon, Trash2Icon, XIcon } from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { say } from '../parts/toast.ts'
import { useKeys } from '../screen/keys.ts'
import './compose.css'
import type { AttachedFile } from './files.ts'
import { LetterNotes, Saving } from './letter-notes.tsx'
import type { Sent } from './service.ts'
import { text } from './strings.ts'
import type { Agent } from './use-agent.ts'
import type { useLetter } from './use-letter.ts'

type Writing = ReturnType<typeof useLetter>

/** Escape leaves the field, so that the keys of the screen work again. */
const leaveOnEscape = (event: KeyboardEvent): void => {
  if (event.key !== 'Escape' || !(event.target instanceof HTMLElement) || event.defaultPrevented) return
  event.preventDefault()
  event.target.blur()
}

/** Puts something where the cursor is, or in place of what is selected, and the cursor behind it. Returns the text. */
const insert = (field: HTMLTextAreaElement, added: string): string => {
  field.focus()
  field.setRangeText(added, field.selectionStart, field.selectionEnd, 'end')
  return field.value
}

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
  /** Buttons between the files and the time. */
  children: ReactNode
  onSend(): void
  onSaved: (() => void) | undefined
}

const Actions = ({ writing, children, onSend, onSaved }: ActionsProps) => {
  const { letter, change, sending, saving, objection } = writing
  const isLater = letter.sendAt !== ''
  const [choosing, setChoosing] = useState(false)
  const isChoosing = choosing || isLater
  const putAway = async () => {
    if (!(await writing.writing.putAway())) return
    say({ kind: 'done', text: text.saved })
    onSaved?.()
  }
  const discard = async () => {
    const undo = await writing.writing.discard()
    say({ kind: 'done', text: text.letterDiscarded, action: { label: text.undo, run: undo } })
  }
  return (
    <div className="row">
      <Button kind="primary" icon={isLater ? ClockIcon : SendIcon} busy={sending} onClick={onSend}>
        {objection ? text.sendAnyway : isLater ? text.schedule : text.send}
      </Button>
      {onSaved && <Button onClick={() => void putAway()}>{text.save}</Button>}
      {children}
      {letter.channel === 'email' && <AttachButton onFiles={(files) => void writing.attach(files)} />}
      <IconButton
        icon={ClockIcon}
        label={isChoosing ? text.notLater : text.later}
        aria-expanded={isChoosing}
        onClick={() => {
          setChoosing(!isChoosing)
          if (isLater) change({ sendAt: '' })
        }}
      />
      {isChoosing && (
        <input
          type="datetime-local"
          className="when"
          aria-label={text.sendAt}
          value={letter.sendAt}
          onChange={({ target }) => change({ sendAt: target.value })}
          required
        />
      )}
      {saving !== 'none' && (
        <IconButton icon={Trash2Icon} label={text.discard} onClick={() => void discard()} />
      )}
      <Saving writing={writing} />
    </div>
  )
}

/** The agent's own texts, put where the cursor is. */
const Templates = ({
  templates,
  onChoose,
}: {
  templates: Agent['templates']
  onChoose(chosen: string): void
}) => (
  <Menu label={text.templates} icon={FileTextIcon}>
    {templates.map((template) => (
      <Button key={template.name} kind="ghost" onClick={() => onChoose(template.text)}>
        {template.name}
      </Button>
    ))}
  </Menu>
)

/** Who gets a copy, and who one that the others do not know of. */
const Copies = ({ writing: { letter, change, problems } }: { writing: Writing }) =>
  (['cc', 'bcc'] as const).map((kind) => (
    <Field
      key={kind}
      label={text[kind]}
      error={problems[kind]}
      value={letter[kind]}
      onChange={({ target }) => change({ [kind]: target.value })}
    />
  ))

interface LetterFormProps {
  writing: Writing
  agent: Agent
  /** Names the field of the text. */
  label: string
  hint?: ReactNode
  textRef?: RefObject<HTMLTextAreaElement | null>
  /** The fields above the text, of a message that is no answer. */
  children?: ReactNode
  onSent(sent: Sent): void
  /** The letter was left to its draft; undefined where there is no button for that. */
  onSaved?: () => void
}

/** Where a message is written: its text, files, when it is sent, and what to do with it. */
export const LetterForm = ({
  writing,
  agent,
  label,
  hint,
  textRef,
  children,
  onSent,
  onSaved,
}: LetterFormProps) => {
  const { letter, change, problems, sending, saving } = writing
  const own = useRef<HTMLTextAreaElement>(null)
  const field = textRef ?? own
  const form = useRef<HTMLFormElement>(null)
  const [isCopied, setCopied] = useState(false)
  const showCopies = isCopied || letter.cc !== '' || letter.bcc !== ''
  useEffect(() => {
    if (Object.keys(problems).length === 0) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])
  const send = async () => {
    // A day without a time of day is no time: the letter would go at once.
    if (form.current?.querySelector<HTMLInputElement>('.when')?.reportValidity() === false) return
    const sent = await writing.send()
    if (!sent) return
    saySent(sent)
    onSent(sent)
  }
  useKeys([{ keys: 'mod+enter', label: text.keys.send, group: 'thread', run: () => void send() }])
  return (
    <form
      ref={form}
      className="letter"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        leaveOnEscape(event)
        // Heard here, so that the same keys in another field, such as that of a note, do not send the letter.
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
        event.preventDefault()
        void send()
      }}
    >
      {children}
      {showCopies && <Copies writing={writing} />}
      <TextField
        ref={field}
        label={label}
        hint={hint}
        error={problems.text}
        value={letter.text}
        onChange={({ target }) => change({ text: target.value })}
        onPaste={({ clipboardData }) => {
          if (clipboardData.files.length > 0) void writing.attach([...clipboardData.files])
        }}
        onFocus={({ target }) => {
          // One writes above the signature.
          if (saving === 'none') target.setSelectionRange(0, 0)
        }}
        readOnly={sending}
        maxLength={32_000}
      />
      {letter.files.length > 0 && <Files files={letter.files} onChange={(files) => change({ files })} />}
      <LetterNotes writing={writing} />
      <Actions writing={writing} onSend={() => void send()} onSaved={onSaved}>
        {letter.channel === 'email' && !showCopies && (
          <Button kind="ghost" onClick={() => setCopied(true)}>
            {text.addCopies}
          </Button>
        )}
        {agent.templates.length > 0 && (
          <Templates
            templates={agent.templates}
            onChoose={(chosen) => field.current && change({ text: insert(field.current, chosen) })}
          />
        )}
      </Actions>
    </form>
  )
}
