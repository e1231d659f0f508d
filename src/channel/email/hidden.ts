/** The little of an htmlparser2 node that is needed to see what a reader sees. */
export interface HtmlNode {
  type: string
  name?: string
  data?: string
  attribs?: Record<string, string>
  children?: HtmlNode[]
}

type Style = ReadonlyMap<string, string>
interface Inherited {
  tiny: boolean
  invisible: boolean
  /** Colour behind the text; null when a picture makes it unknown. */
  background: string | null
  color: string
}

const NEVER_SHOWN = new Set(['script', 'style', 'template', 'head', 'title', 'noframes', 'datalist'])
const MAX_RULES = 2_000

/**
 * Takes out of the tree what a person reading the mail would not see: `display:none`, `hidden`, no size, no opacity, off the page,
 * clipped, or in the colour of its background, by style attribute or simple style sheet rule. Otherwise a stranger could write to the
 * agent what its people don't see. Text with `font-size:0` comes back where a descendant sets a size: layouts do that to lose gaps.
 */
export function removeHidden(root: HtmlNode): void {
  const rules = hidingRules(root)
  const stack: [HtmlNode, Inherited][] = [[root, { tiny: false, invisible: false, background: '#ffffff', color: '#000000' }]]
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [node, inherited] = entry
    node.children = (node.children ?? []).filter((child) => {
      if (child.type === 'text') return !hidesText(inherited)
      if (child.attribs === undefined) return child.children !== undefined
      const style = styleOf(child, rules)
      if (NEVER_SHOWN.has(child.name ?? '') || 'hidden' in child.attribs || hidesBox(style)) return false
      stack.push([child, inherit(inherited, style, child.attribs)])
      return true
    })
  }
}

const hidesText = (inherited: Inherited) =>
  inherited.tiny || inherited.invisible || inherited.color === 'transparent' || inherited.color === inherited.background

function inherit(parent: Inherited, style: Style, attribs: Record<string, string>): Inherited {
  const size = style.get('font-size')
  const visibility = style.get('visibility')
  const paint = style.get('background-color') ?? style.get('background') ?? attribs.bgcolor
  return {
    tiny: size === undefined ? parent.tiny : isTiny(size, parent.tiny),
    invisible: visibility === undefined ? parent.invisible : /^(?:hidden|collapse)/.test(visibility),
    background:
      style.has('background-image') || attribs.background ? null : paint === undefined ? parent.background : painted(paint, parent),
    color: toColor(style.get('color') ?? attribs.color ?? '') ?? parent.color,
  }
}

function painted(paint: string, parent: Inherited): string | null {
  if (paint.includes('url(') || paint.includes('gradient')) return null
  const color = paint
    .split(/\s+/)
    .map(toColor)
    .find((found) => found !== null)
  return color === undefined || color === null || color === 'transparent' ? parent.background : color
}

/** Up to one pixel: nobody reads it. A relative size of nothing stays nothing. */
function isTiny(size: string, parentIsTiny: boolean): boolean {
  const number = Number.parseFloat(size)
  if (Number.isNaN(number)) return parentIsTiny && /inherit|smaller|larger/.test(size)
  if (/%|em|ex/.test(size)) return (parentIsTiny && !size.includes('rem')) || number <= (size.includes('%') ? 5 : 0.05)
  return number <= 1
}

function hidesBox(style: Style): boolean {
  const is = (property: string, pattern: RegExp) => style.has(property) && pattern.test(style.get(property) ?? '')
  if (is('display', /^none/) || is('opacity', /^(?:0|0?\.0\d*|0%)$/) || is('content-visibility', /^hidden/)) return true
  const clipped = is('overflow', /^(?:hidden|clip)/) || is('overflow-y', /^(?:hidden|clip)/)
  if (clipped && ['height', 'max-height', 'width', 'max-width'].some((side) => is(side, /^[01](?:\.\d+)?(?:px|pt|em|%)?$/))) return true
  if (is('clip', /^rect\(0/) || is('clip-path', /^(?:inset\((?:50|100)%|circle\(0)/) || is('transform', /scale\(0\)/)) return true
  if (is('text-indent', /^-\d{3,}/)) return true
  return is('position', /^(?:absolute|fixed)/) && ['left', 'top', 'right', 'bottom'].some((side) => is(side, /^-\d{3,}/))
}

function styleOf(node: HtmlNode, rules: Map<string, Style>): Style {
  const attribs = node.attribs ?? {}
  const own = declarations(attribs.style ?? '')
  if (rules.size === 0) return own
  const names = (attribs.class ?? '').split(/\s+/).filter(Boolean).slice(0, 50)
  const selectors = [node.name ?? '', ...names.flatMap((name) => [`.${name}`, `${node.name}.${name}`]), `#${attribs.id}`]
  return new Map([...selectors.flatMap((selector) => [...(rules.get(selector) ?? [])]), ...own])
}

/** Rules with a selector of one step (`p`, `.a`, `p.a`, `#a`) from the style sheets, outside of @media. */
function hidingRules(root: HtmlNode): Map<string, Style> {
  const rules = new Map<string, Style>()
  const sheet = withoutAtRules(styleSheets(root))
  for (const [, selectors = '', body = ''] of sheet.matchAll(/(?<=^|[{}])([^{}]{1,2000})\{([^{}]{0,4000})\}/g)) {
    for (const selector of selectors.split(',')) {
      if (rules.size >= MAX_RULES) return rules
      const name = selector.trim()
      if (/^[\w-]*[.#]?[\w-]+$/.test(name)) rules.set(name, new Map([...(rules.get(name) ?? []), ...declarations(body)]))
    }
  }
  return rules
}

/** The sheet without comments and without @media and its kind, whose rules may not apply. In one pass: a pattern is quadratic here. */
function withoutAtRules(sheet: string): string {
  let kept = ''
  let depth = 0
  let inside = false
  for (let i = 0; i < sheet.length; i++) {
    const character = sheet[i]!
    if (sheet.startsWith('/*', i)) {
      const end = sheet.indexOf('*/', i + 2)
      i = end < 0 ? sheet.length : end + 1
      continue
    }
    if (!inside && character === '@') inside = true
    if (!inside) kept += character
    else if (character === '{') depth++
    else if (character === '}') inside = --depth > 0
    else if (character === ';' && depth === 0) inside = false
  }
  return kept.replace(/<!--|-->/g, '')
}

function styleSheets(root: HtmlNode): string {
  let sheet = ''
  const stack = [root]
  for (let node = stack.pop(); node !== undefined && sheet.length < 200_000; node = stack.pop()) {
    if (node.name === 'style') sheet += (node.children ?? []).map((child) => child.data ?? '').join('')
    else for (const child of node.children ?? []) stack.push(child)
  }
  return sheet.slice(0, 200_000)
}

function declarations(style: string): Style {
  const found = new Map<string, string>()
  for (const declaration of style
    .slice(0, 4_000)
    .toLowerCase()
    .replace(/\/\*.*?\*\//g, '')
    .split(';')) {
    const colon = declaration.indexOf(':')
    if (colon > 0)
      found.set(
        declaration.slice(0, colon).trim(),
        declaration
          .slice(colon + 1)
          .replace('!important', '')
          .trim(),
      )
  }
  return found
}

const NAMED: Record<string, string> = { white: '#ffffff', black: '#000000', transparent: 'transparent' }

/** A colour in one spelling; null for what is none or not known here. */
function toColor(text: string): string | null {
  const value = text.trim().toLowerCase()
  const named = NAMED[value]
  if (named !== undefined) return named
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(value)
  if (short)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join('')}`
  if (/^#[0-9a-f]{6}$/.test(value)) return value
  const rgb = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:[\s,/]+([\d.]+%?))?\s*\)$/.exec(value)
  if (rgb === null) return null
  if (rgb[4] !== undefined && Number.parseFloat(rgb[4]) === 0) return 'transparent'
  return `#${rgb
    .slice(1, 4)
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')}`
}
