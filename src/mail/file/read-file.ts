import type { Container, FileFormat, FileText, GivenFile } from '../../core/file-text.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import { type Archive, listArchive, openArchive } from './archive.ts'
import { kindOf } from './format.ts'
import { readOdf } from './odf.ts'
import { readDocx, readPptx } from './ooxml.ts'
import { isHtml, isText, readCalendar, readContacts, readHtml, readMail, readText } from './plain.ts'
import { broken, encrypted, FileProblem, tooLarge, unsupported } from './problem.ts'
import { readRtf } from './rtf.ts'
import { Full, MAX_CHARACTERS, TextOutput } from './text-output.ts'
import { readRelations } from './xml.ts'

/** A format with what reads it, and returns the number of pages if it has any. */
interface Plan {
  format: FileFormat
  read(): Promise<number | null> | number | null | void | Promise<void>
}

const OASIS = /^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)/
const ODF = { text: 'odt', spreadsheet: 'ods', presentation: 'odp' } as const

const officePlan = async (archive: Archive, out: TextOutput): Promise<Plan | null> => {
  const relations = await readRelations(archive, '')
  const main = [...relations.values()].find(({ type }) => type === 'officeDocument')?.target ?? ''
  if (!archive.has(main) || !main.endsWith('.xml')) return null
  if (main.startsWith('word/')) return { format: 'docx', read: () => readDocx(archive, main, out) }
  if (main.startsWith('ppt/')) return { format: 'pptx', read: () => readPptx(archive, main, out) }
  if (!main.startsWith('xl/')) return null
  const { readXlsx } = await import('./xlsx.ts')
  return { format: 'xlsx', read: () => readXlsx(archive, main, out) }
}

const odfPlan = async (archive: Archive, out: TextOutput): Promise<Plan | null> => {
  const kind = OASIS.exec((await archive.text('mimetype')).trim())?.[1] as keyof typeof ODF | undefined
  if (!kind) return null
  const format = ODF[kind]
  const read = async () => (await readOdf(archive, format, out)) || null
  return { format, read }
}

/** Documents that are archives say what they are; all others are listed. */
const archivePlan = async (
  { content }: GivenFile,
  declared: string | null,
  out: TextOutput,
): Promise<Plan> => {
  const archive = await openArchive(content, out)
  const plan = (await officePlan(archive, out)) ?? (await odfPlan(archive, out))
  if (plan && archive.hasMore) throw tooLarge('it has too many parts')
  if (!plan && declared !== 'zip' && declared !== 'other' && declared !== null)
    throw broken(`it is not a readable ${declared.toUpperCase()}`)
  return plan ?? { format: 'zip', read: () => listArchive(archive, out) }
}

/** The name of the stream that an encrypted Office document has. */
const ENCRYPTED_PACKAGE = Buffer.from('EncryptedPackage', 'utf16le')

const containerPlan = async (
  container: Container,
  file: GivenFile,
  declared: string | null,
  out: TextOutput,
): Promise<Plan> => {
  const { content } = file
  if (container === 'zip') return archivePlan(file, declared, out)
  if (container === 'rtf') return { format: 'rtf', read: () => readRtf(content, out) }
  if (container === 'ole')
    throw Buffer.from(content).includes(ENCRYPTED_PACKAGE) ? encrypted() : unsupported()
  const { readPdf } = await import('./pdf.ts')
  return { format: 'pdf', read: () => readPdf(content, out) }
}

const plainPlan = (file: GivenFile, declared: FileFormat | null, out: TextOutput): Plan => {
  const { content, type } = file
  switch (declared) {
    case 'html':
      return { format: declared, read: () => readHtml(content, type, out) }
    case 'eml':
      return { format: declared, read: () => readMail(content, out) }
    case 'ics':
      return { format: declared, read: () => readCalendar(content, type, out) }
    case 'vcf':
      return { format: declared, read: () => readContacts(content, type, out) }
    case 'csv':
    case 'text':
      return { format: declared, read: () => readText(content, type, out) }
    case null:
      if (!isText(content)) throw unsupported()
      return plainPlan(file, isHtml(content) ? 'html' : 'text', out)
    default:
      throw broken(`it is not a readable ${declared.toUpperCase()}`)
  }
}

const planOf = async (file: GivenFile, out: TextOutput): Promise<Plan> => {
  const { declared, container } = kindOf(file)
  if (container) return containerPlan(container, file, declared, out)
  if (declared === 'other') throw unsupported()
  return plainPlan(file, declared, out)
}

/** Takes the spaces from the ends of lines, and of several empty lines all but one. */
const tidy = (text: string): string => {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd()
    if (trimmed !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(trimmed)
  }
  return lines.join('\n').trimEnd()
}

const CUT = `[Cut: the text of this file goes on after ${MAX_CHARACTERS.toLocaleString('en')} characters.]`

/** Reads the text of a file. Never rejects because of its content. */
export const readFileText = async (file: GivenFile): Promise<FileText> => {
  const out = new TextOutput()
  let format: FileFormat | null = null
  let pages: number | null = null
  let isCut = false
  try {
    const plan = await planOf(file, out)
    format = plan.format
    pages = (await plan.read()) ?? null
  } catch (error) {
    const { message } = error instanceof FileProblem ? error : broken('it cannot be read')
    if (!(error instanceof Full)) return { format: null, pages: null, text: '', problem: message }
    isCut = true
  }
  const text = tidy(sanitizeText(out.toString()))
  return { format, pages, text: isCut ? `${text}\n${CUT}` : text, problem: null }
}
