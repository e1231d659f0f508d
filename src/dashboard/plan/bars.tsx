import { locale } from '../parts/language.ts'
import { text } from './strings.ts'

interface BarsProps {
  title: string
  bars: readonly { label: string; count: number }[]
  /** Shows what should not happen. */
  bad: boolean
}

const HEIGHT = 40
/** The width of a bar and of the gap after it. */
const STEP = 10
const GAP = 2

/** A small chart, one bar a day. Its numbers stand in the table beside it. */
export const Bars = ({ title, bars, bad }: BarsProps) => {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <figure className={bad ? 'bars bad' : 'bars'}>
      <figcaption>
        <span>{title}</span>
        <strong>{total.toLocaleString(locale)}</strong>
      </figcaption>
      <svg
        role="img"
        aria-label={text.chart(title, total, most)}
        viewBox={`0 0 ${bars.length * STEP - GAP} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ label, count }, index) => {
          // A day on which little happened is seen beside one on which much did.
          const height = count === 0 ? 1 : Math.max(3, (count / most) * HEIGHT)
          return (
            <rect
              key={label}
              className={count === 0 ? 'none' : undefined}
              x={index * STEP}
              y={HEIGHT - height}
              width={STEP - GAP}
              height={height}
            >
              <title>{text.bar(label, count)}</title>
            </rect>
          )
        })}
      </svg>
      <p className="bars-days" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </p>
    </figure>
  )
}
