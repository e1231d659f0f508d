import { type MouseEvent, type PointerEvent, type SyntheticEvent, useLayoutEffect, useRef } from 'react'

const FIELDS = ['input:not([type=hidden])', 'select', 'textarea'].map((one) => `${one}:not(:disabled)`).join()
const OTHERS = '.dialog-content :is(a[href], button:not(:disabled)), footer button:not(:disabled)'

/**
 * Where the keyboard goes on in an open dialog: to what says so, else to the first field, else to the first button
 * of the content. The browser would take the first button, which closes it.
 */
const startOf = (dialog: HTMLElement): HTMLElement | null =>
  dialog.querySelector<HTMLElement>('[data-focus]') ??
  dialog.querySelector<HTMLElement>(FIELDS) ??
  dialog.querySelector<HTMLElement>(OTHERS)

/**
 * The properties of a modal dialog: the page behind it is inert, Escape and a click beside it close it, and the
 * focus returns to where it was.
 */
export const useModal = (onClose: () => void) => {
  const ref = useRef<HTMLDialogElement>(null)
  /** A press that begins inside and ends beside it, as when text is selected, does not close it. */
  const pressedBeside = useRef(false)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    if (dialog) startOf(dialog)?.focus()
    // The browser returns the focus when a dialog is closed, not when it is removed.
    return () => dialog?.close()
  }, [])
  return {
    ref,
    onCancel: (event: SyntheticEvent) => {
      event.preventDefault()
      onClose()
    },
    onPointerDown: ({ target }: PointerEvent) => {
      pressedBeside.current = target === ref.current
    },
    onClick: ({ target }: MouseEvent) => {
      if (target === ref.current && pressedBeside.current) onClose()
    },
  }
}
