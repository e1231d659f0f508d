import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { Link } from 'wouter'
import { type Icon, LoaderCircleIcon } from './icons.tsx'

type Kind = 'danger' | 'ghost' | 'plain' | 'primary'

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type'> {
  kind?: Kind
  icon?: Icon
  /** What it started is still running; it can't be pressed again. */
  busy?: boolean
  submit?: boolean
  ref?: Ref<HTMLButtonElement>
}

export const Button = ({
  kind = 'plain',
  icon: Shape,
  busy = false,
  submit = false,
  children,
  onClick,
  ...rest
}: ButtonProps) => (
  <button
    type={submit ? 'submit' : 'button'}
    className={`button ${kind}`}
    aria-busy={busy || undefined}
    onClick={busy ? (event) => event.preventDefault() : onClick}
    {...rest}
  >
    {busy ? <LoaderCircleIcon className="turning" /> : Shape && <Shape />}
    {children}
  </button>
)

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  icon: Icon
  label: string
  /** The key that does the same, as shown in the tooltip. */
  hint?: string
}

/** A button without words, whose label is its tooltip. */
export const IconButton = ({
  icon: Shape,
  label,
  hint,
  kind = 'ghost',
  busy,
  submit,
  ...rest
}: IconButtonProps) => (
  <button
    type={submit ? 'submit' : 'button'}
    className={`button square ${kind}`}
    aria-label={label}
    title={hint ? `${label} (${hint})` : label}
    {...rest}
  >
    {busy ? <LoaderCircleIcon className="turning" /> : <Shape />}
  </button>
)

/** A link that looks like a button. */
export const LinkButton = ({
  href,
  kind = 'plain',
  icon: Shape,
  children,
}: {
  href: string
  kind?: Kind
  icon?: Icon
  children: ReactNode
}) => (
  <Link href={href} className={`button ${kind}`}>
    {Shape && <Shape />}
    {children}
  </Link>
)
