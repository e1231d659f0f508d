import type { Archive } from './archive.ts'
import { type Attributes, attributeOf, readXml } from './xml.ts'

/** One level of a list: how its label is written, and where it begins. */
interface Level {
  format: string
  /** `%1.%2)`: the numbers of the levels, and what is around them. */
  text: string
  start: number
}

const LEVELS = 9

/** The list of a paragraph style, and the level there. */
interface Style {
  list?: string
  level: number
}

const toLetters = (n: number): string =>
  String.fromCharCode(97 + ((n - 1) % 26)).repeat(Math.min(Math.ceil(n / 26), 10))

const ROMAN: readonly [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

const toRoman = (n: number): string => {
  let left = Math.min(n, 4_999)
  let text = ''
  for (const [value, letters] of ROMAN) for (; left >= value; left -= value) text += letters
  return text
}

const FORMATS: Readonly<Record<string, (n: number) => string>> = {
  lowerLetter: toLetters,
  upperLetter: (n) => toLetters(n).toUpperCase(),
  lowerRoman: toRoman,
  upperRoman: (n) => toRoman(n).toUpperCase(),
}

/**
 * The numbers and bullets of the paragraphs of a Word document, which are not in its text: contracts refer to
 * them. Each list counts at nine levels; a paragraph names its list itself or through its style.
 */
export class ListLabels {
  /** The levels of each list, by its id. */
  readonly #lists = new Map<string, readonly Level[]>()
  /** The list and the level of each paragraph style. */
  readonly #styles = new Map<string, Style>()
  readonly #counts = new Map<readonly Level[], number[]>()
  #list: string | undefined
  #level: number | undefined
  #style: string | undefined
  #prefix = ''

  static async of(archive: Archive, numbering?: string, styles?: string): Promise<ListLabels> {
    const labels = new ListLabels()
    if (numbering !== undefined) await labels.#readLists(archive, numbering)
    if (styles !== undefined) await labels.#readStyles(archive, styles)
    return labels
  }

  async #readLists(archive: Archive, part: string): Promise<void> {
    const abstract = new Map<string, Level[]>()
    let levels: Level[] = []
    let level: Level = { format: '', text: '', start: 1 }
    let list = ''
    await readXml(archive, part, {
      open: (name, attributes) => {
        const value = attributeOf(attributes, 'val') ?? ''
        if (name === 'abstractNum') {
          levels = []
          abstract.set(attributeOf(attributes, 'abstractNumId') ?? '', levels)
        } else if (name === 'lvl') {
          level = { format: '', text: '', start: 1 }
          levels[levelOf(attributeOf(attributes, 'ilvl'))] = level
        } else if (name === 'numFmt') level.format = value
        else if (name === 'lvlText') level.text = value.slice(0, 50)
        else if (name === 'start') level.start = Number(value) || 0
        else if (name === 'num') {
          list = attributeOf(attributes, 'numId') ?? ''
          levels = []
        } else if (name === 'abstractNumId') this.#lists.set(list, abstract.get(value) ?? [])
      },
    })
  }

  async #readStyles(archive: Archive, part: string): Promise<void> {
    let style: Style = { level: 0 }
    await readXml(archive, part, {
      open: (name, attributes) => {
        const value = attributeOf(attributes, 'val') ?? ''
        if (name === 'style') {
          style = { level: 0 }
          this.#styles.set(attributeOf(attributes, 'styleId') ?? '', style)
        } else if (name === 'numId') style.list = value
        else if (name === 'ilvl') style.level = levelOf(value)
      },
    })
  }

  /** A property of the paragraph that is read. */
  property(name: string, attributes: Attributes): void {
    const value = attributeOf(attributes, 'val')
    if (name === 'numId') this.#list = value
    else if (name === 'ilvl') this.#level = levelOf(value)
    else if (name === 'pStyle') this.#style = value
  }

  /** What the next paragraph begins with. */
  prefix(text: string): void {
    this.#prefix = text
  }

  /** Returns the label of the paragraph whose properties were read. */
  take(): string {
    const style = this.#styles.get(this.#style ?? '')
    const levels = this.#lists.get(this.#list ?? style?.list ?? '')
    const label = levels ? this.#next(levels, this.#level ?? style?.level ?? 0) : ''
    const prefix = this.#prefix
    this.#list = this.#level = this.#style = undefined
    this.#prefix = ''
    return prefix + (label && `${label} `)
  }

  #next(levels: readonly Level[], at: number): string {
    const level = levels[at]
    if (!level || level.format === 'none') return ''
    if (level.format === 'bullet') return '•'
    const counts = this.#counts.get(levels) ?? []
    this.#counts.set(levels, counts)
    counts[at] = (counts[at] ?? level.start - 1) + 1
    counts.length = at + 1
    return level.text.replace(/%([1-9])/g, (_, digit: string) => {
      const shown = levels[Number(digit) - 1]
      const number = counts[Number(digit) - 1] ?? shown?.start ?? 1
      const format = shown?.format ?? ''
      return Object.hasOwn(FORMATS, format) ? FORMATS[format]!(number) : String(number)
    })
  }
}

const levelOf = (value: string | undefined): number => Math.min(Math.max(Number(value) || 0, 0), LEVELS - 1)
