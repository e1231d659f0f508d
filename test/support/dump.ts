import type { Db } from '../../src/db/client.ts'

/** Returns every row of every table as text: what someone who steals the database can read. */
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

/** Returns the forms in which a text can appear in a dump: verbatim, as hexadecimal bytes and in base64. */
const spellings = (text: string): string[] => {
  const bytes = Buffer.from(text)
  // The base64 of a text inside a longer one differs at both ends, depending on its offset.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  )
  return [text, bytes.toString('hex'), ...shifted]
}

/** Tests whether a dump or a log contains a text in any of these forms. */
export const holds = (dumped: string, text: string): boolean =>
  spellings(text).some((spelling) => dumped.includes(spelling))
