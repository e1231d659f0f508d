import EmailReplyParser from 'email-reply-parser'
import { withoutHeaderBlock } from './quoted-header.ts'
import { type Budget, budgetOfMessage } from './time-budget.ts'

// Nobody answers with more than this above a quote. Beyond it the text is handed on whole.
const MAX_CHARACTERS = 256 * 1024
const MAX_ATTRIBUTION = 1_000
// Every pattern of email-reply-parser 2.3.7 needs one of these; mail without any, most first letters, is
// spared the 2 ms.
const QUOTE_SIGN = new RegExp(
  [
    '>|wrote|écrit|escribió|scritto|escreveu|schrieb|schreef|pisze|napisał|skrev|kirjoitti|写道|작성|のメッセージ',
    "original message|oprindelig|message d'origine|ursprüngliche",
  ].join('|'),
  'i',
)

/**
 * The text without the history that it quotes (`> …`, `On … wrote:` in about ten languages, the header block
 * that Outlook puts above it). Signatures and forwarded messages stay: what looks like a signature is
 * sometimes the answer. Gives the whole text when nothing else would be left, or when it can't be told in
 * time.
 */
export function replyText(text: string, budget: Budget = budgetOfMessage()): string {
  if (text.length > MAX_CHARACTERS) return text
  const above = withoutHeaderBlock(text)
  if (!QUOTE_SIGN.test(above)) return above
  // Mail by people takes under 10 ms; 220 KB of `Op schreef` lines would take hours (three nested [\s\S]+).
  const kept = budget.spend(0.5, () => withoutQuotes(above))
  return kept === null ? above : kept || text
}

/**
 * In whatever language: a line with an address and a colon at its end, right above a quote, says whose words
 * follow.
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
