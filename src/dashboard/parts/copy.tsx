import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { CheckIcon, CopyIcon } from './icons.tsx'
import { text } from './strings.ts'
import { say } from './toast.ts'

const SHOWN_MS = 1_500

/** Copies a value. A browser may refuse it, and has no clipboard at all for a page that comes without TLS. */
export const copyText = async (value: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(value)
    return true
  } catch {
    say({ kind: 'failure', text: text.notCopied })
    return false
  }
}

const useCopy = (value: string) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => void copyText(value).then(setCopied)
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
