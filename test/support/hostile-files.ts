import { deflateRawSync, deflateSync } from 'node:zlib'
import { docx, drawn, odf, pdf, pptx, word, xlsx, type ZipPart, zip } from './documents.ts'

/** Files that would take a program without limits minutes, gigabytes or the process. */

const MIB = 1024 * 1024
const SPACES = 300 * MIB

let deflated: Buffer | undefined

/** Packed once: it takes a second. */
const bomb = (): ZipPart => {
  deflated ??= deflateRawSync(Buffer.from(`<a>${' '.repeat(SPACES)}</a>`), { level: 1 })
  return { content: '', packed: deflated, claims: SPACES + 7 }
}

const parts = (file: Buffer, name: string): Buffer => bombIn(file, name, bomb())

/** Replaces a part of an archive that was made by `zip`. */
const bombIn = (file: Buffer, name: string, part: ZipPart): Buffer => {
  const files: Record<string, ZipPart | Uint8Array> = {}
  for (let at = 0; file.readUInt32LE(at) === 0x04034b50; ) {
    const [size, names] = [file.readUInt32LE(at + 18), file.readUInt16LE(at + 26)]
    const begin = at + 30 + names
    const ready = file.subarray(begin, begin + size)
    const claims = file.readUInt32LE(at + 22)
    const crc = file.readUInt32LE(at + 14)
    files[file.toString('utf8', at + 30, begin)] = { content: '', packed: ready, claims, crc }
    at = begin + size
  }
  return zip({ ...files, [name]: part })
}

const xml = (body: string) => docx(body)
const LAUGHS = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, n) => `<!ENTITY ${'bcdefghij'[n]} "${`&${'abcdefghi'[n]};`.repeat(10)}">`).join('')}]>`

const stream = (content: Uint8Array, dictionary = '') =>
  `<< /Length ${content.length} ${dictionary} >>\nstream\n${Buffer.from(content).toString('latin1')}\nendstream`

const nestedMail = (levels: number): string => {
  let mail = 'Subject: in\r\n\r\nend'
  for (let n = 0; n < levels; n++) mail = `Subject: ${n}\r\nContent-Type: message/rfc822\r\n\r\n${mail}`
  return mail
}

const nestedZip = (levels: number): Buffer => {
  let file = zip({ 'a.txt': Buffer.alloc(MIB) })
  for (let n = 0; n < levels; n++) file = zip({ 'a.zip': file, 'b.zip': file })
  return file
}

const one = drawn([72, 700, 'x'])
const EMPTY_CELLS = '<c/>'.repeat(3_000_000)

/** Each a name and what makes it, since all of them together have gigabytes. */
export const HOSTILE: readonly [name: string, file: string, make: () => Buffer | string][] = [
  ['a bomb in a DOCX', 'a.docx', () => parts(docx(''), 'word/document.xml')],
  [
    'a bomb in the styles of a DOCX',
    'a.docx',
    () => parts(docx('', {}, { s: ['styles', 'styles.xml'] }), 'word/styles.xml'),
  ],
  ['a bomb in an XLSX', 'a.xlsx', () => parts(xlsx({ a: '' }), 'xl/worksheets/0.xml')],
  ['a bomb in the texts of an XLSX', 'a.xlsx', () => parts(xlsx({ a: '' }), 'xl/sharedStrings.xml')],
  ['a bomb in a PPTX', 'a.pptx', () => parts(pptx(['']), 'ppt/slides/slide0.xml')],
  ['a bomb in an ODT', 'a.odt', () => parts(odf('text', ''), 'content.xml')],
  ['a bomb in an ODS', 'a.ods', () => parts(odf('spreadsheet', ''), 'content.xml')],
  ['a bomb in an ODP', 'a.odp', () => parts(odf('presentation', ''), 'content.xml')],
  ['a bomb in the type of an ODT', 'a.odt', () => parts(odf('text', ''), 'mimetype')],
  ['a bomb in the relations', 'a.docx', () => parts(docx(''), '_rels/.rels')],
  [
    'a bomb that claims to be small',
    'a.docx',
    () => bombIn(docx(''), 'word/document.xml', { ...bomb(), claims: 10 }),
  ],
  ['ZIPs in ZIPs', 'a.zip', () => nestedZip(12)],
  [
    'a document with 30,000 parts',
    'a.docx',
    () => zip({ ...Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`${n}`, ''])) }),
  ],
  [
    'a directory that is longer than the file',
    'a.zip',
    () => {
      const file = zip({ a: 'x' })
      file.writeUInt16LE(65_535, file.length - 10)
      return file
    },
  ],
  [
    'a billion laughs',
    'a.docx',
    () => docx('', { 'word/document.xml': `${LAUGHS}<w:p><w:t>&j;</w:t></w:p>` }),
  ],
  [
    'an entity of a file',
    'a.odt',
    () =>
      bombIn(odf('text', ''), 'content.xml', {
        content: '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><text:p>&a;</text:p>',
      }),
  ],
  ['XML nested a million times', 'a.docx', () => xml('<w:p>'.repeat(1_000_000))],
  ['an attribute of 60 MB', 'a.docx', () => xml(`<w:p a="${'x'.repeat(60 * MIB)}"/>`)],
  ['a comment of 60 MB', 'a.docx', () => xml(`<!--${'-'.repeat(60 * MIB)}`)],
  [
    'two million attributes',
    'a.docx',
    () => xml(`<w:p ${Array.from({ length: 2_000_000 }, (_, n) => `a${n}="1"`).join(' ')}/>`),
  ],
  [
    'text of 200 MB',
    'a.docx',
    () =>
      bombIn(docx(''), 'word/document.xml', { content: `<w:p><w:t>${'word '.repeat(40 * MIB)}</w:t></w:p>` }),
  ],
  [
    'tables in tables',
    'a.docx',
    () => xml('<w:tbl><w:tr><w:tc>'.repeat(300) + word('x') + '</w:tc></w:tr></w:tbl>'.repeat(300)),
  ],
  [
    'half a million paragraphs in a cell',
    'a.docx',
    () => xml(`<w:tbl><w:tr><w:tc>${word('x').repeat(500_000)}</w:tc></w:tr></w:tbl>`),
  ],
  [
    'a million labels of lists',
    'a.docx',
    () =>
      docx(
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="8"/><w:numId w:val="1"/></w:numPr></w:pPr></w:p>'.repeat(
          500_000,
        ),
        {
          'word/numbering.xml': `<w:abstractNum w:abstractNumId="0">${Array.from({ length: 9 }, (_, n) => `<w:lvl w:ilvl="${n}"><w:numFmt w:val="upperRoman"/><w:start w:val="999999999"/><w:lvlText w:val="${'%1'.repeat(99)}"/></w:lvl>`).join('')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`,
        },
        { n: ['numbering', 'numbering.xml'] },
      ),
  ],
  ['3,000 slides', 'a.pptx', () => pptx(Array<string>(3_000).fill('<a:p><a:r><a:t>x</a:t></a:r></a:p>'))],
  [
    'a header that is the document',
    'a.docx',
    () =>
      docx(
        word('x').repeat(1_000),
        {},
        Object.fromEntries(
          Array.from({ length: 2_000 }, (_, n) => [
            `h${n}`,
            ['header', `./${'a/../'.repeat(n)}document.xml`],
          ]),
        ),
      ),
  ],
  ['millions of empty cells', 'a.xlsx', () => xlsx({ a: `<row>${EMPTY_CELLS}</row>` })],
  [
    'rows with one cell in the last column',
    'a.xlsx',
    () => xlsx({ a: '<row><c r="XFD1"><v>1</v></c></row>'.repeat(200_000) }),
  ],
  [
    'number formats without end',
    'a.xlsx',
    () =>
      xlsx(
        { a: '<row><c s="0"><v>1e308</v></c></row>'.repeat(100_000) },
        {
          'xl/styles.xml': `<s><numFmt numFmtId="200" formatCode="${'#,'.repeat(60)}${'?'.repeat(60)}/${'?'.repeat(60)}"/><cellXfs><xf numFmtId="200"/></cellXfs></s>`,
        },
      ),
  ],
  [
    '10^10 empty cells',
    'a.ods',
    () =>
      odf(
        'spreadsheet',
        '<table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>',
      ),
  ],
  [
    '10^10 cells with text',
    'a.ods',
    () =>
      odf(
        'spreadsheet',
        '<table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table>',
      ),
  ],
  [
    'a billion spaces',
    'a.odt',
    () => odf('text', `<text:p>${'<text:s text:c="1000000000"/>'.repeat(10_000)}</text:p>`),
  ],
  ['10,000 pages', 'a.pdf', () => pdf(Array<string>(10_000).fill(one))],
  [
    'a number of pages that there are not',
    'a.pdf',
    () => Buffer.from(pdf([one]).toString('latin1').replace('/Count 1', '/Count 1999'), 'latin1'),
  ],
  [
    'pages that are their own parents',
    'a.pdf',
    () => Buffer.from(pdf([one]).toString('latin1').replace('/Kids [4 0 R]', '/Kids [2 0 R]'), 'latin1'),
  ],
  [
    'an xref that goes back to itself',
    'a.pdf',
    () => Buffer.from(pdf([one]).toString('latin1').replace('/Root', '/Prev 20 /Root'), 'latin1'),
  ],
  [
    'no xref',
    'a.pdf',
    () =>
      Buffer.from(
        pdf([one])
          .toString('latin1')
          .replace(/startxref\n\d+/, 'startxref\n99999999'),
        'latin1',
      ),
  ],
  ['only the beginning of a PDF', 'a.pdf', () => pdf([one]).subarray(0, 400)],
  [
    'a form that draws itself',
    'a.pdf',
    () =>
      pdf(['/X Do '.repeat(100)], {
        objects: [
          stream(
            Buffer.from('/X Do /X Do'),
            '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>',
          ),
        ],
        resources: '<< /XObject << /X 4 0 R >> >>',
      }),
  ],
  [
    'a bomb in a PDF',
    'a.pdf',
    () =>
      pdf(['/X Do'], {
        objects: [
          stream(
            deflateSync(Buffer.alloc(SPACES, ' '), { level: 1 }),
            '/Filter /FlateDecode /Type /XObject /Subtype /Form /BBox [0 0 9 9]',
          ),
        ],
        resources: '<< /XObject << /X 4 0 R >> >>',
      }),
  ],
  [
    'filters on filters',
    'a.pdf',
    () =>
      pdf(['/X Do'], {
        objects: [
          stream(
            deflateSync(deflateSync(Buffer.alloc(200 * MIB))),
            '/Filter [/FlateDecode /FlateDecode] /Type /XObject /Subtype /Form /BBox [0 0 9 9]',
          ),
        ],
        resources: '<< /XObject << /X 4 0 R >> >>',
      }),
  ],
  ['arrays in arrays', 'a.pdf', () => pdf(['['.repeat(1_000_000)])],
  [
    'a million texts on a page',
    'a.pdf',
    () =>
      pdf([
        Array.from({ length: 300_000 }, (_, n) => `1 0 0 1 ${n % 500} ${n % 800} Tm (x) Tj`)
          .join('\n')
          .replace(/^/, 'BT /F1 9 Tf ')
          .concat(' ET'),
      ]),
  ],
  [
    'a font whose characters have names without end',
    'a.pdf',
    () =>
      pdf([one], {
        objects: [
          stream(Buffer.from(`begincmap ${'<0000> <ffff> <0041> '.repeat(200_000)} endbfrange`)),
          '<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /ToUnicode 4 0 R /DescendantFonts [6 0 R] >>',
          '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>',
        ],
        resources: '<< /Font << /F1 5 0 R >> >>',
      }),
  ],
  [
    'a font that is made of itself',
    'a.pdf',
    () =>
      pdf([one], {
        objects: [
          '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 0 /LastChar 255 /Encoding << /Differences [120 /x] >> /CharProcs << /x 5 0 R >> /Resources << /Font << /F1 4 0 R >> >> >>',
          stream(Buffer.from(one)),
        ],
        resources: '<< /Font << /F1 4 0 R >> >>',
      }),
  ],
  [
    'a broken font',
    'a.pdf',
    () =>
      pdf([one], {
        objects: [
          '<< /Type /Font /Subtype /TrueType /BaseFont /A /FontDescriptor 5 0 R >>',
          '<< /Type /FontDescriptor /FontName /A /Flags 4 /FontFile2 6 0 R >>',
          stream(Buffer.concat([Buffer.from('0001000000ff', 'hex'), Buffer.alloc(5_000, 0xff)])),
        ],
        resources: '<< /Font << /F1 4 0 R >> >>',
      }),
  ],
  ['groups in groups', 'a.rtf', () => `{\\rtf1 ${'{'.repeat(1_000_000)}`],
  [
    'a million characters with a billion replacements',
    'a.rtf',
    () => `{\\rtf1 ${'\\uc100\\u20013 ?'.repeat(500_000)}}`,
  ],
  ['20 MB of controls', 'a.rtf', () => `{\\rtf1 ${'\\b\\b0'.repeat(4_000_000)}}`],
  ['a picture without end', 'a.rtf', () => `{\\rtf1 {\\pict ${'\\bin1 x'.repeat(1_000_000)}`],
  ['elements in elements', 'a.html', () => '<div>'.repeat(1_000_000)],
  [
    'rules for everything',
    'a.html',
    () =>
      `<style>${Array.from({ length: 20_000 }, (_, n) => `* + * > .a${n} * {color:red}`).join('')}</style>${'<i>x</i>'.repeat(20_000)}`,
  ],
  ['mails in mails', 'a.eml', () => nestedMail(2_000)],
  [
    'parts in parts',
    'a.eml',
    () =>
      Array.from(
        { length: 3_000 },
        (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
      ).join(''),
  ],
  ['a header of 20 MB', 'a.eml', () => `Subject: x\r\n${'X-A: b\r\n'.repeat(2_500_000)}\r\nend`],
  [
    '20,000 meetings',
    'a.ics',
    () =>
      `BEGIN:VCALENDAR\n${'BEGIN:VEVENT\nSUMMARY:x\nDTSTART;TZID=Z:20260101T000000\nEND:VEVENT\n'.repeat(20_000)}END:VCALENDAR`,
  ],
  [
    'a contact on one line of 20 MB',
    'a.vcf',
    () => `BEGIN:VCARD\nNOTE${';A=B'.repeat(2_500_000)}:${'=0A'.repeat(2_500_000)}\nEND:VCARD`,
  ],
  ['20 MB of spaces', 'a.txt', () => ' '.repeat(20 * MIB)],
  ['20 MB of line breaks', 'a.csv', () => '\r'.repeat(20 * MIB)],
]
