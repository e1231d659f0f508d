import { type ReactNode, useId, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import { XIcon } from '../icons.tsx'
import { text } from '../strings.ts'
import { useModal } from './modal.ts'

interface DialogProps {
  title: string
  onClose(): void
  children: ReactNode
  /** Buttons below the content. */
  actions?: ReactNode
  /** Wider than a form needs. */
  wide?: boolean
}

/** A modal dialog, whose first field has the focus. */
export const Dialog = ({ title, onClose, children, actions, wide = false }: DialogProps) => {
  const titleId = useId()
  const modal = useModal(onClose)
  return (
    <dialog {...modal} className={wide ? 'dialog wide' : 'dialog'} aria-labelledby={titleId}>
      <div className="dialog-frame">
        <header>
          <h2 id={titleId}>{title}</h2>
          <IconButton icon={XIcon} label={text.close} onClick={onClose} />
        </header>
        <div className="dialog-content">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  children: ReactNode
  /** What the button does, as a verb: Delete, Revoke. */
  label: string
  /** Resolves to false or null if it failed; the dialog then stays. */
  onConfirm(): Promise<object | boolean | null>
  onClose(): void
}

/** Asks before something that cannot be undone: pressing Enter alone changes nothing. */
export const Confirm = ({ title, children, label, onConfirm, onClose }: ConfirmProps) => {
  const [busy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    if (await onConfirm()) onClose()
    else setBusy(false)
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose} data-focus="">
            {text.cancel}
          </Button>
          <Button kind="danger" busy={busy} onClick={() => void confirm()}>
            {label}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  )
}
