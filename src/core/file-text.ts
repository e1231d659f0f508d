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
  close(): Promise<void>
}
