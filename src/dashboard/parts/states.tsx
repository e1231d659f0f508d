import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CircleAlertIcon, type Icon } from './icons.tsx'
import { text } from './strings.ts'

/** What a list shows while it has nothing: what would be here, and the next step. */
export const Empty = ({
  icon: Shape,
  title,
  children,
}: {
  icon: Icon
  title: string
  children?: ReactNode
}) => (
  <div className="empty">
    <Shape size={28} className="empty-icon" />
    <p className="empty-title">{title}</p>
    {children}
  </div>
)

/** Grey lines where content will be. */
export const Loading = ({ lines = 3 }: { lines?: number }) => (
  <div className="loading" role="status">
    <span className="unseen">{text.loading}</span>
    {Array.from({ length: lines }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <span className="loading-line" key={index} />
    ))}
  </div>
)

interface Failure {
  message: string
  requestId: string | null
}

/** A failure in the API's words, with the request's id, under which the service's log has it. */
export const Failed = ({ failure, onRetry }: { failure: Failure; onRetry?: () => void }) => (
  <div className="failed" role="alert">
    <CircleAlertIcon />
    <div>
      <p className="failed-title">{text.failed}</p>
      <p>{failure.message}</p>
      {failure.requestId && <p className="hint">{text.requestId(failure.requestId)}</p>}
      {onRetry && <Button onClick={onRetry}>{text.tryAgain}</Button>}
    </div>
  </div>
)

interface Loaded<Data> {
  data: Data | undefined
  failure: Failure | null
  refresh(): void
}

/** Shows what was loaded: the content, grey lines until then, or why there is none. */
export const Load = <Data,>({
  from,
  lines,
  children,
}: {
  from: Loaded<Data>
  lines?: number
  children(data: Data): ReactNode
}) => {
  if (from.data) return <>{children(from.data)}</>
  return from.failure ? (
    <Failed failure={from.failure} onRetry={from.refresh} />
  ) : (
    <Loading {...(lines ? { lines } : {})} />
  )
}
