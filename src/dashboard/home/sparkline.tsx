import { locale } from '../parts/language.ts'
import { counted, MOST } from './counted.ts'
import { text } from './strings.ts'

const HOUR_MS = 3_600_000
const HEIGHT = 20
const WIDTH = 72

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })

/** Messages per hour of the last day, as a line with a text that says the same. */
export const Sparkline = ({ counts }: { counts: readonly number[] }) => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const most = Math.max(...counts)
  const isMore = most >= MOST.inAnHour
  const busiest = counts.lastIndexOf(most)
  const began = new Date(Date.now() - (counts.length - busiest) * HOUR_MS)
  const words = text.activity(counted(total, isMore), counted(most, isMore), clock.format(began))
  const step = WIDTH / Math.max(1, counts.length - 1)
  const points = counts.map(
    (count, hour) =>
      `${(hour * step).toFixed(1)},${(HEIGHT - 1 - (count / Math.max(1, most)) * (HEIGHT - 2)).toFixed(1)}`,
  )
  return (
    <span className="sparkline">
      <svg role="img" aria-label={words} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT}>
        <title>{words}</title>
        <polyline className={total === 0 ? 'none' : undefined} points={points.join(' ')} />
      </svg>
      <span aria-hidden="true">{total > 0 && counted(total, isMore)}</span>
    </span>
  )
}
