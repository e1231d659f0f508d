import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { useViewer, useWaitingCount } from './viewer.tsx'

/** Says in the browser's title where the member is, and how many decisions wait. */
export const useTitle = (title: string): void => {
  const { workspace } = useViewer()
  const waiting = useWaitingCount()
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · ${workspace.name}`
  }, [title, waiting, workspace.name])
}

/** The page that was opened by its address, where the browser decides about the focus. */
const opened = location.pathname
let navigated = false

interface PageProps {
  title: string
  /** Stands before the title, such as an icon. */
  before?: ReactNode
  /** Buttons for the whole page. */
  actions?: ReactNode
  /** Stands between the title and the content, such as tabs. */
  below?: ReactNode
  children: ReactNode
}

/** After navigation the focus is on the title of the screen: the keyboard and screen readers go on there. */
export const useArrival = (heading: RefObject<HTMLElement | null>): void => {
  useEffect(() => {
    navigated ||= location.pathname !== opened
    if (navigated && !document.querySelector('dialog[open]')) heading.current?.focus({ preventScroll: true })
  }, [heading])
}

/** A screen with its title. */
export const Page = ({ title, before, actions, below, children }: PageProps) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useTitle(title)
  useArrival(heading)
  return (
    <div className="page">
      <header className="page-head">
        {before}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {below}
      <div className="page-content">{children}</div>
    </div>
  )
}
