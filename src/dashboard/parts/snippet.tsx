import { useId, useState } from 'react'
import { CopyButton } from './copy.tsx'

export interface Variant {
  /** The language or the tool: curl, ams, MCP. */
  name: string
  code: string
}

/** Code to copy, filled in, in one or several variants. */
export const Snippet = ({ label, variants }: { label: string; variants: readonly Variant[] }) => {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const variant = variants[Math.min(chosen, variants.length - 1)]
  if (!variant) return null
  return (
    <figure className="snippet" aria-labelledby={id}>
      <figcaption>
        <span id={id}>{label}</span>
        {variants.length > 1 && (
          <fieldset className="choices">
            <legend className="unseen">{label}</legend>
            {variants.map(({ name }, index) => (
              <label key={name}>
                <input
                  type="radio"
                  name={id}
                  className="unseen"
                  checked={index === chosen}
                  onChange={() => setChosen(index)}
                />
                {name}
              </label>
            ))}
          </fieldset>
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
