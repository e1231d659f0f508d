import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Copyable } from '../copy.tsx'
import { text } from '../strings.ts'
import { Dialog } from './dialog.tsx'

interface ShowOnceProps {
  title: string
  hint: string
  value: string
  /** What the value is: the token, the link. */
  what: string
  onClose(): void
  /** How it is used. */
  children?: ReactNode
}

/** Shows a token, secret or link that the service will not show again. */
export const ShowOnce = ({ title, hint, value, what, onClose, children }: ShowOnceProps) => (
  <Dialog
    wide
    title={title}
    onClose={onClose}
    actions={
      <Button kind="primary" onClick={onClose}>
        {text.done}
      </Button>
    }
  >
    <p>{hint}</p>
    <p>
      <Copyable value={value} what={what} />
    </p>
    {children}
  </Dialog>
)
