import { type AnyNode, type Document, Element, Text } from 'domhandler'
import { names } from './values.ts'

/** Fewer are more likely grades, or cells of a small table; more are the letters of a heading. */
const MIN_CHARACTERS = 4
const MAX_CHARACTERS = 16
/** How deep the character of an element may be: `<td><p><b>1</b></p></td>`. */
const MAX_DEPTH = 6
const MAX_CHILDREN = 9
const INLINE = names('span b strong i em font big u code kbd bdo bdi label')
const CELLS = names('td th')
const BLOCKS = names('div p center table tbody tr')
const SIDE_BY_SIDE = /inline|float|table-cell|flex|grid/i

/**
 * Joins what is written with one character in each cell, box or span, as codes are: otherwise 110581 becomes
 * `1 1 0 5 8 1`. Tables with several rows of the same length, as calendars, stay apart, and so do links: `1 2 3 4`
 * leads to pages.
 */
export function joinCharacters(root: Document): void {
  const stack: (Document | Element)[] = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.children.length >= MIN_CHARACTERS) node.children = joined(node) as typeof node.children
    for (const child of node.children) if (child instanceof Element) stack.push(child)
  }
}

function joined(parent: Document | Element): AnyNode[] {
  const out: AnyNode[] = []
  let run: Element[] = []
  let start = 0
  const endRun = () => {
    if (run.length >= MIN_CHARACTERS && run.length <= MAX_CHARACTERS && isInOneLine(run, parent)) {
      const code = new Text(run.map(characterOf).join(''))
      run[0]!.children = [code]
      out.splice(start, out.length, run[0]!, new Text(' '))
    }
    run = []
  }
  for (const child of parent.children as AnyNode[]) {
    if (child instanceof Element && characterOf(child) !== '') {
      if (run.length > 0 && run[0]!.name !== child.name) endRun()
      if (run.length === 0) start = out.length
      run.push(child)
    } else if (!isEmpty(child)) endRun()
    out.push(child)
  }
  endRun()
  return out
}

/** The only character in an element and the elements within it; '' if it contains anything else. */
function characterOf(element: Element): string {
  let at: AnyNode = element
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (at.type === 'text') return /^\s*[\p{L}\p{N}]\s*$/u.test(at.data) ? at.data.trim() : ''
    if (!(at instanceof Element) || at.children.length > MAX_CHILDREN) return ''
    if (!INLINE.has(at.name) && !CELLS.has(at.name) && !BLOCKS.has(at.name)) return ''
    const inner: AnyNode[] = (at.children as AnyNode[]).filter((child) => !isEmpty(child))
    if (inner.length !== 1) return ''
    at = inner[0]!
  }
  return ''
}

/** Whether a node shows nothing: white space, or a cell between others. */
function isEmpty(node: AnyNode): boolean {
  if (node.type === 'text') return node.data.trim() === ''
  return node instanceof Element && CELLS.has(node.name) && (node.children as AnyNode[]).every(isBlankText)
}

const isBlankText = (node: AnyNode): boolean => node.type === 'text' && node.data.trim() === ''

function isInOneLine(run: readonly Element[], parent: Document | Element): boolean {
  const [first] = run
  if (INLINE.has(first!.name)) return true
  if (!CELLS.has(first!.name)) {
    const container = parent instanceof Element ? parent : undefined
    return [first, container].some((one) => SIDE_BY_SIDE.test(one?.attribs.style ?? ''))
  }
  const rows = (parent.parent?.children ?? []) as AnyNode[]
  return !rows.some((row) => row !== parent && row instanceof Element && row.children.length >= run.length)
}
