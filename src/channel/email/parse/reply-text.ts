import EmailReplyParser from 'email-reply-parser'
import { withoutHeaderBlock } from './quoted-header.ts'
import { type Budget, budgetOfMessage } from './time-budget.ts'

// No real reply above a quote is longer. A longer text is returned whole.
const MAX_CHARACTERS = 256 * 1024
const MAX_ATTRIBUTION = 1_000
// Every pattern of email-reply-parser 2.3.7 needs one of these. Skipping it for other mail, such as most
// first messages, saves 2 ms.
const QUOTE_SIGN = new RegExp(
  [
    '>|wrote|écrit|escribió|scritto|escreveu|schrieb|schreef|pisze|napisał|skrev|kirjoitti|写道|작성|のメッセージ',
    "original message|oprindelig|message d'origine|ursprüngliche",
  ].join('|'),
  'i',
)

/**
 * Removes the quoted history (`> …`, `On … wrote:` in about ten languages, and the header block of Outlook).
 * Signatures and forwarded messages stay, because text that looks like a signature is sometimes the reply
 * itself. Returns the whole text if nothing else would remain or if the budget is exceeded.
 */
export function replyText(text: string, budget: Budget = budgetOfMessage()): string {
  if (text.length > MAX_CHARACTERS) return text
  const above = withoutHeaderBlock(text)
  if (!QUOTE_SIGN.test(above)) return above
  // Mail written by people takes less than 10 ms, but 220 KB of `Op schreef` lines would take hours (three
  // nested [\s\S]+).
  const kept = budget.spend(0.5, () => withoutQuotes(above))
  return kept === null ? above : kept || text
}

/**
 * Marks attribution lines as quoted, in any language: a line that ends with an address and a colon, directly
 * above a quote.
 */
function withAttributionsQuoted(text: string): string {
  const lines = text.split('\n')
  const next = (index: number) => (lines[index + 1]?.trim() === '' ? lines[index + 2] : lines[index + 1])
  const attributes = (line: string, index: number) =>
    line.length < MAX_ATTRIBUTION &&
    /<[^<>\s@]+@[^<>\s@]+>\s*[:：]\s*$/.test(line) &&
    next(index)?.startsWith('>')
  return lines
    .map((line, index) => (!line.startsWith('>') && attributes(line, index) ? `> ${line}` : line))
    .join('\n')
}

const withoutQuotes = (text: string) =>
  new EmailReplyParser()
    .read(withAttributionsQuoted(text))
    .getFragments()
    .filter((fragment) => !fragment.isQuoted())
    .map((fragment) => fragment.getContent())
    .join('\n')
    .trim()
