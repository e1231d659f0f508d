import type { ReactNode } from 'react'

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

export const Table = <Row,>({ label, columns, rows, keyOf, stacked = false }: TableProps<Row>) => (
  <div className="table-frame">
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
