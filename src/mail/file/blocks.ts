import { MAX_CHARACTERS, type TextOutput } from './text-output.ts'

/** More columns than spreadsheets can have. */
const MAX_COLUMNS = 16_384

interface Row {
  cells: string[]
  /** Empty cells that count only if another follows. */
  empty: number
}

const onOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join(' ')

/**
 * The paragraphs and tables of a document while it is read: a line for each paragraph, and for each row of a table,
 * with tabs between cells. Text boxes and footnotes are paragraphs in paragraphs, and cells have tables of their own.
 */
export class Blocks {
  readonly #out: TextOutput
  /** The paragraphs that are open, from the outermost. */
  readonly #open: string[][] = []
  /** The lines of the cells that are open, from the outermost. */
  readonly #cells: string[][] = []
  readonly #rows: Row[] = []
  /** Characters that are not in the text yet. */
  #held = 0

  constructor(out: TextOutput) {
    this.#out = out
  }

  get isInParagraph(): boolean {
    return this.#open.length > 0
  }

  get isInCell(): boolean {
    return this.#cells.length > 0
  }

  begin(): void {
    this.#open.push([])
  }

  text(text: string): void {
    this.#open.at(-1)?.push(text)
    this.#held += text.length
    // More than there is room for, so that reading ends.
    if (this.#held > MAX_CHARACTERS) this.#out.add([...this.#cells, ...this.#open].flat().join(''))
  }

  end(): void {
    const text = this.#open.pop()?.join('').trimEnd()
    if (text !== undefined) this.#line(text)
  }

  beginCell(): void {
    this.#cells.push([])
  }

  /** `times`: how often a spreadsheet repeats the cell, or how many columns it spans. */
  endCell(times: number, isSpan: boolean): void {
    const lines = this.#cells.pop()?.filter((line) => line !== '') ?? []
    const row = this.#rows.at(-1)
    if (!row) return
    const copies = isSpan ? 1 : times
    if (lines.length === 0) row.empty += times
    else {
      row.cells.push(...Array<string>(Math.min(row.empty, MAX_COLUMNS)).fill(''))
      row.cells.push(...Array<string>(Math.min(copies, MAX_COLUMNS)).fill(lines.join('\n')))
      row.empty = times - copies
    }
    if (row.cells.length > MAX_COLUMNS) row.cells.length = MAX_COLUMNS
  }

  beginRow(): void {
    this.#rows.push({ cells: [], empty: 0 })
  }

  endRow(times = 1): void {
    const cells = this.#rows.pop()?.cells ?? []
    const used = cells.filter((cell) => cell !== '')
    if (used.length === 0) return
    // What is alone in its row is laid out with a table: it keeps its lines.
    const line = (used.length === 1 ? cells : cells.map(onOneLine)).join('\t')
    for (let n = 0; n < times; n++) this.#line(line)
  }

  #line(text: string): void {
    const cell = this.#cells.at(-1)
    if (cell) cell.push(text)
    else {
      this.#held = 0
      this.#out.line(text)
    }
  }
}
