import type { Purpose } from './answer.ts'
import { type Attribution, attributionAt } from './attribution.ts'
import { isMark, withoutMarks } from './html/history.ts'
import { isForwardedLine, isHeaderBlock, isOriginalLine, isOutlookBlock, isRule } from './quoted-header.ts'

/** No real reply above a quote is longer. A longer text is returned whole. */
const MAX_CHARACTERS = 256 * 1024
/** Number of lines in which a forwarded message says that it is one. */
const MAX_INTRODUCTION = 10
/** Number of quoted lines that may be an attribution, as in Apple Mail. */
const MAX_ATTRIBUTION = 4

/** A range of lines that quotes an earlier message; `end` is exclusive. */
interface Range {
  start: number
  end: number
}

/** The lines of a text, and what all of its parts are judged by. */
interface Letter {
  lines: readonly string[]
  purpose: Purpose
  isAnswer: boolean
  attributions: ReadonlyMap<number, Attribution>
}

/**
 * Removes the quoted history: what stands below an attribution (`On … wrote:` in many languages), and in an
 * answer also quoted lines (`> …`) without one, what stands below a header block of Outlook, and what the HTML
 * marked as a quote. In mail that is no answer such lines are its own words: commands, transcripts, letters.
 * Signatures and forwarded messages stay. Returns the whole text if nothing else would remain. Takes time
 * linear in the length.
 */
export const replyText = (text: string, purpose: Purpose = 'answer'): string =>
  ownText(text, purpose) ?? withoutMarks(text)

/** The same, but null if nothing else would remain. */
export function ownText(text: string, purpose: Purpose): string | null {
  if (text.length > MAX_CHARACTERS) return withoutMarks(text)
  const lines = text.split('\n')
  const ranges = historyOf(lines, purpose)
  if (ranges.length === 0) return withoutMarks(text)
  const ends = [0, ...ranges.map(({ end }) => end)]
  const kept = ends
    .map((end, index) => withoutMarks(lines.slice(end, ranges[index]?.start ?? lines.length).join('\n')))
    .filter((words) => words.trim() !== '')
  return kept.length === 0 ? null : kept.map(withoutEmptyLines).join('\n')
}

/** Removes the empty lines around a text, but not the indentation of its first line. */
function withoutEmptyLines(words: string): string {
  const lines = words.split('\n')
  const start = lines.findIndex((line) => line.trim() !== '')
  return lines.slice(start).join('\n').trimEnd()
}

function historyOf(lines: readonly string[], purpose: Purpose): Range[] {
  const ranges: Range[] = []
  const isAnswer = purpose === 'answer'
  const letter: Letter = { lines, purpose, isAnswer, attributions: attributionsIn(lines) }
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (isForwardedLine(line)) break
    // Each quote is examined once, at its first line, so that this takes linear time.
    const isQuoted = line.startsWith('>') && !letter.attributions.has(at)
    const quote = isQuoted ? { start: at, end: endOfQuote(lines, at) } : null
    const range = quote ? quoted(letter, quote, ranges.length > 0) : rangeAt(letter, at)
    if (range !== null) ranges.push({ start: Math.max(range.start, ranges.at(-1)?.end ?? 0), end: range.end })
    at = (range ?? quote ?? { end: at + 1 }).end - 1
  }
  return ranges
}

/** The last line of an attribution that was broken within the address: `<bot@x.com`, `>:`. */
const BROKEN_END = /^>[ \t]?[:：][ \t]*$/

const attributionsIn = (lines: readonly string[]): Map<number, Attribution> =>
  new Map(
    lines.flatMap((line, at) => {
      const mayBe = !line.startsWith('>') || BROKEN_END.test(line)
      const found = mayBe ? attributionAt(lines, at) : null
      return found === null ? [] : [[at, found] as const]
    }),
  )

/** The history that begins with this line, or whose attribution ends with it; null for any other line. */
function rangeAt(letter: Letter, at: number): Range | null {
  const { lines, isAnswer } = letter
  const line = lines[at]!
  if (isMark(line, 'start') || isMark(line, 'rest')) return isAnswer ? marked(lines, at) : null
  const attribution = letter.attributions.get(at)
  if (attribution) return attributed(letter, at, attribution)
  return isBlockOrOriginal(letter, at) ? rest(lines, at) : null
}

/** Whether the quoted message begins here: with a header block, or with `-----Original Message-----`. */
function isBlockOrOriginal({ lines, purpose, isAnswer, attributions }: Letter, at: number): boolean {
  if (!isOriginalLine(lines[at]!))
    return isAnswer ? isHeaderBlock(lines, at) : purpose === 'other' && isOutlookBlock(lines, at)
  const below = nextLine(lines, at)
  if (isHeaderBlock(lines, below)) return true
  const isAttributed = [0, 1, 2, 3].some((offset) => attributions.has(below + offset))
  return isAnswer && !isAttributed
}

/** The first line below that is neither empty nor a mark. */
function nextLine(lines: readonly string[], at: number): number {
  let next = at + 1
  while (next < lines.length && withoutMarks(lines[next]!).trim() === '') next++
  return next
}

/** Everything from this line on, and the rule above it. */
function rest(lines: readonly string[], at: number): Range {
  let start = at
  while (start > 0 && isRule(lines[start - 1]!)) start--
  return { start, end: lines.length }
}

/**
 * What the HTML marked as history, unless it is a forwarded message. Gmail also marks what its writers quote
 * themselves: such a passage says not whom it quotes, and their own words follow. Nothing of it is removed.
 */
function marked(lines: readonly string[], at: number): Range | null {
  const first = lines.slice(at, at + MAX_INTRODUCTION)
  if (first.some(isForwardedLine)) return null
  if (isMark(lines[at]!, 'rest')) return rest(lines, at)
  const end = endOfMarked(lines, at)
  const isIntroduced = first.slice(0, Math.max(0, end - at)).some((line) => /[:：]\s*$/.test(line))
  const below = withoutMarks(lines.slice(end, end + MAX_INTRODUCTION).join('\n'))
  const isOwn = !isIntroduced && below.trim() !== ''
  if (end < lines.length) return { start: isOwn ? end : at, end }
  return rest(lines, at)
}

/** The position after the mark that ends what this one begins. */
function endOfMarked(lines: readonly string[], at: number): number {
  let depth = 0
  for (let end = at; end < lines.length; end++) {
    if (isMark(lines[end]!, 'start')) depth++
    else if (isMark(lines[end]!, 'end') && --depth === 0) return end + 1
  }
  return lines.length
}

/** The end of the quoted lines that begin here. Empty lines between them belong to them. */
function endOfQuote(lines: readonly string[], at: number): number {
  let end = at
  for (let i = at; i < lines.length && (lines[i]!.startsWith('>') || lines[i]!.trim() === ''); i++)
    if (lines[i]!.startsWith('>')) end = i + 1
  return end
}

/**
 * Quoted lines: history if an attribution is among or above them, or in an answer that has none. A line that
 * an mbox has escaped (`>From`) and the prompt of Python or of an SMTP transcript (`>>>`) are no quotes.
 */
function quoted(letter: Letter, { start, end }: Range, hasHistoryAbove: boolean): Range | null {
  const { lines, isAnswer, attributions } = letter
  const inner = lines.slice(start, end).map((line) => line.replace(/^>[ \t]?/, ''))
  const isLone = end === start + 1 && /^>From /.test(lines[start]!)
  if (isLone || inner.every((line) => line === '' || line.startsWith('>>'))) return null
  const first = inner.slice(0, MAX_ATTRIBUTION)
  const isAttributed = first.some((_, index) => attributionAt(first, index) !== null)
  const isHistory = hasHistoryAbove || isAttributed || (isAnswer && attributions.size === 0)
  return isHistory ? { start, end } : null
}

/** An attribution with the lines quoted below it or, if it is certain, with everything below it. */
function attributed(
  { lines, isAnswer }: Letter,
  at: number,
  { start, certainty }: Attribution,
): Range | null {
  const next = nextLine(lines, at)
  const above = previousLine(lines, start)
  const from = isOriginalLine(lines[above] ?? '') ? above : start
  if (lines[next]?.startsWith('>'))
    return isAnswer || certainty !== 'with-quote' ? { start: from, end: endOfQuote(lines, next) } : null
  const isCertain = certainty === 'certain' || (certainty === 'likely' && isAnswer)
  return isCertain ? rest(lines, from) : null
}

/** The last line above that is not empty. */
function previousLine(lines: readonly string[], at: number): number {
  let above = at - 1
  while (above > 0 && lines[above]!.trim() === '') above--
  return above
}
