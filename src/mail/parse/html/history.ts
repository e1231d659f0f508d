import { randomBytes } from 'node:crypto'

// Random, so that no mail can contain a mark of its own.
const TOKEN = randomBytes(8).toString('hex')

/**
 * Lines that mark where the quoted history begins and ends in a text made from HTML. `rest`: it extends to the
 * end of the text.
 */
const MARKS = { start: `[history-${TOKEN}]`, rest: `[history-rest-${TOKEN}]`, end: `[/history-${TOKEN}]` }

export const markOf = (kind: keyof typeof MARKS): string => MARKS[kind]

export const isMark = (line: string, kind: keyof typeof MARKS): boolean => line.trim() === MARKS[kind]

/** Returns the text without the lines that contain a mark. */
export const withoutMarks = (text: string): string =>
  text.includes(TOKEN)
    ? text
        .split('\n')
        .filter((line) => !line.includes(TOKEN))
        .join('\n')
    : text

/**
 * Elements in which web and mobile clients put the message that is answered: Gmail, Yahoo, Proton, Tuta, Zoho,
 * GMX and Web.de, Thunderbird (only the attribution; the quote itself is a blockquote), 163 and QQ.
 */
export const HISTORY_ELEMENTS = [
  'div.gmail_quote',
  'div.gmail_quote_container',
  'div.yahoo_quoted',
  'div.protonmail_quote',
  'div.tutanota_quote',
  'div.zmail_extra',
  'div.moz-cite-prefix',
  'div[name=quote]',
  '#isReplyContent',
  'includetail',
]

/** Elements of Outlook after which everything is the message that is answered. */
export const HISTORY_STARTS = [
  '#divRplyFwdMsg',
  '#appendonsend',
  '#mail-editor-reference-message-container',
  '#ms-outlook-mobile-body-separator-line',
  'div.OutlookMessageHeader',
]
