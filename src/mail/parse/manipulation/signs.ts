import type { Check } from '../../../core/channel/inbound.ts'
import { oneLine } from '../../../core/text/sanitize-text.ts'
import { wordsOf } from '../html/compare.ts'
import type { Witness } from '../html/look.ts'
import { invisibleIn } from './characters.ts'
import { encodedIn } from './encoded.ts'
import { hiddenInstructionsIn, instructionsIn } from './instructions.ts'
import { disguisedIn, type Link } from './links.ts'

/** Name of the check that says with what a message may mislead a program that reads it. */
const CHECK = 'manipulation'

/** Characters of hidden text that are kept, of all parts of a message together. */
const MAX_KEPT = 64 * 1024
/**
 * Newsletters begin with a hidden line that previews show, and have parts that only phones show. So a hidden text counts
 * only if it speaks to a program, or has so many words that are nowhere to be seen.
 */
const MANY_WORDS = 120

/** What of a message people do not see, and what they are led to believe. */
export class Signs implements Witness {
  /** What may hide text, as far as it is known; see `Doubt`. */
  readonly doubts = new Set<string>()
  readonly #hidden: string[] = []
  readonly #links: Link[] = []
  readonly #sources: string[] = []
  #left = MAX_KEPT

  hidden(text: string): void {
    if (this.#left <= 0 || text.trim() === '') return
    this.#hidden.push(text.slice(0, this.#left))
    this.#left -= text.length
  }

  link(text: string, href: string): void {
    this.#links.push({ text, href })
  }

  /** Takes note of a text as it was written, with the characters that are left out when it is stored; returns it. */
  source(text: string): string {
    this.#sources.push(text)
    return text
  }

  /** Texts that people do not see: of the HTML, of invisible characters, and encoded. */
  removed(): string[] {
    const sources = this.#sources.join('\n')
    return [...this.#hidden, invisibleIn(sources)?.spells ?? '', ...encodedIn(sources)]
      .map((text) => text.replace(/\s+/g, ' ').trim())
      .filter((text) => text !== '')
  }

  /** The checks of a message, given what of it is shown: one for each way in which it may mislead, or that there is none. */
  checks(shown: string): Check[] {
    const found = [
      ...this.#hiddenText(shown),
      ...this.#invisible(),
      ...instructionsIn(shown).map((detail) => ({ verdict: 'instructions', detail })),
      ...disguisedIn(this.#links).map((detail) => ({ verdict: 'disguised_link', detail })),
      ...this.#encoded(),
    ]
    const byVerdict = new Map<string, string[]>()
    for (const { verdict, detail } of found)
      byVerdict.set(verdict, [...(byVerdict.get(verdict) ?? []), detail])
    if (byVerdict.size === 0)
      return [{ name: CHECK, verdict: 'none', detail: 'nothing that is hidden or disguised' }]
    return [...byVerdict].map(([verdict, details]) => ({
      ...{ name: CHECK, verdict },
      detail: oneLine(details.join(', '), 500),
    }))
  }

  #encoded() {
    const texts = encodedIn(this.#sources.join('\n'))
    if (texts.length === 0) return []
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    const says = [...new Set(texts.flatMap((text) => hiddenInstructionsIn(text)))]
    return [
      { verdict: 'encoded_text', detail: [`${length} characters of encoded text`, ...says].join(', which ') },
    ]
  }

  #invisible() {
    const found = invisibleIn(this.#sources.join('\n'))
    if (!found) return []
    const says = found.spells === '' ? '' : `, which spell ${found.spells.length} characters of text`
    return [{ verdict: 'invisible_characters', detail: `${found.count} invisible characters${says}` }]
  }

  #hiddenText(shown: string) {
    const found = [...this.doubts]
    const hidden = this.#hidden.join('\n')
    const says = hiddenInstructionsIn(hidden)
    const words = says.length > 0 ? 0 : unseen(hidden, shown)
    if (says.length > 0) found.push(`hidden text of ${hidden.length} characters, which ${says.join(' and ')}`)
    else if (words >= MANY_WORDS) found.push(`hidden text with ${words} words that are not shown`)
    return found.length === 0 ? [] : [{ verdict: 'hidden_text', detail: doubted(found) }]
  }
}

/** The number of words of a hidden text that are not shown. */
const unseen = (hidden: string, shown: string): number => {
  const words = wordsOf(hidden)
  if (words.length < MANY_WORDS) return 0
  const seen = new Set(wordsOf(shown))
  return words.filter((word) => !seen.has(word)).length
}

const doubted = (what: readonly string[]): string => `people may not see all of this text: ${what.join(', ')}`
