import { decodeWords } from 'postal-mime'
import type { HeaderField, MailView, ViewOptions } from '../../core/channel/mail-view.ts'
import { html as markup } from '../../core/text/html.ts'
import { replaceUnstorable } from '../../core/text/sanitize-text.ts'
import { budgetOfMessage } from '../decode/time-budget.ts'
import { scanFields } from '../header/headers.ts'
import { readContent } from '../parse/content.ts'
import { readStructure, type TextParts } from '../parse/structure.ts'
import { Images } from './images.ts'
import { sanitizeHtml } from './sanitize.ts'

const MAX_FIELDS = 500
const MAX_VALUE = 16 * 1024
const MAX_VALUES = 256 * 1024

/**
 * Returns what is shown of a message besides its text. `readsHtml`: false if the HTML took too much time or
 * memory before.
 */
export async function viewMail(
  raw: Uint8Array,
  { remoteImages, outgoing = false, part = 'html' }: ViewOptions,
  readsHtml: boolean,
): Promise<MailView> {
  const headers = headerFields(raw)
  // A message that cannot be parsed has no HTML to show; its text is the raw body, of which nothing is hidden.
  const structure = readsHtml && part !== 'headers' ? await readStructure(raw).catch(() => null) : null
  const none: MailView = { html: null, blockedImages: 0, headers, hiddenText: [] }
  if (structure === null) return none
  if (part === 'hiddenText') return { ...none, hiddenText: await hiddenIn(raw) }
  if (structure.texts.every(({ html }) => html.length === 0)) return none
  const images = new Images(structure.attachments, remoteImages)
  const html = budgetOfMessage().spend(0.9, () => joined(structure.texts, images, outgoing))
  return html === null ? none : { ...none, html, blockedImages: images.blocked }
}

/** The texts of a message that people do not see, as far as they can be found in time. */
const hiddenIn = async (raw: Uint8Array): Promise<string[]> => {
  const budget = budgetOfMessage()
  const { signs } = await readContent(raw, budget)
  return budget.spend(0.9, () => signs.removed().map(replaceUnstorable)) ?? []
}

const joined = (texts: readonly TextParts[], images: Images, outgoing: boolean): string =>
  texts
    .flatMap(({ html, plain }) =>
      html.length > 0
        ? html.map((source) => sanitizeHtml(source, images, outgoing))
        : plain.map((text) => markup`<pre style="white-space: pre-wrap">${text}</pre>`.text),
    )
    .join('\n')

/** The header fields in order, decoded. Those beyond the limits are left out. */
function headerFields(raw: Uint8Array): HeaderField[] {
  const fields: HeaderField[] = []
  let left = MAX_VALUES
  const written = scanFields(raw).filter(({ name }) => name !== '')
  for (const { name, value } of written.slice(0, MAX_FIELDS)) {
    const decoded = replaceUnstorable(decodeWords(value.slice(0, MAX_VALUE)))
    left -= name.length + decoded.length
    if (left < 0) break
    fields.push({ name: replaceUnstorable(name), value: decoded })
  }
  return fields
}
