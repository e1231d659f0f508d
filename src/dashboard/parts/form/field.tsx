import { type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes, useId } from 'react'

interface Labelled {
  label: string
  /** Explains the field, below it. */
  hint?: ReactNode
  /** What is wrong with the value. */
  error?: string | null | undefined
}

interface Given extends Pick<Labelled, 'error' | 'hint'> {
  autoFocus?: boolean | undefined
}

const useLabels = ({ hint, error, autoFocus }: Given) => {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return {
    id,
    control: {
      id,
      ...(described ? { 'aria-describedby': described } : {}),
      ...(error ? { 'aria-invalid': true } : {}),
      // React focuses before a dialog is open, where nothing can have the focus.
      ...(autoFocus ? { 'data-focus': '' } : {}),
    },
  }
}

const Frame = ({ id, label, hint, error, children }: Labelled & { id: string; children: ReactNode }) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    {children}
    {hint && (
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    {error && (
      <p className="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    )}
  </div>
)

type InputProps = Labelled & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }

export const Field = ({ label, hint, error, ...rest }: InputProps) => {
  const { id, control } = useLabels({ hint, error, autoFocus: rest.autoFocus })
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <input {...control} {...rest} />
    </Frame>
  )
}

type TextareaProps = Labelled &
  TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> | undefined }

export const TextField = ({ label, hint, error, ...rest }: TextareaProps) => {
  const { id, control } = useLabels({ hint, error, autoFocus: rest.autoFocus })
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <textarea {...control} {...rest} />
    </Frame>
  )
}

type Words = Readonly<Record<string, string>>

interface SelectProps<Options extends Words> extends Labelled {
  /** The words of each choice, in their order. */
  options: Options
  chosen: keyof Options
  onChoose(value: keyof Options & string): void
  disabled?: boolean
  required?: boolean
}

export const Select = <Options extends Words>({
  label,
  hint,
  error,
  options,
  chosen,
  onChoose,
  ...rest
}: SelectProps<Options>) => {
  const { id, control } = useLabels({ hint, error })
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <select {...control} {...rest} value={String(chosen)} onChange={({ target }) => onChoose(target.value)}>
        {Object.entries(options).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </Frame>
  )
}

/** A setting that is on or off. */
export const Toggle = ({ label, hint, error, ...rest }: Labelled & InputHTMLAttributes<HTMLInputElement>) => {
  const { id, control } = useLabels({ hint, error })
  return (
    <div className="toggle">
      <input type="checkbox" {...control} {...rest} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p className="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
