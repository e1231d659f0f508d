import { useId, useState } from 'react'
import { Choices } from './choices.tsx'
import { CopyButton } from './copy.tsx'

export interface Variant {
  /** The language or the tool: curl, ams, MCP. */
  name: string
  code: string
}

/** Code to copy, filled in, in one or several variants. */
export const Snippet = ({ label, variants }: { label: string; variants: readonly Variant[] }) => {
  const [chosen, setChosen] = useState('')
  const id = useId()
  const variant = variants.find(({ name }) => name === chosen) ?? variants[0]
  if (!variant) return null
  return (
    <figure className="snippet" aria-labelledby={id}>
      <figcaption>
        <span id={id}>{label}</span>
        {variants.length > 1 && (
          <Choices
            label={label}
            options={Object.fromEntries(variants.map(({ name }) => [name, name]))}
            chosen={variant.name}
            onChoose={setChosen}
          />
        )}
        <CopyButton value={variant.code} what={variant.name} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <pre tabIndex={0}>
        <code>{variant.code}</code>
      </pre>
    </figure>
  )
}
