import { ORDERS, withoutFooters } from './footer.ts'

/** Number of words in a row that say something. Fewer differ in captions, bullets, links and buttons. */
const MIN_WORDS = 8
/** With so few, what counts is whether they give orders or speak to a program. Addresses and links are no words. */
const FEW_WORDS = 11
const MAX_TEXT = 500_000
/** Who wrote a quoted message, and when; a rule before a forwarded one, and fields after it. */
const ATTRIBUTION = /^.{0,200}(?:<[^<>\s]{1,200}@[^<>\s]{1,200}>|\d{1,2}:\d\d).{0,100}:\s*$/gm
const FORWARDED =
  /^[> ]{0,40}(?:-{3,60}.{0,60}-{3,60}|_{10,80})[ \t\r]{0,20}\n(?:[> *]{0,9}[\p{L}-]{2,15}:.{0,200}\n){1,8}/gmu
/** A signature of at most three lines. */
const SIGNATURE = /\n-- ?\n(?:.{0,100}\n?){1,3}\s{0,20}$/

/** Words, and characters of scripts that are written without spaces. URLs are written in different ways. */
export const wordsOf = (text: string): string[] =>
  text
    .replace(/\b(?:https?:\/\/|www\.|mailto:)[^\s<>]+/gi, ' ')
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu) ?? []

/** A text that people see, and its words, which are found once. */
export class Shown {
  readonly text: string
  #words: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
  }

  get words(): readonly string[] {
    this.#words ??= wordsOf(this.text)
    return this.#words
  }
}

/** Which words follow each other in a text. Numbers, because a string of two words has to be made for each look-up. */
class Neighbours {
  readonly #numbers = new Map<string, number>()
  readonly #pairs = new Set<number>()

  constructor(words: readonly string[]) {
    for (const word of words) if (!this.#numbers.has(word)) this.#numbers.set(word, this.#numbers.size + 1)
    for (let i = 0; i < words.length; i++) this.#pairs.add(this.#pair(words[i], words[i + 1]))
  }

  /** Whether one follows the other, or the text ends with the one if there is no other. */
  has(word: string | undefined, next: string | undefined): boolean {
    return this.#pairs.has(this.#pair(word, next))
  }

  /** No number for a word that the text does not contain. The end of the text is 0. */
  #pair(word: string | undefined, next: string | undefined): number {
    const second = next === undefined ? 0 : this.#numbers.get(next)
    return this.#numbers.get(word ?? '')! * (this.#numbers.size + 1) + second!
  }
}

const isTelling = (passage: readonly string[], speaks: (text: string) => boolean): boolean =>
  passage.length > FEW_WORDS || passage.some((word) => ORDERS.test(word)) || speaks(passage.join(' '))

/**
 * Returns the number of words in passages of the plain text that the HTML does not show: words of which no two
 * follow each other there. Of short passages, those in which a text `speaks` to a program.
 */
export function unshownWords(plain: string, shown: Shown, speaks: (text: string) => boolean): number {
  const isLong = shown.text.length > MAX_TEXT
  const visible = new Neighbours(isLong ? wordsOf(shown.text.slice(0, MAX_TEXT)) : shown.words)
  const own = plain.slice(0, MAX_TEXT).replace(/\r\n?/g, '\n').replace(SIGNATURE, '').replace(FORWARDED, '')
  const words = wordsOf(withoutFooters(own.replace(ATTRIBUTION, '')))
  let total = 0
  let passage = 0
  for (let i = 0; i <= words.length; i++) {
    const isShown =
      i === words.length || visible.has(words[i - 1], words[i]) || visible.has(words[i], words[i + 1])
    if (!isShown) passage++
    else {
      if (passage >= MIN_WORDS && isTelling(words.slice(i - passage, i), speaks)) total += passage
      passage = 0
    }
  }
  return total
}
