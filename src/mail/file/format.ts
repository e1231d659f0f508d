import { type Container, containerOf, type FileFormat, type GivenFile } from '../../core/file-text.ts'

const BY_TYPE: readonly [RegExp, FileFormat][] = [
  [/^application\/(?:x-)?pdf$/, 'pdf'],
  [
    /^application\/vnd\.(?:openxmlformats-officedocument\.wordprocessingml|ms-word\.(?:document|template)\.macroenabled)/,
    'docx',
  ],
  [
    /^application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml|ms-excel\.(?:sheet|template)\.macroenabled)/,
    'xlsx',
  ],
  [
    /^application\/vnd\.(?:openxmlformats-officedocument\.presentationml|ms-powerpoint\.\w{1,20}\.macroenabled)/,
    'pptx',
  ],
  [/^application\/vnd\.oasis\.opendocument\.text/, 'odt'],
  [/^application\/vnd\.oasis\.opendocument\.spreadsheet/, 'ods'],
  [/^application\/vnd\.oasis\.opendocument\.presentation/, 'odp'],
  [/^(?:application|text)\/(?:x-)?rtf$/, 'rtf'],
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^text\/(?:csv|tab-separated-values)$/, 'csv'],
  [/^message\/(?:rfc822|global)$/, 'eml'],
  [/^(?:text\/calendar|application\/ics)$/, 'ics'],
  [/^text\/(?:x-)?(?:vcard|directory)$/, 'vcf'],
  [/^application\/(?:x-)?zip(?:-compressed)?$/, 'zip'],
  [
    /^(?:text\/|application\/(?:[a-z0-9.-]{1,100}\+)?(?:json|xml|yaml|x-yaml|toml|sql|javascript|x-ndjson|x-sh)$)/,
    'text',
  ],
]

const BY_END: Readonly<Record<string, FileFormat>> = {
  ...{ pdf: 'pdf', docx: 'docx', docm: 'docx', dotx: 'docx', xlsx: 'xlsx', xlsm: 'xlsx', xltx: 'xlsx' },
  ...{
    pptx: 'pptx',
    pptm: 'pptx',
    ppsx: 'pptx',
    potx: 'pptx',
    odt: 'odt',
    ott: 'odt',
    ods: 'ods',
    ots: 'ods',
  },
  ...{ odp: 'odp', otp: 'odp', rtf: 'rtf', html: 'html', htm: 'html', xhtml: 'html', csv: 'csv', tsv: 'csv' },
  ...{ eml: 'eml', ics: 'ics', ifb: 'ics', vcf: 'vcf', vcard: 'vcf', zip: 'zip', txt: 'text', text: 'text' },
  ...{
    md: 'text',
    log: 'text',
    json: 'text',
    xml: 'text',
    yaml: 'text',
    yml: 'text',
    sql: 'text',
    ini: 'text',
  },
}

/** What mail programs declare for files that they do not know. */
const UNKNOWN =
  /^(?:|application\/(?:octet-stream|x-download|force-download|binary|unknown)|unknown\/unknown)$/

/** What the sender says that a file is; null if that is nothing, and `other` for what has no text. */
export const declaredOf = ({ name, type }: Pick<GivenFile, 'name' | 'type'>): FileFormat | 'other' | null => {
  const declared = type.split(';', 1)[0]!.trim().toLowerCase()
  const byType = BY_TYPE.find(([pattern]) => pattern.test(declared))?.[1]
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const byEnd = Object.hasOwn(BY_END, end) ? BY_END[end] : undefined
  // `text/plain` is said of many a file, and old names of types of many a table.
  if (byType && byType !== 'text') return byType
  if (byType || UNKNOWN.test(declared)) return byEnd ?? byType ?? null
  return byEnd ?? 'other'
}

const PLAIN = new Set<string>(['html', 'csv', 'eml', 'ics', 'vcf', 'text'])

/** What a file is said to be, and what its beginning says that it is. */
export const kindOf = (
  file: GivenFile,
): { declared: ReturnType<typeof declaredOf>; container: Container | null } => {
  const declared = declaredOf(file)
  return { declared, container: containerOf(file.content, declared !== null && PLAIN.has(declared)) }
}

/** Whether a file may have a text. Signatures, old documents and what is not what it is said to be have none. */
export const mayHaveText = (file: GivenFile): boolean => {
  const { declared, container } = kindOf(file)
  return container === null ? declared === null || PLAIN.has(declared) : container !== 'ole'
}
