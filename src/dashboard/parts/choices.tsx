import { useId } from 'react'

type Words = Readonly<Partial<Record<string, string>>>

interface ChoicesProps<Options extends Words> {
  /** What is chosen, for readers who cannot see it. */
  label: string
  /** The words of each choice, in their order. */
  options: Options
  chosen: keyof Options
  onChoose(value: keyof Options & string): void
  /** Explains the choice, as its tooltip. */
  hint?: string
}

/** A choice among a few, all of which are seen. */
export const Choices = <Options extends Words>({
  label,
  options,
  chosen,
  onChoose,
  hint,
}: ChoicesProps<Options>) => {
  const name = useId()
  return (
    <fieldset className="choices" title={hint}>
      <legend className="unseen">{label}</legend>
      {Object.entries(options).map(([value, words]) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            className="unseen"
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          {words}
        </label>
      ))}
    </fieldset>
  )
}
