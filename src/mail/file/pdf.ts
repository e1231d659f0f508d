import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist'
import { ROOT } from '../../core/root.ts'
import { PageLines } from './pdf-lines.ts'
import { broken, encrypted, FileProblem, tooLarge } from './problem.ts'
import { Full, type TextOutput } from './text-output.ts'

/** Pages of a PDF: a longer one is not read. @limit Messages */
const MAX_PAGES = 2_000

/** Tables of the characters in Chinese, Japanese and Korean fonts that a file does not contain. */
class CharacterMaps {
  async fetch({ name }: { name: string }): Promise<{ cMapData: Uint8Array; isCompressed: true }> {
    if (!/^[\w-]+$/.test(name)) throw new Error('no name of a table')
    const content = await readFile(join(ROOT, 'dist', 'cmaps', `${name}.bcmap`))
    return { cMapData: new Uint8Array(content), isCompressed: true }
  }
}

/** Nothing is drawn, so that what pdf.js draws with need not do anything. */
const DRAWING = ['DOMMatrix', 'ImageData', 'Path2D'] as const

const load = async () => {
  const here = globalThis as Record<string, unknown>
  for (const name of DRAWING) here[name] ??= class {}
  // The part that reads files notes itself there, so that the other one starts no thread of its own.
  await import('pdfjs-dist/legacy/build/pdf.worker.mjs')
  return import('pdfjs-dist/legacy/build/pdf.mjs')
}

const open = async (content: Uint8Array): Promise<PDFDocumentProxy> => {
  const { getDocument } = await load()
  try {
    return await getDocument({
      // pdf.js takes the memory that it is given.
      data: Uint8Array.from(content),
      CMapReaderFactory: CharacterMaps,
      ...{ verbosity: 0, isEvalSupported: false, useSystemFonts: false, disableFontFace: true },
      ...{ useWasm: false, useWorkerFetch: false, isOffscreenCanvasSupported: false },
      ...{ isImageDecoderSupported: false, maxImageSize: 1, fontExtraProperties: false },
    }).promise
  } catch (error) {
    throw (error as Error).name === 'PasswordException' ? encrypted() : broken('it is not a readable PDF')
  }
}

type Item = { str: string; transform: number[]; width: number; height: number }

/** Adds the text of a page as it is written, which may be in any direction. */
const addText = async (page: PDFPageProxy, lines: PageLines): Promise<void> => {
  const { items } = await page.getTextContent()
  let isApart = false
  for (const { str, transform, width, height } of items as Item[]) {
    const [a = 1, b = 0, c = 0, d = 0, x = 0, y = 0] = transform
    const angle = Math.atan2(b, a)
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    if (str.trim() !== '')
      lines.add({
        text: str.trim(),
        along: x * cos + y * sin,
        across: y * cos - x * sin,
        size: Math.hypot(c, d) || height || 1,
        width,
        isApart: isApart || /^\s/.test(str),
      })
    isApart = str === '' ? isApart : /\s$/.test(str)
  }
}

interface Annotation {
  rect: [left: number, bottom: number, right: number, top: number]
  fieldValue?: unknown
  exportValue?: string
  checkBox?: boolean
  radioButton?: boolean
  buttonValue?: string
  hidden?: boolean
  password?: boolean
  subtype?: string
  contentsObj?: { str?: string }
}

/** What somebody has filled in or written on a page. */
const writtenOn = (annotation: Annotation): string => {
  const { subtype, fieldValue, checkBox, radioButton, exportValue, buttonValue, password, contentsObj } =
    annotation
  if (subtype === 'FreeText') return contentsObj?.str ?? ''
  if (subtype !== 'Widget' || password) return ''
  if (checkBox) return fieldValue === exportValue ? '[x]' : ''
  if (radioButton) return fieldValue === buttonValue ? '[x]' : ''
  return [fieldValue]
    .flat()
    .filter((one) => typeof one === 'string')
    .join(', ')
}

const FORM_SIZE = 10

const addWritten = async (page: PDFPageProxy, lines: PageLines): Promise<void> => {
  const annotations = (await page.getAnnotations({ intent: 'display' })) as Annotation[]
  for (const annotation of annotations) {
    const text = annotation.hidden ? '' : writtenOn(annotation).trim()
    const [left, bottom, right, top] = annotation.rect
    const across = Math.max(bottom, top - 1.5 * FORM_SIZE)
    if (text !== '')
      lines.fillIn({ text, along: left, across, width: right - left, size: FORM_SIZE, isApart: true })
  }
}

/** Returns the text of a page, or null for one that cannot be read. */
const readPage = async (pdf: PDFDocumentProxy, number: number): Promise<string | null> => {
  try {
    const page = await pdf.getPage(number)
    const lines = new PageLines()
    await addText(page, lines)
    await addWritten(page, lines)
    page.cleanup()
    return lines.toString()
  } catch (error) {
    if (error instanceof FileProblem || error instanceof Full) throw error
    return null
  }
}

/** Reads a PDF page by page, and returns their number. */
export const readPdf = async (content: Uint8Array, out: TextOutput): Promise<number> => {
  const pdf = await open(content)
  const { numPages } = pdf
  if (numPages > MAX_PAGES) throw tooLarge(`it has more than ${MAX_PAGES.toLocaleString('en')} pages`)
  let unread = 0
  for (let number = 1; number <= numPages; number++) {
    const text = await readPage(pdf, number)
    if (text === null) unread++
    else out.line(text)
    out.inTime()
  }
  if (unread === numPages) throw broken('none of its pages can be read')
  return numPages
}
