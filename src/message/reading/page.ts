/**
 * Bytes of text that the messages of one answer hold. A text may be as long as a mail, and a hundred of those
 * no answer, and no process, can hold.
 */
export const MAX_TEXT_BYTES = 8 * 1024 * 1024

/** Read without unpacking the text: PostgreSQL has it beside. */
const OWN = 'octet_length(m.text) + coalesce(octet_length(m.reply_text), octet_length(m.text))'

/**
 * SQL of those messages `m` of `read` (a select of whole messages, newest first) whose texts fit into `bytes`
 * (SQL too), at least one, and the one behind them. `past` says of a message that it no longer fits: the page
 * ends before it.
 */
export const fittingInto = (bytes: string | number, read: string): string => `(
  select * from (
    select m.*, ${OWN} as own, sum(${OWN}) over w as run, row_number() over w as place, row_number() over w > 1 and sum(${OWN}) over w > ${bytes} as past
      from (${read}) m window w as (order by m.created_at desc, m.id desc)
  ) m where m.place <= 2 or m.run - m.own <= ${bytes}
) m`

/** How many of the messages that were read a page of at most `limit` holds. */
export const fitting = (rows: readonly { past?: boolean }[], limit: number): number => {
  const past = rows.findIndex((row) => row.past)
  return past === -1 ? limit : Math.min(past, limit)
}
