import { format, isDateFormat } from 'numfmt'
import type { Archive } from './archive.ts'
import { readXml } from './xml.ts'

/** Number formats that every program knows (ECMA-376 18.8.30). Dates are written so that nobody takes a day for a month. */
const KNOWN: Readonly<Record<number, string>> = {
  ...{ 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%', 11: '0.00E+00' },
  ...{ 12: '# ?/?', 13: '# ??/??', 14: 'yyyy-mm-dd', 15: 'd-mmm-yy', 16: 'd-mmm', 17: 'mmm-yy' },
  ...{ 18: 'h:mm AM/PM', 19: 'h:mm:ss AM/PM', 20: 'h:mm', 21: 'h:mm:ss', 22: 'yyyy-mm-dd h:mm' },
  ...{ 37: '#,##0;(#,##0)', 38: '#,##0;(#,##0)', 39: '#,##0.00;(#,##0.00)', 40: '#,##0.00;(#,##0.00)' },
  ...{ 45: 'mm:ss', 46: '[h]:mm:ss', 47: 'mm:ss.0', 48: '##0.0E+0' },
}
/** Spreadsheets allow 255 characters. */
const MAX_PATTERN = 255
const MAX_STYLES = 100_000
/** Days from 1900 to 1904, where the dates of some workbooks begin. */
const DAYS_TO_1904 = 1_462

/** How the numbers of a workbook are shown. */
export class NumberFormats {
  /** The pattern of each style of cells; undefined for a plain number. */
  readonly #patterns: (string | undefined)[] = []
  readonly #isFrom1904: boolean

  constructor(isFrom1904: boolean) {
    this.#isFrom1904 = isFrom1904
  }

  async read(archive: Archive, part: string): Promise<void> {
    const own = new Map<string, string>()
    let isOfCells = false
    await readXml(archive, part, {
      open: (name, { numFmtId = '', formatCode = '' }) => {
        if (name === 'numFmt') own.set(numFmtId, formatCode.slice(0, MAX_PATTERN))
        else if (name === 'cellXfs') isOfCells = true
        else if (name === 'xf' && isOfCells && this.#patterns.length < MAX_STYLES)
          this.#patterns.push(own.get(numFmtId) ?? KNOWN[Number(numFmtId)])
      },
      close: (name) => {
        if (name === 'cellXfs') isOfCells = false
      },
    })
  }

  /** Returns a number as the style shows it, and as it is stored if the style cannot be used. */
  show(stored: string, style: string | undefined): string {
    const number = Number(stored)
    if (stored === '' || !Number.isFinite(number)) return stored
    const pattern = this.#patterns[Number(style ?? 0)] ?? 'General'
    try {
      const isMoved = this.#isFrom1904 && isDateFormat(pattern)
      return format(pattern, isMoved ? number + DAYS_TO_1904 : number).trim()
    } catch {
      return stored
    }
  }
}
