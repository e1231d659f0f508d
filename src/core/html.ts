/** HTML that is safe to put into a page. Made by `html`, or from text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

type Part = string | Html | readonly Html[]

const written = (part: Part): string => {
  if (typeof part === 'string') return escaped(part)
  return part instanceof Html ? part.text : part.map(({ text }) => text).join('')
}

/** A template whose every string is escaped. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map((part) => written(part))))
