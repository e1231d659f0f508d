import { charactersOf } from './characters.ts'

/** Minimum number of characters of a value that is looked for. @limit Secrets */
const GUARDED_FROM = 8

/** Values that anybody may write without having read a secret. */
const COMMON = new Set(
  `password password1 password12 password123 password1234 passw0rd passwort passwort1 motdepasse contrasena changeme changeit
  letmein letmein1 letmein123 iloveyou iloveyou1 princess princess1 sunshine sunshine1 football football1 baseball basketball
  superman batman123 trustno1 starwars whatever jennifer michelle jordan23 computer internet samsung1 dragon123 monkey123
  master123 shadow123 qwerty12 qwerty123 qwertyui qwertyuiop qwertz123 azerty123 asdfghjk asdfghjkl zxcvbnm1 1q2w3e4r 1q2w3e4r5t
  q1w2e3r4 1qaz2wsx zaq12wsx qazwsxedc abcd1234 abc12345 aa123456 a1234567 a12345678 test1234 testtest testing1 testing123
  example1 welcome1 welcome123 admin123 admin1234 administrator root1234 rootroot guest123 user1234 username secret12 secret123
  topsecret secretkey default1 undefined disabled required optional localhost production development staging1 postgres
  postgresql mysql123 redis123 mongodb1 anonymous nopassword mypassword yourpassword your_password xxxxxxxx placeholder`.split(
    /\s+/,
  ),
)

/** Rows of keys and of the alphabet, in which a value lies that nobody had to know. */
const SEQUENCES = ['01234567890123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm']
const ORDERED = [...SEQUENCES, ...SEQUENCES.map((row) => [...row].reverse().join(''))]

const text = (row: 'words' | 'all', value: string): string => String.fromCharCode(...charactersOf(row, value))

/**
 * Whether messages are compared with a secret's value. Not with short ones and those that everybody uses, such as
 * `password` or `12345678`: ordinary messages contain them.
 */
export const isGuarded = (value: string): boolean => {
  if (value.length < GUARDED_FROM) return false
  if (value.length > 256) return text('all', value.slice(0, 1024)).length >= GUARDED_FROM
  const [plain, words] = [text('all', value), text('words', value)]
  if (plain.length < GUARDED_FROM || new Set(plain).size < 3) return false
  const isCommon = (one: string) => COMMON.has(one) || ORDERED.some((row) => row.includes(one))
  return !isCommon(plain) && !(words.length >= GUARDED_FROM - 1 && isCommon(words))
}

/** The most frequent pairs of letters in English; of random letters, every tenth pair is among them. */
const PAIRS = new Set(
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ma ta el la di us ut ec et ns pa so tr wa we no em il ac pr po mo pe ad ai ge ct un op'.split(
    ' ',
  ),
)
const isLikeWords = (letters: string): boolean => {
  let frequent = 0
  for (let at = 0; at + 1 < letters.length; at++) if (PAIRS.has(letters.slice(at, at + 2))) frequent++
  return frequent * 5 >= (letters.length - 1) * 2
}

const isPeriodic = (words: string): boolean => {
  for (let size = 1; size * 2 <= words.length; size++)
    if (words.slice(size).startsWith(words.slice(0, words.length - size))) return true
  return false
}

/** Below this, the parts of a value are so short that texts contain them by chance, unless they are unusual. */
export const SHORT = 16

/**
 * Whether a value is also found in two parts. Not one whose parts are ordinary words, years or numbers, and not one that
 * repeats itself: a single part would be both.
 */
export const isFoundInParts = (words: string): boolean => {
  if (isPeriodic(words)) return false
  if (words.length >= SHORT) return true
  if (/^\d+$/.test(words)) return words.length >= 12
  const [, letters = ''] = /^\d{0,4}([a-z]+)\d{0,4}$/.exec(words) ?? []
  return letters === '' || !isLikeWords(letters)
}
