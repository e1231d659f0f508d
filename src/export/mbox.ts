import { setImmediate } from 'node:timers/promises'

const LF = 0x0a

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A date as C's `asctime` writes it, in UTC. */
const asctime = (date: Date): string =>
  `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ${date.toISOString().slice(11, 19)} ${date.getUTCFullYear()}`

/** Bytes that are rewritten at once: in a long mail of short lines, that takes seconds for all of it. */
const PIECE_BYTES = 64 * 1024

/** Rewrites whole lines. */
const quoted = (lines: Buffer): Buffer =>
  Buffer.from(
    lines
      .toString('latin1')
      .replaceAll('\r\n', '\n')
      .replace(/(^|\n)(>*From )/g, '$1>$2'),
    'latin1',
  )

/**
 * Returns a mail as an entry of an mbox (RFC 4155) with LF line endings, in which `>` quotes the lines that look
 * like a separator (mboxrd), so that the mail can be restored exactly. Everything else runs in between.
 */
export const mboxEntry = async (raw: Uint8Array, receivedAt: Date): Promise<Buffer> => {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const parts: Buffer[] = [Buffer.from(`From MAILER-DAEMON ${asctime(receivedAt)}\n`)]
  for (let at = 0; at < mail.length; ) {
    const feed = mail.indexOf(LF, at + PIECE_BYTES)
    const end = feed < 0 ? mail.length : feed + 1
    parts.push(quoted(mail.subarray(at, end)))
    at = end
    await setImmediate()
  }
  return Buffer.concat([...parts, Buffer.from(mail.at(-1) === LF ? '\n' : '\n\n')])
}
