/**
 * Maximum size of the texts in one response, in bytes. A text may be as long as a mail, and a hundred of
 * those would exceed what a response, or a process, can hold.
 */
export const MAX_TEXT_BYTES = 8 * 1024 * 1024

/** Computed without decompressing the text: PostgreSQL stores its size. */
const OWN = 'octet_length(m.text) + coalesce(octet_length(m.reply_text), octet_length(m.text))'

/**
 * SQL that selects the messages `m` of `read` (a select of whole messages, newest first) whose texts fit into
 * `bytes` (also SQL), at least one, and the first one that does not. `past` is true for a message that no
 * longer fits: the page ends before it.
 */
export const fittingInto = (bytes: string | number, read: string): string => `(
  select * from (
    select m.*, ${OWN} as own, sum(${OWN}) over w as run, row_number() over w as place, row_number() over w > 1 and sum(${OWN}) over w > ${bytes} as past
      from (${read}) m window w as (order by m.created_at desc, m.id desc)
  ) m where m.place <= 2 or m.run - m.own <= ${bytes}
) m`

/** Returns how many of the rows read belong to a page of at most `limit`. */
export const fitting = (rows: readonly { past?: boolean }[], limit: number): number => {
  const past = rows.findIndex((row) => row.past)
  return past === -1 ? limit : Math.min(past, limit)
}
