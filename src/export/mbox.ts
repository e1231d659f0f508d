const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A date as C's `asctime` writes it, in UTC. */
const asctime = (date: Date): string =>
  `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ${date.toISOString().slice(11, 19)} ${date.getUTCFullYear()}`

/**
 * Returns a mail as an entry of an mbox (RFC 4155) with LF line endings, in which `>` quotes the lines that look
 * like a separator (mboxrd), so that the mail can be restored exactly.
 */
export const mboxEntry = (raw: Uint8Array, receivedAt: Date): Buffer => {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1')
  const quoted = mail.replaceAll('\r\n', '\n').replace(/(^|\n)(>*From )/g, '$1>$2')
  const end = quoted.endsWith('\n') ? '\n' : '\n\n'
  return Buffer.from(`From MAILER-DAEMON ${asctime(receivedAt)}\n${quoted}${end}`, 'latin1')
}
