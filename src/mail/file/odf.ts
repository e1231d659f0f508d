import type { Archive } from './archive.ts'
import { Blocks } from './blocks.ts'
import { broken, encrypted } from './problem.ts'
import type { TextOutput } from './text-output.ts'
import { type Attributes, attributeOf, readXml, type XmlHandler } from './xml.ts'

/** What people do not see: text that was deleted, comments, and the settings of fields. */
const UNSEEN = new Set([
  'tracked-changes',
  'annotation',
  'annotation-end',
  'forms',
  'hidden-text',
  'title',
  'desc',
])

/** Cells that are read of a spreadsheet, empty ones too. @limit Messages */
export const MAX_CELLS = 2_000_000
/** More spaces or rows than anybody writes. */
const MAX_TIMES = 1_000_000

const timesOf = (attributes: Attributes, name: string): number =>
  Math.min(Math.max(Number(attributeOf(attributes, name)) || 1, 1), MAX_TIMES)

/** Reads the text of OpenDocument: of texts, spreadsheets and presentations alike. */
class OpenDocument implements XmlHandler {
  readonly #out: TextOutput
  readonly #blocks: Blocks
  /** Whether its tables are the sheets of a spreadsheet, with their names. */
  readonly #hasSheets: boolean
  readonly #times: number[] = []
  readonly #spans: number[] = []
  #unseen = 0
  #link = ''
  pages = 0

  constructor(out: TextOutput, hasSheets: boolean) {
    this.#out = out
    this.#blocks = new Blocks(out)
    this.#hasSheets = hasSheets
  }

  open(name: string, attributes: Attributes): void {
    if (UNSEEN.has(name)) this.#unseen++
    if (this.#unseen > 0) return
    const blocks = this.#blocks
    if (name === 'p' || name === 'h') blocks.begin()
    else if (name === 's') blocks.text(' '.repeat(Math.min(timesOf(attributes, 'c'), 1_000)))
    else if (name === 'tab') blocks.text('\t')
    else if (name === 'line-break') blocks.text('\n')
    else if (name === 'table-row') this.#beginRow(attributes)
    else if (name.endsWith('table-cell')) this.#beginCell(name, attributes)
    else this.#heading(name, attributes)
  }

  #heading(name: string, attributes: Attributes): void {
    if (name === 'page') this.#out.line(`${this.pages++ > 0 ? '\n' : ''}Slide ${this.pages}`)
    else if (name === 'notes') this.#out.line('Notes:')
    else if (name === 'a') this.#link = attributeOf(attributes, 'href') ?? ''
    else if (name === 'table' && this.#hasSheets && !this.#blocks.isInCell)
      this.#out.line(`Sheet: ${attributeOf(attributes, 'name') ?? ''}`)
  }

  #beginRow(attributes: Attributes): void {
    this.#times.push(timesOf(attributes, 'number-rows-repeated'))
    this.#blocks.beginRow()
  }

  #beginCell(name: string, attributes: Attributes): void {
    this.#out.count(MAX_CELLS, 'cells')
    // What a merged cell covers is empty for its readers.
    const covered = name.startsWith('covered')
    if (covered) this.#unseen++
    this.#spans.push(timesOf(attributes, 'number-columns-repeated'))
    this.#blocks.beginCell()
  }

  close(name: string): void {
    if (UNSEEN.has(name)) this.#unseen--
    else if (name === 'covered-table-cell' && this.#unseen > 0) this.#unseen--
    if (this.#unseen > 0) return
    if (name === 'p' || name === 'h') this.#blocks.end()
    else if (name.endsWith('table-cell')) this.#blocks.endCell(this.#spans.pop() ?? 1, false)
    else if (name === 'table-row') this.#blocks.endRow(this.#times.pop())
    else if (name === 'a') this.#endLink()
  }

  #endLink(): void {
    if (/^(?:https?|mailto):/i.test(this.#link)) this.#blocks.text(` <${this.#link}>`)
    this.#link = ''
  }

  text(text: string): void {
    if (this.#unseen === 0 && this.#blocks.isInParagraph) this.#blocks.text(text.replace(/\s+/g, ' '))
  }
}

const ensureReadable = async (archive: Archive): Promise<void> => {
  let isEncrypted = false
  await readXml(archive, 'META-INF/manifest.xml', {
    open: (name) => {
      isEncrypted ||= name === 'encryption-data'
    },
  })
  if (isEncrypted) throw encrypted()
  if (!archive.has('content.xml')) throw broken('it has no content')
}

/** Reads an OpenDocument file, and returns the number of its slides. */
export const readOdf = async (
  archive: Archive,
  format: 'odt' | 'ods' | 'odp',
  out: TextOutput,
): Promise<number> => {
  await ensureReadable(archive)
  const document = new OpenDocument(out, format === 'ods')
  await readXml(archive, 'content.xml', document)
  // The headers and footers of a text; those of slides only say what is to be written there.
  if (format === 'odt') await readXml(archive, 'styles.xml', document)
  return document.pages
}
