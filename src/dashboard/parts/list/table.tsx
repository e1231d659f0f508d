import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'

export interface Column<Row> {
  title: string
  cell(row: Row): ReactNode
  /** Numbers and times stand at the right. */
  right?: boolean
  /** Left out where the screen is narrow. */
  wide?: boolean
}

interface TableProps<Row> {
  /** What the table lists, for readers who cannot see it. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  /** Where the screen is narrow, the cells of a row stand below each other, with their titles. */
  stacked?: boolean
}

const classOf = ({ right, wide }: { right?: boolean; wide?: boolean }): string =>
  [right && 'right', wide && 'only-wide'].filter(Boolean).join(' ')

/** Whether the element's content is wider than it, so that it scrolls. */
const useScrolls = (element: RefObject<HTMLElement | null>): boolean => {
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const { current } = element
    if (!current) return
    const observer = new ResizeObserver(() => setScrolls(current.scrollWidth > current.clientWidth))
    for (const one of [current, ...current.children]) observer.observe(one)
    return () => observer.disconnect()
  }, [element])
  return scrolls
}

/** A table. One that is wider than the screen is scrolled with the arrow keys too. */
export const Table = <Row,>({ label, columns, rows, keyOf, stacked = false }: TableProps<Row>) => {
  const frame = useRef<HTMLDivElement>(null)
  const focusable = useScrolls(frame) && ({ tabIndex: 0, role: 'region', 'aria-label': label } as const)
  return (
    <div className="table-frame" ref={frame} {...focusable}>
      <table className={stacked ? 'table stacked' : 'table'}>
        <caption className="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td
                  key={column.title}
                  className={classOf(column)}
                  data-title={stacked ? column.title : undefined}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
