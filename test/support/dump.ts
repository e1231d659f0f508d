import type { Db } from '../../src/db/client.ts'

/** Every row of every table, as text: what somebody reads who steals the database. */
export const dump = async ({ pool }: Db): Promise<string> => {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  )
  const parts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t`)
      return [name, ...rows.map(({ row }) => row)].join('\n')
    }),
  )
  return parts.join('\n')
}

/** The spellings in which a text could stand in a dump: as it is, as bytes, in base64. */
const spellings = (text: string): string[] => {
  const bytes = Buffer.from(text)
  // Base64 of a text inside a longer one differs at both ends, by where it begins.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  )
  return [text, bytes.toString('hex'), ...shifted]
}

/** Whether a text is in a dump (or a log) in any spelling. */
export const holds = (dumped: string, text: string): boolean =>
  spellings(text).some((spelling) => dumped.includes(spelling))
