/** HTML that is safe to insert into a page: the result of `html`, or text that already is HTML. */
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

/** A template tag that escapes every string. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map((part) => written(part))))
