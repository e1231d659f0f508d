import type { Element, Root, RootContent } from 'hast'
import { fromHtml } from 'hast-util-from-html'
import { sanitize } from 'hast-util-sanitize'
import { toHtml } from 'hast-util-to-html'
import { names } from '../parse/html/values.ts'
import type { Images } from './images.ts'
import { OUTGOING_SCHEMA, SCHEMA } from './schema.ts'
import { safeStyle } from './style.ts'
import { visibleOnly } from './visible.ts'

/** Maximum length of a mail's HTML in characters. Newsletters stay under 500,000. */
const MAX_HTML = 1024 * 1024
/** Maximum length of the result: escaping and closing tags can multiply the length of hostile HTML. */
const MAX_RESULT = 2 * MAX_HTML

/**
 * Returns HTML that runs no script, submits no form and loads nothing but the images that are allowed, for
 * insertion into a page of its own. It is parsed as browsers parse it, so that they find in it what was
 * checked. `outgoing`: it is to be sent, and contains nothing that its readers do not see. Throws for HTML that
 * is too long or too deep.
 */
export function sanitizeHtml(html: string, images: Images, outgoing = false): string {
  if (html.length > MAX_HTML) throw new Error(`the HTML is longer than ${MAX_HTML} characters`)
  const tree = fromHtml(html)
  const css = makeSafe(tree, images)
  const kept = sanitize({ type: 'root', children: contentOf(tree) }, outgoing ? OUTGOING_SCHEMA : SCHEMA)
  const safe = { css, body: toHtml(kept) }
  const page = outgoing ? again(visibleOnly(safe)) : safe
  const result = (page.css === '' ? '' : `<style>${page.css}</style>`) + page.body
  if (result.length - images.embeddedLength > MAX_RESULT) throw new Error('the sanitized HTML is too long')
  return result
}

/** Sanitizes a part of a page that was rewritten. */
const again = ({ css, body }: { css: string; body: string }) => ({
  css,
  body: toHtml(sanitize(fromHtml(body, { fragment: true }), OUTGOING_SCHEMA)),
})

/** Makes the URLs and styles of all elements safe. Returns the style sheets. */
function makeSafe(tree: Root, images: Images): string {
  const sheets: string[] = []
  const waiting = [...tree.children].reverse()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type !== 'element') continue
    if (node.tagName === 'style') sheets.push(safeStyle(textIn(node), images))
    makeAttributesSafe(node, images)
    waiting.push(...[...node.children].reverse())
  }
  return sheets.filter((sheet) => sheet !== '').join('\n')
}

function makeAttributesSafe({ tagName, properties }: Element, images: Images): void {
  if (typeof properties.style === 'string') properties.style = safeStyle(properties.style, images)
  for (const name of ['src', 'background'] as const) {
    const url = properties[name]
    if (typeof url === 'string' && (tagName === 'img' || name === 'background'))
      properties[name] = images.allowed(url)
    else if (url !== undefined) refuse(properties, name, images)
  }
  for (const name of LOADED) if (properties[name] !== undefined) refuse(properties, name, images)
  if (tagName !== 'a' && tagName !== 'area' && properties.href !== undefined)
    refuse(properties, 'href', images)
  if (tagName !== 'a') return
  const { href } = properties
  properties.href =
    typeof href === 'string' && /^(?:https?:\/\/|mailto:|tel:)/i.test(href.trim()) ? href.trim() : null
  properties.target = '_blank'
  properties.rel = ['noopener', 'noreferrer']
}

/** Attributes that load something, besides `src`, `background` and the `href` of anything but a link. */
const LOADED = names('srcSet imageSrcSet poster data xLinkHref lowSrc dynSrc ping manifest archive codeBase')

/** Removes an attribute, and counts the servers in it: a list of URLs, with sizes in a `srcset`. */
function refuse(properties: Element['properties'], name: string, images: Images): void {
  for (const url of String(properties[name]).split(/[\s,]/).filter(Boolean)) images.refuse(url)
  properties[name] = null
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
  const properties = { className, dir, lang, style: colours.join('; ') || null }
  return Object.values(properties).some((value) => value != null)
    ? [{ type: 'element', tagName: 'div', properties, children: body.children }]
    : body.children
}

const COLOUR = /^(?:#[0-9a-f]{3,8}|[a-z]{3,20})$/i
