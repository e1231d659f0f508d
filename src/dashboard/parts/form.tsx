import type { FormHTMLAttributes } from 'react'

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> {
  onSubmit(): unknown
}

/** A form that is sent by the page itself. */
export const Form = ({ onSubmit, ...rest }: FormProps) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      void onSubmit()
    }}
  />
)
