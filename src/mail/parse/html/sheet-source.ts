import type { Element } from 'domhandler'

/** A style sheet of a mail. */
export interface SheetSource {
  /** Null for one on another server. */
  css: string | null
  media: string
}

/** Returns the style sheet of a `style` or `link` element. */
export function sheetOf({ name, attribs }: Pick<Element, 'name' | 'attribs'>, text: string): SheetSource[] {
  const media = attribs.media ?? ''
  if (!/^(?:text\/css)?$/i.test(attribs.type?.trim() ?? '')) return []
  if (name === 'style') return [{ css: text, media }]
  const kinds = (attribs.rel ?? '').toLowerCase().split(/\s+/)
  if (!kinds.includes('stylesheet') || kinds.includes('alternate') || isFontServer(attribs.href ?? ''))
    return []
  return [{ css: enclosedSheet(attribs.href ?? ''), media }]
}

/** Returns a style sheet in a `data:` URL; null for any other URL. */
export function enclosedSheet(url: string): string | null {
  const [, base64, data] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(url.trim()) ?? []
  if (data === undefined) return null
  try {
    return base64 ? Buffer.from(decodeURIComponent(data), 'base64').toString() : decodeURIComponent(data)
  } catch {
    return data
  }
}

const FONT_SERVER =
  /^(?:https?:)?\/\/(?:fonts\.googleapis\.com|fonts\.bunny\.net|(?:use|p)\.typekit\.net|(?:cloud|fast|use)\.(?:typography|fonts|fontawesome)\.(?:com|net))\//i

/** Whether a URL is that of a well-known font server. Its style sheets contain nothing but fonts. */
export const isFontServer = (url: string): boolean => FONT_SERVER.test(url.trim())
