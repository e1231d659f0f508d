/**
 * The skeleton of a text: what it looks like, in ASCII and in lower case, character by character (after UTS 39).
 * Everything that can be written in several ways becomes one: letters of other alphabets, compatibility forms,
 * brackets, lines, digits, and characters written as HTML entities or escapes. It has the length of the text, so that
 * what is found in it is found in the text: FILLER stands for what is not seen.
 */
export const FILLER = '\u0001'

/** Letters that look like those of the words that markers consist of, in lower case and without marks. */
const LOOKALIKES: Record<string, string> = {
  a: 'аαɑᴀꓮⲁаɐ∀',
  b: 'ьвβʙꓐ',
  c: 'сϲᴄꓚⲥ',
  d: 'ԁԀɗժᴅꓓᎠđð∂',
  e: 'еεҽєɛᴇꓰⲉᎬǝ∃⋿℮эꬲ€ξ£',
  f: 'ϝꜰꓝ',
  g: 'ɡɢԍꓖ',
  h: 'һнʜꓧⲏᎻհ',
  i: 'іιıɪɩӏꓲⲓᎥاן∣ǀ',
  k: 'кκᴋꓗⲕ',
  l: 'ⅼʟꓡ',
  m: 'мμᴍꓟⲙ',
  n: 'пηνոռɴꓠⲛиŋΝиʌ∩',
  o: 'оοօөᴏꓳⲟסøσ०০○◯ⵔ〇',
  p: 'рρᴘꓑⲣ',
  r: 'гʀꓣᴦ',
  s: 'ѕꜱꓢᏚʂտſ§',
  t: 'тτᴛꓔⲧᎢŧ⊤†',
  u: 'υսᴜʋцꓴ∪⋃մ',
  x: 'хχꓫⲭ×',
  y: 'уүʏγꓬⲩ',
}
const OPENING = '<‹«˂ᐸ≪⋘≺⪡⪻⫷⊂⊏ᗕ◁◀⏴◂⊲ᐊ←⇐⟸⇦'
const CLOSING = '>›»˃ᐳ≫⋙≻⪢⪼⫸⊃⊐ᗒ▷▶⏵▸⊳ᐅ→⇒⟹⇨'
const LINES = '‐‑‒–—―−⎯─━═╌╍┄┅┈┉╴╸╼╾▬▂▁_=~*#`•·∙●■▪░▒▓█―¯‾ー'

const PLAIN = new Map<string, string>()
for (const [letter, others] of Object.entries(LOOKALIKES))
  for (const one of others) PLAIN.set(one.toLowerCase(), letter)
for (const one of OPENING) PLAIN.set(one, '<')
for (const one of CLOSING) PLAIN.set(one, '>')
for (const one of LINES) PLAIN.set(one, '-')

/** Letters in negative circles and squares, and regional indicators: each a row of A to Z without a compatibility form. */
const ROWS = [0x1f150, 0x1f170, 0x1f1e6]

const ofOne = (character: string): string => {
  const code = character.codePointAt(0)!
  for (const start of ROWS)
    if (code >= start && code < start + 26) return String.fromCharCode(97 + code - start)
  const plain = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const known = PLAIN.get(plain)
  if (known !== undefined) return known
  if (/^\p{Ps}$/u.test(character) && !'([{'.includes(plain)) return '<'
  if (/^\p{Pe}$/u.test(character) && !')]}'.includes(plain)) return '>'
  // A character for several, such as a letter in parentheses.
  const shown = /[a-z\d]/.exec(plain)?.[0] ?? plain[0] ?? FILLER
  return shown < '\u0080' ? shown : (PLAIN.get(shown) ?? '?')
}

const known = new Map<string, string>()
const MAX_KNOWN = 5_000

const seen = (character: string): string => {
  const found = known.get(character)
  if (found !== undefined) return found
  if (known.size === MAX_KNOWN) known.clear()
  const shown = ofOne(character)
  known.set(character, shown)
  return shown
}

const NAMED: Record<string, string> = {
  lt: '<',
  gt: '>',
  laquo: '<',
  raquo: '>',
  lsaquo: '<',
  rsaquo: '>',
  lang: '<',
  rang: '>',
  nbsp: ' ',
  sol: '/',
  vert: '|',
  lsqb: '[',
  rsqb: ']',
  num: '#',
}

/** An entity, however often its ampersand is escaped, or an escape of JSON, JavaScript or a URL. */
const ESCAPE =
  /&(?:amp;){0,4}(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));?|\\u([\da-f]{4})|\\u\{([\da-f]{1,6})\}|\\x([\da-f]{2})|%([\da-f]{2})/gi

const ofEscape = (
  whole: string,
  decimal?: string,
  hexadecimal?: string,
  name?: string,
  ...codes: unknown[]
) => {
  const hex = hexadecimal ?? codes.slice(0, 4).find((code) => code !== undefined)
  const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
  const character = name
    ? NAMED[name.toLowerCase()]
    : code < 0x110000
      ? String.fromCodePoint(code)
      : undefined
  return character === undefined ? whole : seen(character).padEnd(whole.length, FILLER)
}

/** Returns the skeleton of a text. */
export const skeletonOf = (text: string): string =>
  text
    .replace(ESCAPE, ofEscape)
    .replace(/[^\0-\x7f]/gu, (one) => seen(one).padEnd(one.length, FILLER))
    .replace(/[_=~*#`]/g, '-')
    .toLowerCase()
