import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { XIcon } from './icons.tsx'
import { text } from './strings.ts'

interface DialogProps {
  title: string
  onClose(): void
  children: ReactNode
  /** Buttons below the content. */
  actions?: ReactNode
  /** Wider than a form needs. */
  wide?: boolean
}

/**
 * A modal dialog: the page behind it is inert, Escape and a click beside it close it, and the focus returns to
 * where it was.
 */
export const Dialog = ({ title, onClose, children, actions, wide = false }: DialogProps) => {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the browser
    <dialog
      ref={ref}
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
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
  /** Resolves to false if it failed; the dialog then stays. */
  onConfirm(): Promise<boolean>
  onClose(): void
}

/** Asks before something that cannot be undone. */
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
          <Button onClick={onClose}>{text.cancel}</Button>
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
