import type { Element, Root, RootContent } from 'hast'
import { fromHtml } from 'hast-util-from-html'
import { sanitize } from 'hast-util-sanitize'
import { toHtml } from 'hast-util-to-html'
import type { Images } from './images.ts'
import { SCHEMA } from './schema.ts'
import { safeStyle } from './style.ts'

/** Maximum length of a mail's HTML in characters. Newsletters stay under 500,000. */
const MAX_HTML = 1024 * 1024
/** Maximum length of the result: escaping and closing tags can multiply the length of hostile HTML. */
const MAX_RESULT = 2 * MAX_HTML

/**
 * Returns HTML that runs no script, submits no form and loads nothing but the images that are allowed, for
 * insertion into a page of its own. It is parsed as browsers parse it, so that they find in it what was
 * checked. Throws for HTML that is too long or too deep.
 */
export function sanitizeHtml(html: string, images: Images): string {
  if (html.length > MAX_HTML) throw new Error(`the HTML is longer than ${MAX_HTML} characters`)
  const tree = fromHtml(html)
  const style = makeSafe(tree, images)
  const kept = sanitize({ type: 'root', children: contentOf(tree) }, SCHEMA)
  const result = (style === '' ? '' : `<style>${style}</style>`) + toHtml(kept)
  if (result.length - images.embeddedLength > MAX_RESULT) throw new Error('the sanitized HTML is too long')
  return result
}

/** Makes the URLs and styles of all elements safe. Returns the style sheets. */
function makeSafe(tree: Root, images: Images): string {
  const sheets: string[] = []
  const waiting: (Root | Element)[] = [tree]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    for (const child of node.children) {
      if (child.type !== 'element') continue
      if (child.tagName === 'style') sheets.unshift(safeStyle(textIn(child), images))
      else waiting.push(child)
      makeAttributesSafe(child, images)
    }
  }
  return sheets.join('\n')
}

function makeAttributesSafe({ tagName, properties }: Element, images: Images): void {
  if (typeof properties.style === 'string') properties.style = safeStyle(properties.style, images)
  for (const name of ['src', 'background'] as const) {
    const url = properties[name]
    if (url === undefined) continue
    properties[name] =
      (tagName !== 'img' && name === 'src') || typeof url !== 'string' ? null : images.allowed(url)
  }
  if (tagName !== 'a') return
  const { href } = properties
  properties.href =
    typeof href === 'string' && /^(?:https?:\/\/|mailto:|tel:)/i.test(href.trim()) ? href.trim() : null
  properties.target = '_blank'
  properties.rel = ['noopener', 'noreferrer']
}

const textIn = ({ children }: Element): string =>
  children.map((child) => (child.type === 'text' ? child.value : '')).join('')

/** The content of the body, in an element that has the body's colours and style. */
function contentOf(tree: Root): RootContent[] {
  const document = tree.children.find((child) => child.type === 'element')
  const body = document?.children.find((child) => child.type === 'element' && child.tagName === 'body')
  if (body?.type !== 'element') return []
  const { style, className, dir, lang, bgColor, text } = body.properties
  const colours = [
    ...(typeof bgColor === 'string' && COLOUR.test(bgColor) ? [`background-color: ${bgColor}`] : []),
    ...(typeof text === 'string' && COLOUR.test(text) ? [`color: ${text}`] : []),
    ...(typeof style === 'string' ? [style] : []),
  ]
  const properties = { ...{ className, dir, lang }, style: colours.join('; ') || null }
  return Object.values(properties).some((value) => value != null)
    ? [{ type: 'element', tagName: 'div', properties, children: body.children }]
    : body.children
}

const COLOUR = /^(?:#[0-9a-f]{3,8}|[a-z]{3,20})$/i
