import type { ReactNode } from 'react'
import { Form } from './form.tsx'

interface PanelProps {
  title: string
  children: ReactNode
  /** The heading's id. With it, the panel is a landmark of the page. */
  id?: string
  /** Buttons beside the title. */
  actions?: ReactNode
  /** With it, the content is a form. */
  onSubmit?(): unknown
}

/** A part of a screen: a heading, and below it what belongs together. */
export const Panel = ({ title, children, id, actions, onSubmit }: PanelProps) => {
  const heading = <h2 id={id}>{title}</h2>
  return (
    <section className="panel" aria-labelledby={id}>
      {actions === undefined ? (
        heading
      ) : (
        <header className="row between">
          {heading}
          {actions}
        </header>
      )}
      {onSubmit ? (
        <Form className="panel-content" onSubmit={onSubmit}>
          {children}
        </Form>
      ) : (
        <div className="panel-content">{children}</div>
      )}
    </section>
  )
}
