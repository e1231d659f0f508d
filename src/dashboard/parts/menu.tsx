import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { EllipsisIcon, type Icon } from './icons.tsx'
import { useListing } from './listing.ts'

interface MenuProps {
  /** What the button is called; shown unless `icon` stands for it. */
  label: string
  icon?: Icon
  /** What the button shows instead of the label. */
  face?: ReactNode
  /** Where it opens. */
  side?: 'above' | 'below'
  children: ReactNode
}

/** A button that opens a list of buttons and links. A choice, Escape, or going elsewhere closes it. */
export const Menu = ({ label, icon, face, side = 'below', children }: MenuProps) => {
  const [open, setOpen] = useState(false)
  const listing = useListing()
  const frame = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => {
    if (!open) return
    const leave = (event: Event) => {
      if (!frame.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
    }
  }, [open])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const control = {
    ref: button,
    'aria-expanded': open,
    'aria-controls': id,
    onClick: () => setOpen(!open),
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what is inside
    <div
      className="menu"
      ref={frame}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return
        event.stopPropagation()
        close()
      }}
    >
      {face ? (
        <Button kind="ghost" {...control}>
          <span className="unseen">{label}</span>
          {face}
        </Button>
      ) : (
        <IconButton icon={icon ?? EllipsisIcon} label={label} {...control} />
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the choices inside are buttons and links */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a choice inside closes it */}
      <div className={`menu-list ${side}`} id={id} hidden={!open} onClick={() => setOpen(false)}>
        {(open || listing) && children}
      </div>
    </div>
  )
}
