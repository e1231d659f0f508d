import type { Archive } from './archive.ts'
import { Blocks } from './blocks.ts'
import { ListLabels } from './list-labels.ts'
import type { TextOutput } from './text-output.ts'
import {
  type Attributes,
  attributeOf,
  type Relation,
  readRelations,
  readXml,
  type XmlHandler,
} from './xml.ts'

/**
 * What people do not see: the place that text was moved from, what older programs show in place of a drawing, and the
 * phonetic reading beside a word. Deleted text has an element of its own, which is not read.
 */
const UNSEEN = new Set(['moveFrom', 'Fallback', 'rt'])

const isOn = (attributes: Attributes): boolean =>
  !/^(?:0|false|off)$/.test(attributeOf(attributes, 'val') ?? '')

/** Reads the text of WordprocessingML and DrawingML, whose elements have the same names for the same things. */
class OfficeText implements XmlHandler {
  readonly #blocks: Blocks
  readonly #relations: ReadonlyMap<string, Relation>
  readonly #labels: ListLabels | null
  #unseen = 0
  /** Within the properties of a paragraph. */
  #inProperties = false
  #isText = false
  #isHidden = false
  #span = 1
  #link = ''

  constructor(blocks: Blocks, relations: ReadonlyMap<string, Relation>, labels: ListLabels | null) {
    this.#blocks = blocks
    this.#relations = relations
    this.#labels = labels
  }

  open(name: string, attributes: Attributes): void {
    if (UNSEEN.has(name)) this.#unseen++
    if (this.#unseen > 0) return
    if (this.#inProperties) this.#labels?.property(name, attributes)
    else if (Object.hasOwn(BREAKS, name)) this.#blocks.text(BREAKS[name]!)
    else this.#begin(name, attributes)
  }

  #begin(name: string, attributes: Attributes): void {
    const blocks = this.#blocks
    if (name === 't') this.#isText = true
    else if (name === 'p') blocks.begin()
    else if (name === 'pPr') this.#inProperties = true
    else if (name === 'r') this.#isHidden = false
    else if (name === 'vanish' || name === 'webHidden') this.#isHidden = isOn(attributes)
    else if (name === 'tr') blocks.beginRow()
    else if (name === 'tc') this.#beginCell(attributes)
    else if (name === 'gridSpan') this.#span = Number(attributeOf(attributes, 'val')) || 1
    else if (/^(?:foot|end)note(?:Reference)?$/.test(name)) this.#note(name, attributes)
    else if (name === 'hyperlink') this.#link = this.#relations.get(attributes['r:id'] ?? '')?.target ?? ''
  }

  #beginCell(attributes: Attributes): void {
    this.#blocks.beginCell()
    this.#span = Number(attributes.gridSpan) || 1
  }

  /** Marks a note, and the place that refers to it. */
  #note(name: string, attributes: Attributes): void {
    const id = Number(attributeOf(attributes, 'id'))
    if (!(id > 0)) return
    const label = `[${id}]`
    if (name.endsWith('Reference')) this.#blocks.text(label)
    else this.#labels?.prefix(`${label} `)
  }

  close(name: string): void {
    if (UNSEEN.has(name)) this.#unseen--
    else if (this.#unseen > 0) return
    else if (name === 't') this.#isText = false
    else if (name === 'p') this.#blocks.end()
    else if (name === 'pPr') {
      this.#inProperties = false
      this.#blocks.text(this.#labels?.take() ?? '')
    } else if (name === 'tc') this.#blocks.endCell(this.#span, true)
    else if (name === 'tr') this.#blocks.endRow()
    else if (name === 'hyperlink') this.#endLink()
  }

  #endLink(): void {
    if (/^(?:https?|mailto):/i.test(this.#link)) this.#blocks.text(` <${this.#link}>`)
    this.#link = ''
  }

  text(text: string): void {
    if (this.#isText && this.#unseen === 0 && !this.#isHidden) this.#blocks.text(text)
  }
}

const BREAKS: Readonly<Record<string, string>> = {
  tab: '\t',
  ptab: '\t',
  br: '\n',
  cr: '\n',
  noBreakHyphen: '-',
}

const readPart = async (
  archive: Archive,
  name: string,
  out: TextOutput,
  labels: ListLabels | null = null,
): Promise<Map<string, Relation>> => {
  const relations = await readRelations(archive, name)
  await readXml(archive, name, new OfficeText(new Blocks(out), relations, labels))
  return relations
}

/** The parts of these types that a part refers to, in the order of the types, and each once. */
const partsOf = (relations: ReadonlyMap<string, Relation>, ...types: string[]): string[] => [
  ...new Set(
    types.flatMap((type) =>
      [...relations.values()].filter((one) => one.type === type).map(({ target }) => target),
    ),
  ),
]

/** Texts of charts and diagrams, which are parts of their own. */
const DRAWN = ['chart', 'diagramData']

/** Reads the titles and the values of a chart. */
const readChart = async (archive: Archive, name: string, out: TextOutput): Promise<void> => {
  const words: string[] = []
  let isText = false
  const toggle = (element: string, to: boolean) => {
    if (element === 't' || element === 'v') isText = to
  }
  await readXml(archive, name, {
    open: (element) => toggle(element, true),
    close: (element) => toggle(element, false),
    text: (text) => isText && words.push(text),
  })
  out.line(words.join('\t'))
}

const readDrawn = async (
  archive: Archive,
  relations: ReadonlyMap<string, Relation>,
  out: TextOutput,
): Promise<void> => {
  for (const name of partsOf(relations, ...DRAWN))
    await (name.includes('chart') ? readChart(archive, name, out) : readPart(archive, name, out))
}

export const readDocx = async (archive: Archive, main: string, out: TextOutput): Promise<void> => {
  const known = await readRelations(archive, main)
  for (const name of partsOf(known, 'header')) await readPart(archive, name, out)
  const labels = await ListLabels.of(archive, partsOf(known, 'numbering')[0], partsOf(known, 'styles')[0])
  const relations = await readPart(archive, main, out, labels)
  for (const name of partsOf(relations, 'footnotes', 'endnotes')) await readPart(archive, name, out, labels)
  await readDrawn(archive, relations, out)
  for (const name of partsOf(relations, 'footer')) await readPart(archive, name, out)
}

/** Reads the slides in their order, each with its notes, and returns their number. */
export const readPptx = async (archive: Archive, main: string, out: TextOutput): Promise<number> => {
  const relations = await readRelations(archive, main)
  const slides: string[] = []
  await readXml(archive, main, {
    open(name, attributes) {
      const slide = name === 'sldId' ? relations.get(attributes['r:id'] ?? '') : undefined
      if (slide) slides.push(slide.target)
    },
  })
  for (const [index, name] of slides.entries()) {
    out.line(`${index > 0 ? '\n' : ''}Slide ${index + 1}`)
    const own = await readPart(archive, name, out)
    await readDrawn(archive, own, out)
    for (const notes of partsOf(own, 'notesSlide')) {
      out.line('Notes:')
      await readPart(archive, notes, out)
    }
  }
  return slides.length
}
