import { type Shown, wordsOf } from './html/compare.ts'

/** Longer plain parts are no stubs; style sheets do not count. */
const MAX_STUB = 4_000
const MAX_STYLES = 200_000
const MAX_LINE = 400
/** A plain part that only announces what the HTML says has at most so many words. */
const MAX_ANNOUNCEMENT = 40

/** Lines that say nothing of their own: that HTML is needed, where to read the message, how to unsubscribe. */
const SAYS_NOTHING: readonly RegExp[] = [
  /\bhtml\b|\b(?:rich|formatted)[ -]text\b|\bmultipart\b|\bMIME\b/i,
  /\b(?:e-?mail|mail)[ -]?(?:client|program|reader|software|viewer|app|programm)\b|(?:client|logiciel|cliente|programa) de (?:messagerie|correo|e-?mail)/i,
  /\b(?:browser|navigateur|navegador|webversion|web version|online version|online-version|en ligne|przeglądar)|ブラウザ|浏览器|瀏覽器/i,
  /\b(?:view|read|see|open|display)(?:ing)?\b[^\n]{0,60}\b(?:online|web ?(?:page|site)|images)\b|\bonline (?:ansehen|lesen)\b/i,
  /unsubscri|opt[- ]?out|abbestell|abmelde|désabonn|désinscri|(?:darse|date) de baja|cancelar[^\n]{0,20}suscripci|disiscri|afmelden|uitschrijven|descadastr|cancelar[^\n]{0,20}inscri|avregistrer|wypisz|отписа|配信停止|退订|退訂|수신거부/i,
  /\b(?:manage|update|change)\b[^\n]{0,30}\bpreferences\b|\ball rights reserved\b|^[^\w]{0,9}(?:©|\(c\)|copyright)\b|^©/i,
]

/**
 * Whether a plain text is only a stub beside its HTML, of which people see `shown`: it says nothing (that HTML is
 * needed, how to unsubscribe, a style sheet), repeats the subject, or announces a code or a link that only the HTML
 * contains.
 */
export function isStub(plain: string, shown: Shown, subject: () => string): boolean {
  if (plain.length > MAX_STYLES) return false
  const text = withoutStyles(plain)
  if (text.length > MAX_STUB) return false
  const { words: seen } = shown
  if (seen.length <= wordsOf(text).length) return false
  const titled = new Set(wordsOf(subject()))
  const own: string[] = []
  let isTitle = true
  for (const line of text.split('\n')) {
    if (line.length <= MAX_LINE && SAYS_NOTHING.some((one) => one.test(line))) continue
    const words = wordsOf(line)
    isTitle &&= words.every((word) => titled.has(word))
    own.push(...words)
    // Most plain texts are no stubs: their first lines show it.
    if (!isTitle && own.length > MAX_ANNOUNCEMENT) return false
  }
  if (isTitle) return true
  const isAnnouncement = seen.length >= 2 * own.length && areAmong(own, seen)
  return isAnnouncement && codesIn(shown.text).some((code) => !plain.includes(code))
}

const areAmong = (words: readonly string[], others: readonly string[]): boolean => {
  const known = new Set(others)
  return words.every((word) => known.has(word))
}

/** What the reader may be meant to use: numbers and codes with digits, and links. */
const codesIn = (text: string): string[] =>
  text
    .slice(0, MAX_STYLES)
    .match(/\bhttps?:\/\/[^\s<>]{1,2000}|(?<![\w.,/:-])(?=[A-Z-]{0,12}\d)[A-Z0-9-]{4,12}(?![\w.,/:-]*\w)/g) ??
  []

/** Removes the rules of style sheets; those in blocks (`@media`) first. */
function withoutStyles(text: string): string {
  if (!text.includes('{')) return text
  let rest = text.replace(/\r\n?/g, '\n').replace(/<!--|-->/g, '')
  for (let level = 0; level < 3; level++) rest = rest.replace(/(?<=^|[{}])[^\n{}]*\{[^{}]*\}/gm, '')
  return rest
    .split('\n')
    .filter((line) => !/^[\w\s.#@:>*()[\]="-]{1,200},\s*$/.test(line))
    .join('\n')
}
