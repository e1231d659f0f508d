import type { Archive } from './archive.ts'
import { MAX_CELLS } from './odf.ts'
import { tooLarge } from './problem.ts'
import { MAX_CHARACTERS, type TextOutput } from './text-output.ts'
import { NumberFormats } from './xlsx-formats.ts'
import { type Relation, readRelations, readXml, type XmlHandler } from './xml.ts'

/** Characters of the texts that cells share. */
const MAX_SHARED = 32 * 1024 * 1024
const MAX_COLUMNS = 16_384

/** The place of a column: `C7` is in the third. Null if the name is none. */
const columnOf = (name: string): number | null => {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(name)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64
  return column > 0 && column <= MAX_COLUMNS ? column - 1 : null
}

/** Reads the texts that cells refer to by their number. */
const readShared = async (archive: Archive, part: string): Promise<string[]> => {
  const texts: string[] = []
  let text = ''
  let length = 0
  /** How words are read aloud is no part of them. */
  let isPhonetic = false
  let isText = false
  await readXml(archive, part, {
    open(name) {
      if (name === 't') isText = true
      else if (name === 'rPh') isPhonetic = true
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'rPh') isPhonetic = false
      else if (name === 'si') {
        texts.push(text)
        text = ''
      }
    },
    text(piece) {
      if (!isText || isPhonetic) return
      length += piece.length
      if (length > MAX_SHARED) throw tooLarge('its cells have too much text')
      text += piece
    },
  })
  return texts
}

/** Reads a sheet: a line for each row that is not empty, with a tab between columns. */
class Sheet implements XmlHandler {
  readonly #out: TextOutput
  readonly #shared: readonly string[]
  readonly #formats: NumberFormats
  #row: string[] = []
  #column = 0
  #type = ''
  #style: string | undefined
  #value = ''
  #isValue = false
  #isPhonetic = false

  constructor(out: TextOutput, shared: readonly string[], formats: NumberFormats) {
    this.#out = out
    this.#shared = shared
    this.#formats = formats
  }

  open(name: string, { r = '', t = 'n', s }: Record<string, string>): void {
    if (name === 'c') {
      this.#out.count(MAX_CELLS, 'cells')
      this.#column = columnOf(r) ?? this.#column
      this.#type = t
      this.#style = s
      this.#value = ''
    } else if (name === 'v' || name === 't') this.#isValue = true
    else if (name === 'rPh') this.#isPhonetic = true
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'c') this.#endCell()
    else if (name === 'row') this.#endRow()
  }

  text(text: string): void {
    if (this.#isValue && !this.#isPhonetic && this.#value.length < MAX_CHARACTERS) this.#value += text
  }

  #endCell(): void {
    const shown = this.#shown().replace(/\s+/g, ' ').trim()
    if (shown !== '' && this.#column < MAX_COLUMNS) {
      while (this.#row.length < this.#column) this.#row.push('')
      this.#row[this.#column] = shown
    }
    this.#column++
  }

  #shown(): string {
    if (this.#type === 's') return this.#shared[Number(this.#value)] ?? ''
    if (this.#type === 'b') return this.#value === '1' ? 'TRUE' : 'FALSE'
    return this.#type === 'n' ? this.#formats.show(this.#value, this.#style) : this.#value
  }

  #endRow(): void {
    if (this.#row.length > 0) this.#out.line(this.#row.join('\t'))
    this.#row = []
    this.#column = 0
  }
}

interface Workbook {
  sheets: { name: string; part: string }[]
  isFrom1904: boolean
}

const readWorkbook = async (
  archive: Archive,
  main: string,
  relations: ReadonlyMap<string, Relation>,
): Promise<Workbook> => {
  const workbook: Workbook = { sheets: [], isFrom1904: false }
  await readXml(archive, main, {
    open(name, attributes) {
      const part = relations.get(attributes['r:id'] ?? '')?.target
      if (name === 'workbookPr') workbook.isFrom1904 = /^(?:1|true|on)$/.test(attributes.date1904 ?? '')
      else if (name === 'sheet' && part !== undefined)
        workbook.sheets.push({ name: attributes.name ?? '', part })
    },
  })
  return workbook
}

export const readXlsx = async (archive: Archive, main: string, out: TextOutput): Promise<void> => {
  const relations = await readRelations(archive, main)
  const partOf = (type: string) => [...relations.values()].find((one) => one.type === type)?.target
  const { sheets, isFrom1904 } = await readWorkbook(archive, main, relations)
  const formats = new NumberFormats(isFrom1904)
  await formats.read(archive, partOf('styles') ?? '')
  const shared = await readShared(archive, partOf('sharedStrings') ?? '')
  for (const { name, part } of sheets) {
    out.line(`Sheet: ${name}`)
    await readXml(archive, part, new Sheet(out, shared, formats))
  }
}
