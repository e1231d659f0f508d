import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import vm from 'node:vm'
import { type AST, RegExpParser } from '@eslint-community/regexpp'
import { parseSync } from 'oxc-parser'

export interface Found {
  file: string
  pattern: string
  flags: string
}

export interface Built {
  file: string
  /** The call that creates the regular expression, on one line. */
  call: string
}

interface Node {
  type: string
  start: number
  end: number
  regex?: { pattern: string; flags: string }
  callee?: { name?: string }
}

const SRC = join(import.meta.dirname, '../../src')

const sources = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'generated' ? [] : sources(path)
    return /\.(?:ts|mjs)$/.test(entry.name) ? [path] : []
  })

/**
 * Returns every regular expression in the sources: literals, and the calls that build one. Throws when a file
 * cannot be parsed as TypeScript.
 */
export function regexesOf(files = sources(SRC)): { found: Found[]; built: Built[] } {
  const found: Found[] = []
  const built: Built[] = []
  for (const path of files) {
    const text = readFileSync(path, 'utf8')
    const file = relative(join(SRC, '..'), path)
    const { program, errors } = parseSync(path, text)
    if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
    const walk = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      if (Array.isArray(node)) {
        for (const one of node) walk(one)
        return
      }
      const { type, start, end, regex, callee } = node as Node
      if (type === 'Literal' && regex) found.push({ file, pattern: regex.pattern, flags: regex.flags })
      if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp')
        built.push({ file, call: text.slice(start, end).replace(/\s+/g, ' ') })
      for (const one of Object.values(node)) walk(one)
    }
    walk(program)
  }
  return { found, built }
}

type Element = AST.Element | AST.Alternative

// Characters of every kind that the patterns match.
const KINDS = [...'aZ1 \t-_.:;,/@<("\'=%&*+>!{[\\#^|?~`$é漢\n\r', '\u00a0', '\u200b', '😀']
/** Returns a text that the element matches, as far as its shape tells. */
function sampleOf(node: Element, flags: string): string {
  if (node.type === 'Alternative') return node.elements.map((element) => sampleOf(element, flags)).join('')
  if (node.type === 'Group' || node.type === 'CapturingGroup') return sampleOf(node.alternatives[0]!, flags)
  if (node.type === 'Character') return String.fromCodePoint(node.value)
  if (node.type === 'Quantifier')
    return sampleOf(node.element as Element, flags).repeat(Math.min(Math.max(node.min, 1), 8))
  if (node.type === 'CharacterClass' || node.type === 'CharacterSet') {
    const one = new RegExp(`^(?:${node.raw})$`, flags.replace(/[gy]/g, ''))
    return KINDS.find((kind) => one.test(kind)) ?? ''
  }
  return ''
}

interface Attack {
  head: string
  pump: string
  end: string
}

/**
 * Returns texts that may be slow for a backtracking engine: what the pattern repeats, and what precedes it,
 * repeated many times.
 */
function attacksOn(pattern: string, flags: string): Attack[] {
  const heads = new Set(['', '\u0001'])
  const pumps = new Set<string>()
  // Characters that are unlikely to match what is repeated: a control character, a letter, a line break, and
  // the characters that the pattern itself excludes.
  const ends = new Set(['\u0001', 'x', '\n'])
  const exclude = (element: AST.Node) => {
    if (element.type !== 'CharacterClass' || !element.negate) return
    for (const one of element.elements)
      if (one.type === 'Character') ends.add(String.fromCodePoint(one.value))
  }
  const visit = (alternative: AST.Alternative, head: string): void => {
    let before = head
    for (const element of alternative.elements) {
      const sample = sampleOf(element, flags)
      if (element.type === 'Quantifier' && element.max > 20) {
        heads.add(before)
        const repeated = sampleOf(element.element as Element, flags)
        pumps.add(repeated)
        pumps.add(`${repeated}-`)
        exclude(element.element)
        pumps.add(before.slice(head.length) + sample)
        pumps.add(before.slice(head.length))
      }
      const inner = element.type === 'Quantifier' ? element.element : element
      if ('alternatives' in inner) for (const one of inner.alternatives) visit(one, before)
      if (element.type === 'Character') pumps.add(sample)
      before += sample
    }
    pumps.add(before)
  }
  const unicode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') }
  for (const alternative of new RegExpParser().parsePattern(pattern, 0, pattern.length, unicode).alternatives)
    visit(alternative, '')
  pumps.delete('')
  // A pattern without unbounded repetition takes time proportional to its own length.
  if (!/[+*]|\{\d+,(?:\d{2,})?\}/.test(pattern)) return []
  const prefixes = [...heads].slice(0, MAX_HEADS)
  const suffixes = [...ends].slice(0, MAX_ENDS)
  return [...pumps]
    .slice(0, MAX_PUMPS)
    .flatMap((pump) => prefixes.flatMap((head) => suffixes.map((end) => ({ head, pump, end }))))
}

const MAX_HEADS = 8
const MAX_PUMPS = 40
const MAX_ENDS = 6

const context = vm.createContext({ performance })
const replace = new vm.Script('regex[Symbol.replace](text, "")')
// One call for many texts: each call with a timeout starts a thread.
const sieve = new vm.Script(
  `for (; at < texts.length; at++) {
     const start = performance.now()
     regex[Symbol.replace](texts[at], "")
     if (performance.now() - start >= suspect) break
   }`,
)

/** Returns the index of the first text from `at` on that may take the regex long, or their number. */
function nextSuspect(regex: RegExp, texts: string[], at: number): number {
  Object.assign(context, { regex, texts, at, suspect: SUSPECT_MS })
  try {
    sieve.runInContext(context, { timeout: TIMEOUT_MS })
  } catch {
    // The text at this index takes too long, or all before it took long together: it is measured alone.
  }
  return context.at as number
}

/**
 * Returns the CPU time in milliseconds for all matches in the text, at most `limit`. Not the time that passes: other
 * processes lengthen that, and long measurements more than short ones.
 */
function timeOf(regex: RegExp, text: string, limit: number): number {
  const before = process.cpuUsage()
  try {
    // Node refuses a timeout that is not an integer.
    replace.runInContext(Object.assign(context, { regex, text }), { timeout: Math.ceil(PATIENCE * limit) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return limit
  }
  const { user, system } = process.cpuUsage(before)
  return Math.min(limit, (user + system) / 1000)
}

/** How much longer than its CPU time a measurement may take before it is ended. */
const PATIENCE = 10
const LENGTH = 6_000
// A linear pattern takes less than 0.4 ms for this many characters, a quadratic one 3 to dozens.
const SUSPECT_MS = 2
const TIMEOUT_MS = 30
// A text four times as long takes a linear pattern 4 times as long, a quadratic one 16 times.
const LONGER = 4
const SUPERLINEAR = 8
// Other threads of this process count as well, and what shares the caches slows a measurement down.
const MEASUREMENTS = 5

/** Returns the start of a text that takes more than linear time, or null when none was found. */
export function slowTextFor({ pattern, flags }: Pick<Found, 'pattern' | 'flags'>): string | null {
  const regex = new RegExp(pattern, flags)
  const fastest = (text: string, max: number, enough: number): number => {
    let best = max
    for (let i = 0; i < MEASUREMENTS && best >= enough; i++) best = Math.min(best, timeOf(regex, text, max))
    return best
  }
  const attacks = attacksOn(pattern, flags)
  const textOf = ({ head, pump, end }: Attack, length: number) =>
    head + pump.repeat(Math.ceil(length / pump.length)) + end
  const texts = attacks.map((attack) => textOf(attack, LENGTH))
  for (let at = nextSuspect(regex, texts, 0); at < texts.length; at = nextSuspect(regex, texts, at + 1)) {
    const time = fastest(texts[at]!, TIMEOUT_MS, SUSPECT_MS)
    if (time < SUSPECT_MS) continue
    const limit = SUPERLINEAR * time
    const attack = attacks[at]!
    if (time >= TIMEOUT_MS || fastest(textOf(attack, LONGER * LENGTH), limit, limit) >= limit)
      return textOf(attack, 40)
  }
  return null
}
