import { decodeText } from '../decode/charset.ts'
import { Budget } from '../decode/time-budget.ts'
import { scanHeaders } from '../header/headers.ts'
import { describeCalendar } from '../parse/calendar.ts'
import { asForwarded } from '../parse/forwarded.ts'
import { htmlToReadable, UNREADABLE_HTML } from '../parse/html/readable.ts'
import { parseMail } from '../parse/parse.ts'
import { broken, tooLarge } from './problem.ts'
import type { TextOutput } from './text-output.ts'

/** Time in milliseconds that HTML, a mail or a calendar may take. */
const MAX_MS = 8_000

/** What no text contains, and what a text of an undeclared type may not contain: it may be anything. */
const BINARY = /\0/
const UNTEXTUAL = /(?!\s)\p{Cc}|\ufffd|\p{Cn}|\p{Co}/u

/** The charset that a file names itself: a byte order mark, XML or HTML. */
const DECLARED =
  /^\s*<\?xml[^>]{0,200}\bencoding\s*=\s*["']([\w.:-]{1,40})|<meta[^>]{0,300}\bcharset\s*=\s*["']?([\w.:-]{1,40})/i

const charsetOf = (content: Uint8Array, type: string): string | undefined => {
  const start = Buffer.from(content.subarray(0, 2_048))
  const mark = start.subarray(0, 4).toString('hex')
  if (mark === 'fffe0000' || mark === '0000feff') return mark.startsWith('f') ? 'utf-32le' : 'utf-32be'
  const zeros = start.filter((byte) => byte === 0).length
  if (zeros > start.length / 4) return zeros > start.length / 2 ? 'utf-32' : 'utf-16'
  const declared = DECLARED.exec(start.toString('latin1'))
  return /charset="?([\w.:+-]{1,40})/i.exec(type)?.[1] ?? declared?.[1] ?? declared?.[2]
}

/** Returns a file as text, in whatever charset it is; null if it is none. */
const decodeFile = (content: Uint8Array, type: string): string | null => {
  const text = decodeText(content, charsetOf(content, type)).replace(/^\ufeff/, '')
  return BINARY.test(text) ? null : text
}

/** Whether a file of an undeclared type is text, as far as its bytes say. */
export const isText = (content: Uint8Array): boolean => {
  const text = decodeFile(content, '')
  return text !== null && !UNTEXTUAL.test(text)
}

const HTML = /^\s{0,100}<(?:!doctype\s+html|html|head|body)\b/i
export const isHtml = (content: Uint8Array): boolean => HTML.test(decodeFile(content, '') ?? '')

const textOf = (content: Uint8Array, type: string): string => {
  const text = decodeFile(content, type)
  if (text === null) throw broken('it is not text')
  return text
}

export const readText = (content: Uint8Array, type: string, out: TextOutput): void =>
  out.add(textOf(content, type))

export const readHtml = (content: Uint8Array, type: string, out: TextOutput): void => {
  const text = htmlToReadable(textOf(content, type), new Budget(MAX_MS))
  if (text === UNREADABLE_HTML) throw tooLarge('its HTML takes more time to read than is allowed')
  out.add(text)
}

/** A mail as a file: its header, its text, and the names of its own files. */
export const readMail = async (content: Uint8Array, out: TextOutput): Promise<void> => {
  if (scanHeaders(content).length === 0) throw broken('it is not an email')
  const { text, attachments, damage } = await parseMail(content, new Budget(MAX_MS))
  if (damage !== null) throw broken('it is not a readable email')
  const [, ...lines] = asForwarded(content, text).split('\n')
  out.line(lines.join('\n'))
  for (const { name, type, content: file } of attachments)
    out.line(`Attachment: ${name} (${type.split(';', 1)[0]}, ${file.byteLength} bytes)`)
}

const MOST_EVENTS = 2_000

export const readCalendar = (content: Uint8Array, type: string, out: TextOutput): void => {
  const source = textOf(content, type)
  const text = describeCalendar(source, true, new Budget(MAX_MS), MOST_EVENTS)
  if (text === null && !/^BEGIN:VCALENDAR/im.test(source)) throw broken('it is not a calendar')
  out.add(text ?? source)
}

/** What is said for people with a program, not by them. */
const TECHNICAL = /^(?:BEGIN|END|VERSION|PRODID|REV|UID|PHOTO|LOGO|KEY|SOUND|X-[\w-]*|N)$/i

const decodeQuoted = (value: string): string =>
  decodeText(
    Buffer.from(
      value.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ),
    undefined,
  )

/** Returns a line of a contact as people read it: `TEL (work): +49 30 1234`. */
const contactLine = (line: string): string => {
  const colon = line.indexOf(':')
  const [field = '', ...parameters] = line.slice(0, Math.max(colon, 0)).split(';')
  const name = field.slice(field.lastIndexOf('.') + 1).toUpperCase()
  if (name === '' || TECHNICAL.test(name)) return ''
  const given = line.slice(colon + 1)
  const isQuoted = parameters.some((one) => /quoted-printable/i.test(one))
  const value = (isQuoted ? decodeQuoted(given) : given)
    .replace(/\\n/gi, ' ')
    .replace(/\\([,;:\\])/g, '$1')
    .replace(/;+/g, ' ')
    .trim()
  const kinds = parameters
    .filter((one) => /^type=|^[a-z]+$/i.test(one))
    .map((one) => one.replace(/^type=/i, ''))
  return value === ''
    ? ''
    : `${name}${kinds.length > 0 ? ` (${kinds.join(', ').toLowerCase()})` : ''}: ${value}`
}

/** Reads contacts, with an empty line between two. */
export const readContacts = (content: Uint8Array, type: string, out: TextOutput): void => {
  const source = textOf(content, type)
  if (!/^BEGIN:VCARD/im.test(source)) throw broken('it is not a contact')
  // Long lines go on after a space; quoted-printable ones after `=`.
  const lines = source.replace(/\r?\n[ \t]|=\r?\n/g, '').split(/\r?\n/)
  for (const line of lines) {
    const shown = contactLine(line)
    if (shown !== '') out.line(shown)
    else if (/^END:VCARD/i.test(line)) out.line('')
  }
}
