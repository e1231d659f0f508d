/** What the text of a file is read from, by the names that the API gives them. */
export const FILE_FORMATS = [
  'pdf',
  'docx',
  'xlsx',
  'pptx',
  'odt',
  'ods',
  'odp',
  'rtf',
  'html',
  'csv',
  'eml',
  'ics',
  'vcf',
  'text',
  'zip',
] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

/** What was read of a file. */
export interface FileText {
  /** Null when there is a problem. */
  format: FileFormat | null
  /** Pages of a PDF, slides of a presentation; null for others. */
  pages: number | null
  /** Empty when there is a problem, and for a scan. */
  text: string
  /** Why it has no text, in words that follow the name of the field; null if it was read. */
  problem: string | null
}

/** A file as it was attached: its name and type are what the sender says. */
export interface GivenFile {
  name: string
  type: string
  content: Uint8Array
}

/**
 * Reads the text of files, in processes of their own. `source` is whose turn it is: files of one source wait for
 * each other, not for those of others. `read` rejects with `unavailable` when too much waits, and with
 * `invalid_input` for a file that takes more time or memory than is allowed.
 */
export interface FileReader {
  read(file: GivenFile, source: string): Promise<FileText>
  /** The same in the background: for the search index, not for somebody who waits. */
  readLater(file: GivenFile, source: string): Promise<FileText>
  /** Whether a file may have a text, by its name, its type and its first `START_BYTES` bytes, which are its `content` here. */
  mayHaveText(file: GivenFile): boolean
  close(): Promise<void>
}

/** Containers, and documents that are one: what the bytes say, whatever the sender does. */
export type Container = 'pdf' | 'rtf' | 'zip' | 'ole'

/** As many bytes of a file tell its container. */
export const START_BYTES = 1_024
const MARK_BYTES = 128

/** `isPlain`: what is said to be a plain text is a PDF only if it begins as one, for it may be about them. */
export const containerOf = (content: Uint8Array, isPlain: boolean): Container | null => {
  const start = Buffer.from(content.subarray(0, isPlain ? MARK_BYTES : START_BYTES))
  const begin = start.toString('hex', 0, 8)
  if (/^504b(?:0304|0506|0708)/.test(begin)) return 'zip'
  if (begin === 'd0cf11e0a1b11ae1') return 'ole'
  const text = start.toString('latin1')
  if (/^(?:\xef\xbb\xbf)?\s{0,100}\{\\rtf/.test(text)) return 'rtf'
  return (isPlain ? text.startsWith('%PDF-') : text.includes('%PDF-')) ? 'pdf' : null
}
