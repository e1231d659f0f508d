import { type ReactNode, useId } from 'react'
import { Button } from '../button.tsx'
import { Form } from '../form.tsx'
import { text } from '../strings.ts'
import { Dialog } from './dialog.tsx'

interface FormDialogProps {
  title: string
  /** What the button does, as a verb: Save, Invite. */
  label: string
  onSubmit(): Promise<void>
  onClose(): void
  /** The fields. */
  children: ReactNode
  busy?: boolean
  /** Whether the button can't be pressed yet. */
  disabled?: boolean
  /** Whether it destroys something. */
  danger?: boolean
  /** Wider than most forms need. */
  wide?: boolean
}

/** A dialog with a form, which is sent with a button or Enter. */
export const FormDialog = ({
  label,
  onSubmit,
  children,
  busy = false,
  disabled = false,
  danger,
  ...rest
}: FormDialogProps) => {
  const form = useId()
  return (
    <Dialog
      {...rest}
      actions={
        <>
          <Button onClick={rest.onClose}>{text.cancel}</Button>
          <Button kind={danger ? 'danger' : 'primary'} submit form={form} busy={busy} disabled={disabled}>
            {label}
          </Button>
        </>
      }
    >
      <Form id={form} className="form" onSubmit={onSubmit}>
        {children}
      </Form>
    </Dialog>
  )
}
