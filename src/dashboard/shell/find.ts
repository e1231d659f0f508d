/** Finds commands by a few words, in any order, also by their beginnings or with letters left out. */

const plain = (words: string): string => words.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Whether the letters occur in a word in this order, from its first one. */
const isAbbreviation = (letters: string, word: string): boolean => {
  if (letters.length < 2 || letters[0] !== word[0]) return false
  let at = 0
  for (const letter of word) if (letter === letters[at]) at += 1
  return at === letters.length
}

const scoreOf = (typed: string, label: string, words: readonly string[]): number => {
  if (words.includes(typed)) return 4
  if (words.some((word) => word.startsWith(typed))) return 3
  if (label.includes(typed)) return 2
  return words.some((word) => isAbbreviation(typed, word)) ? 1 : 0
}

/** How well `typed` matches; 0 if not all of its words do. */
export const matchOf = (typed: string, label: string, context = ''): number => {
  const wanted = plain(typed).split(/\s+/).filter(Boolean)
  const all = plain(`${label} ${context}`)
  const words = all.split(/[^\p{L}\p{N}]+/u)
  const scores = wanted.map((word) => scoreOf(word, all, words))
  if (scores.includes(0)) return 0
  const sum = scores.reduce((total, score) => total + score, 0)
  return sum + (plain(label).startsWith(plain(typed).trim()) ? 2 : 0)
}
