import { useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { OUTCOME } from './queries.ts'
import { text } from './strings.ts'

/** What became of a message, and who decided it. */
export const Outcome = ({ id }: { id: string }) => {
  const { data } = useLive(OUTCOME, { id }, [])
  if (!data) return null
  const { status, hold } = data.message
  const isRejected = status === 'failed'
  return (
    <Badge tone={isRejected ? 'bad' : 'good'}>
      {isRejected ? text.rejectedBy(hold?.by ?? null) : text.approvedBy(hold?.by ?? null)}
    </Badge>
  )
}
