import { crc32, deflateRawSync } from 'node:zlib'

/** Documents as the programs that people use write them, as far as they have text. */

export interface ZipPart {
  content: string | Uint8Array
  /** What the directory says of the size when it is unpacked; by default what it is. */
  claims?: number
  /** The content packed, where that was done before. */
  packed?: Uint8Array
  /** What the directory says of its checksum; by default what it is. */
  crc?: number
  /** General purpose flags: bit 0 marks it as encrypted. */
  flags?: number
}

const DEFLATED = 8

/** A ZIP of these files. */
export const zip = (files: Record<string, ZipPart | string | Uint8Array>): Buffer => {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, given] of Object.entries(files)) {
    const {
      content,
      claims,
      packed: ready,
      crc,
      flags = 0,
    }: ZipPart = typeof given === 'string' || given instanceof Uint8Array ? { content: given } : given
    const bytes = Buffer.from(content as string)
    const packed = Buffer.from(ready ?? deflateRawSync(bytes))
    const names = Buffer.from(name)
    const head = Buffer.alloc(26)
    head.writeUInt16LE(20, 0)
    head.writeUInt16LE(flags | 0x800, 2)
    head.writeUInt16LE(DEFLATED, 4)
    head.writeUInt32LE(crc ?? crc32(bytes), 10)
    head.writeUInt32LE(packed.length, 14)
    head.writeUInt32LE(claims ?? bytes.length, 18)
    head.writeUInt16LE(names.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, names, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), head, rest, names]))
    parts.push(local)
    at += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...parts, central, Buffer.from('PK\x05\x06'), end])
}

const XML = '<?xml version="1.0" encoding="UTF-8"?>'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const relations = (targets: Record<string, [type: string, target: string]>): string =>
  `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${Object.entries(
    targets,
  )
    .map(
      ([id, [type, target]]) =>
        `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"${/^\w+:/.test(target) ? ' TargetMode="External"' : ''}/>`,
    )
    .join('')}</Relationships>`

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

export const word = (text: string): string =>
  `<w:p><w:r><w:t xml:space="preserve">${escaped(text)}</w:t></w:r></w:p>`

/** A DOCX with this body, and further parts of its own. */
export const docx = (
  body: string,
  parts: Record<string, string> = {},
  targets: Parameters<typeof relations>[0] = {},
): Buffer =>
  zip({
    '[Content_Types].xml': `${XML}<Types/>`,
    '_rels/.rels': relations({ r: ['officeDocument', 'word/document.xml'] }),
    'word/_rels/document.xml.rels': relations(targets),
    'word/document.xml': `${XML}<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
    ...parts,
  })

/** An XLSX with these sheets, each its rows as XML. */
export const xlsx = (sheets: Record<string, string>, parts: Record<string, string> = {}): Buffer => {
  const names = Object.keys(sheets)
  return zip({
    '[Content_Types].xml': `${XML}<Types/>`,
    '_rels/.rels': relations({ r: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/_rels/workbook.xml.rels': relations({
      ...Object.fromEntries(names.map((_, n) => [`s${n}`, ['worksheet', `worksheets/${n}.xml`]])),
      shared: ['sharedStrings', 'sharedStrings.xml'],
      styles: ['styles', 'styles.xml'],
    }),
    'xl/workbook.xml': `${XML}<workbook xmlns:r="r"><sheets>${names.map((name, n) => `<sheet name="${escaped(name)}" r:id="s${n}"/>`).join('')}</sheets></workbook>`,
    ...Object.fromEntries(
      names.map((name, n) => [
        `xl/worksheets/${n}.xml`,
        `${XML}<worksheet><sheetData>${sheets[name]}</sheetData></worksheet>`,
      ]),
    ),
    ...parts,
  })
}

/** A PPTX with these slides, each its paragraphs as XML, and its notes. */
export const pptx = (slides: readonly string[]): Buffer =>
  zip({
    '[Content_Types].xml': `${XML}<Types/>`,
    '_rels/.rels': relations({ r: ['officeDocument', 'ppt/presentation.xml'] }),
    'ppt/_rels/presentation.xml.rels': relations(
      Object.fromEntries(slides.map((_, n) => [`s${n}`, ['slide', `slides/slide${n}.xml`]])),
    ),
    'ppt/presentation.xml': `${XML}<p:presentation xmlns:r="r"><p:sldIdLst>${slides.map((_, n) => `<p:sldId id="${n + 256}" r:id="s${n}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    ...Object.fromEntries(
      slides.flatMap((slide, n) => [
        [`ppt/slides/slide${n}.xml`, `${XML}<p:sld xmlns:a="a"><p:txBody>${slide}</p:txBody></p:sld>`],
        [`ppt/slides/_rels/slide${n}.xml.rels`, relations({ n: ['notesSlide', `../notesSlides/${n}.xml`] })],
        [
          `ppt/notesSlides/${n}.xml`,
          `${XML}<p:notes xmlns:a="a"><a:p><a:r><a:t>Note ${n}</a:t></a:r></a:p></p:notes>`,
        ],
      ]),
    ),
  })

/** An OpenDocument file with this content. */
export const odf = (
  kind: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  manifest = '<manifest:manifest/>',
): Buffer =>
  zip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'META-INF/manifest.xml': `${XML}${manifest}`,
    'content.xml': `${XML}<office:document-content><office:body>${body}</office:body></office:document-content>`,
  })

interface PdfOptions {
  /** Objects beside those of the pages, from number 4 on. */
  objects?: readonly string[]
  /** What the pages refer to; by default a font as `/F1`. */
  resources?: string
  /** What each page has besides. */
  page?: string
  /** What the trailer has besides. */
  trailer?: string
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'

/** A PDF of which each page is drawn by these operators. */
export const pdf = (
  pages: readonly string[],
  { objects = [], resources = '<< /Font << /F1 3 0 R >> >>', page = '', trailer = '' }: PdfOptions = {},
): Buffer => {
  const first = 4 + objects.length
  const numbers = pages.map((_, n) => first + 2 * n)
  const all = [
    `<< /Type /Catalog /Pages 2 0 R >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map((n) => `${n} 0 R`).join(' ')}] >>`,
    FONT,
    ...objects,
    ...pages.flatMap((operators, n) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources ${resources} /Contents ${numbers[n]! + 1} 0 R ${page} >>`,
      `<< /Length ${operators.length} >>\nstream\n${operators}\nendstream`,
    ]),
  ]
  let text = '%PDF-1.7\n'
  const offsets = all.map((object, n) => {
    const at = text.length
    text += `${n + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const xref = text.length
  const lines = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${lines}trailer << /Size ${all.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${xref}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

/** Draws texts at their places on a page, in this order. */
export const drawn = (...texts: readonly [x: number, y: number, text: string][]): string =>
  texts
    .map(([x, y, text]) => `BT /F1 11 Tf ${x} ${y} Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`)
    .join('\n')
