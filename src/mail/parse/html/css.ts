import { type CSSToken, tokenize } from '@csstools/css-tokenizer'

/** A declaration with its names in lower case, escapes resolved, and comments left out. */
export interface Declaration {
  property: string
  value: string
  important: boolean
}

/** A rule: a selector or an at-rule with its block. */
export interface Rule {
  /** Name of the at-rule; null for a style rule. */
  at: string | null
  prelude: string
  declarations: Declaration[]
  rules: Rule[]
}

const MAX_DEPTH = 20
const CLOSING: Record<string, string> = { '(-token': ')-token', '[-token': ']-token', '{-token': '}-token' }

/** Parses a style sheet as browsers do (CSS Syntax 5.4). */
export const parseSheet = (css: string): Rule[] => new Reader(css).block(0).rules

/** Parses the value of a `style` attribute. */
export const parseDeclarations = (css: string): Declaration[] => new Reader(css).block(1).declarations

/** Returns the text of tokens in one spelling: escapes resolved, in lower case, one space between words. */
const spelled = (tokens: readonly CSSToken[], lower: boolean): string =>
  tokens
    .map(([type, raw, , , data]) => {
      if (type === 'comment') return lower ? ' ' : ''
      if (type === 'whitespace-token') return ' '
      if (type === 'string-token') return raw
      if (type === 'url-token') return `url(${(data as { value: string }).value})`
      const name = (data as { value?: unknown } | null)?.value
      if (!lower) return raw
      if (type === 'function-token') return `${String(name).toLowerCase()}(`
      if (type === 'ident-token')
        return String(name).startsWith('--') ? String(name) : String(name).toLowerCase()
      return raw.toLowerCase()
    })
    .join('')
    .replace(/ +/g, ' ')
    .trim()

class Reader {
  readonly #tokens: CSSToken[]
  #at = 0

  constructor(css: string) {
    this.#tokens = tokenize({ css })
  }

  /** Reads a block up to its closing brace; at level 0, the whole sheet. */
  block(level: number): Pick<Rule, 'declarations' | 'rules'> {
    const read: Pick<Rule, 'declarations' | 'rules'> = { declarations: [], rules: [] }
    for (; ; this.#at++) {
      const [type, , , , data] = this.#tokens[this.#at]!
      if (type === 'EOF-token' || (type === '}-token' && level > 0)) return read
      if (['whitespace-token', 'semicolon-token', 'comment', 'CDO-token', 'CDC-token'].includes(type))
        continue
      if (type === 'at-keyword-token') {
        this.#at++
        this.#rule((data as { value: string }).value.toLowerCase(), level, read)
      } else if (level === 0 || !this.#declaration(read)) this.#rule(null, level, read)
    }
  }

  /** Reads `property: value`; returns false, without moving, if this is a nested rule. */
  #declaration(read: Pick<Rule, 'declarations'>): boolean {
    const start = this.#at
    const [type, , , , data] = this.#tokens[start]!
    const name = type === 'ident-token' ? String((data as { value: string }).value) : ''
    const isCustom = name.startsWith('--')
    const end = this.#end(start, ['semicolon-token', '}-token', ...(isCustom ? [] : ['{-token'])])
    if (this.#tokens[end]![0] === '{-token') return false
    let colon = start + 1
    while (this.#tokens[colon]![0] === 'whitespace-token' || this.#tokens[colon]![0] === 'comment') colon++
    if (name !== '' && this.#tokens[colon]![0] === 'colon-token') {
      const written = spelled(this.#tokens.slice(colon + 1, end), true)
      const value = written.replace(/ ?! ?important$/, '')
      const property = isCustom ? name : name.toLowerCase()
      read.declarations.push({ property, value, important: value !== written })
    }
    this.#at = this.#tokens[end]![0] === 'semicolon-token' ? end : end - 1
    return true
  }

  #rule(at: string | null, level: number, read: Pick<Rule, 'rules'>): void {
    const start = this.#at
    const ends = at === null ? [] : ['semicolon-token']
    const end = this.#end(start, [...ends, '{-token', ...(level > 0 ? ['}-token'] : [])])
    const prelude = spelled(this.#tokens.slice(start, end), false)
    this.#at = end
    const type = this.#tokens[end]![0]
    if (type === '{-token') {
      this.#at++
      const block = level < MAX_DEPTH ? this.block(level + 1) : { declarations: [], rules: [] }
      if (level >= MAX_DEPTH) this.#at = this.#end(this.#at, ['}-token'])
      read.rules.push({ at, prelude, ...block })
    } else if (at !== null) read.rules.push({ at, prelude, declarations: [], rules: [] })
    if (this.#tokens[this.#at]![0] === 'EOF-token' || (type === '}-token' && level > 0)) this.#at--
  }

  /** Index of the first token of these types outside of brackets, or of the end. */
  #end(start: number, types: readonly string[]): number {
    const open: string[] = []
    for (let at = start; ; at++) {
      const type = this.#tokens[at]![0]
      if (type === 'EOF-token' || (open.length === 0 && types.includes(type))) return at
      const closing = type === 'function-token' ? ')-token' : CLOSING[type]
      if (closing !== undefined) open.push(closing)
      else if (type === open.at(-1)) open.pop()
    }
  }
}
