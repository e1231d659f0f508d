import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { CheckIcon, CopyIcon } from './icons.tsx'
import { text } from './strings.ts'

const SHOWN_MS = 1_500

const useCopy = (value: string) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => void navigator.clipboard.writeText(value).then(() => setCopied(true))
  return { copied, copy }
}

const Said = ({ copied }: { copied: boolean }) => (
  <span role="status" className="unseen">
    {copied ? text.copied : ''}
  </span>
)

/** Copies a value. `what` names it: the address, the command. */
export const CopyButton = ({ value, what, label }: { value: string; what: string; label?: string }) => {
  const { copied, copy } = useCopy(value)
  const shape = copied ? CheckIcon : CopyIcon
  return (
    <>
      {label ? (
        <Button icon={shape} onClick={copy}>
          {label}
        </Button>
      ) : (
        <IconButton icon={shape} label={text.copyOf(what)} onClick={copy} />
      )}
      <Said copied={copied} />
    </>
  )
}

/** A value to copy: an address, an id, a DNS record. */
export const Copyable = ({ value, what }: { value: string; what: string }) => (
  <span className="copyable">
    <code>{value}</code>
    <CopyButton value={value} what={what} />
  </span>
)
