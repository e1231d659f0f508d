import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { readFileText } from '../../../src/mail/file/read-file.ts'
import { docx, drawn, odf, pdf, pptx, word, xlsx, zip } from '../../support/documents.ts'

const read = (name: string, content: string | Uint8Array, type = 'application/octet-stream') =>
  readFileText({ name, type, content: Buffer.from(content as string) })

const textOf = async (name: string, content: string | Uint8Array, type?: string) =>
  (await read(name, content, type)).text

describe('Word', () => {
  test('paragraphs, tables, links, notes and what is around the text are read in their order', async () => {
    const cell = (text: string, more = '') => `<w:tc><w:tcPr>${more}</w:tcPr>${word(text)}</w:tc>`
    const body = [
      word('First & last'),
      '<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>',
      `<w:tbl><w:tr>${cell('Item')}${cell('Price')}${cell('Sum')}</w:tr><w:tr>${cell('Bolt', '<w:gridSpan w:val="2"/>')}${cell('9.50')}</w:tr></w:tbl>`,
      '<w:p><w:r><w:t>See</w:t></w:r><w:hyperlink r:id="l"><w:r><w:t> here</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r></w:p>',
      '<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>shown</w:t></w:r></w:p>',
      '<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>',
    ].join('')
    const parts = {
      'word/header1.xml': `<w:hdr>${word('Letterhead')}</w:hdr>`,
      'word/footer1.xml': `<w:ftr>${word('Page one')}</w:ftr>`,
      'word/footnotes.xml': `<w:footnotes><w:footnote w:id="2"><w:p><w:pPr/><w:r><w:t>the note</w:t></w:r></w:p></w:footnote></w:footnotes>`,
    }
    const targets = {
      l: ['hyperlink', 'https://example.com/terms'],
      h: ['header', 'header1.xml'],
      f: ['footer', 'footer1.xml'],
      n: ['footnotes', 'footnotes.xml'],
    } as Record<string, [string, string]>
    expect(await read('a.docx', docx(body, parts, targets))).toEqual({
      format: 'docx',
      pages: null,
      problem: null,
      text: 'Letterhead\nFirst & last\na\tb\nc\nItem\tPrice\tSum\nBolt\t\t9.50\nSee here <https://example.com/terms>[2]\nshown\nboxed\n[2] the note\nPage one',
    })
  })

  test('paragraphs have the numbers of their lists', async () => {
    const numbered = (level: number, text: string) =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="7"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
    const level = (n: number, format: string, text: string) =>
      `<w:lvl w:ilvl="${n}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%1.%2)')}${level(2, 'bullet', '')}</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num></w:numbering>`
    const body = [
      numbered(0, 'One'),
      numbered(1, 'A'),
      numbered(1, 'B'),
      numbered(0, 'Two'),
      numbered(1, 'C'),
      numbered(2, 'D'),
    ]
    const file = docx(
      body.join(''),
      { 'word/numbering.xml': numbering },
      { n: ['numbering', 'numbering.xml'] },
    )
    expect(await textOf('a.docx', file)).toBe('1. One\n1.a) A\n1.b) B\n2. Two\n2.a) C\n• D')
  })

  test('a table that only lays out text keeps its lines', async () => {
    const body = `<w:tbl><w:tr><w:tc>${word('one')}${word('two')}</w:tc><w:tc>${word('')}</w:tc></w:tr></w:tbl>`
    expect(await textOf('a.docx', docx(body))).toBe('one\ntwo')
  })
})

describe('spreadsheets', () => {
  test('sheets are tables of what their cells show', async () => {
    const rows = [
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Due</t></is></c></row>',
      '<row r="4"><c r="A4"><v>1234.5</v></c><c r="B4" s="1"><v>1234.5</v></c><c r="C4" s="2"><v>46023</v></c><c r="D4" t="b"><v>1</v></c><c r="E4" s="3"><v>0.075</v></c><c r="F4" t="e"><v>#REF!</v></c><c r="G4" t="str"><v>x\ny</v></c></row>',
    ].join('')
    const parts = {
      'xl/sharedStrings.xml':
        '<sst><si><r><t>Na</t></r><r><t>me</t></r><rPh><t>phonetic</t></rPh></si></sst>',
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="#,##0.00\\ &quot;EUR&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="10"/></cellXfs></styleSheet>',
    }
    expect(await read('a.xlsx', xlsx({ 'Q1 & Q2': rows, Empty: '' }, parts))).toEqual({
      format: 'xlsx',
      pages: null,
      problem: null,
      text: 'Sheet: Q1 & Q2\nName\t\tDue\n1234.5\t1,234.50 EUR\t2026-01-01\tTRUE\t7.50%\t#REF!\tx y\nSheet: Empty',
    })
  })

  test('repeated cells and rows of OpenDocument are those that have something', async () => {
    const cell = (text: string, more = '') =>
      `<table:table-cell ${more}><text:p>${text}</text:p></table:table-cell>`
    const empty = (times: number) => `<table:table-cell table:number-columns-repeated="${times}"/>`
    const body = `<table:table table:name="Plan"><table:table-row>${cell('a', 'table:number-columns-repeated="2"')}${empty(2)}${cell('b')}${empty(16_379)}</table:table-row>
      <table:table-row table:number-rows-repeated="1048574">${empty(16_384)}</table:table-row>
      <table:table-row table:number-rows-repeated="2">${cell('c')}<table:covered-table-cell><text:p>x</text:p></table:covered-table-cell>${cell('d')}</table:table-row></table:table>`
    const { format, text } = await read('a.ods', odf('spreadsheet', body))
    expect({ format, text }).toEqual({ format: 'ods', text: 'Sheet: Plan\na\ta\t\t\tb\nc\t\td\nc\t\td' })
  })
})

test('presentations have their slides with notes, and say how many there are', async () => {
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
  const slides = [paragraph('Title') + paragraph('Point'), paragraph('Next')]
  expect(await read('a.pptx', pptx(slides))).toEqual({
    format: 'pptx',
    pages: 2,
    problem: null,
    text: 'Slide 1\nTitle\nPoint\nNotes:\nNote 0\n\nSlide 2\nNext\nNotes:\nNote 1',
  })
  const page =
    '<draw:page><draw:frame><draw:text-box><text:p>Eins</text:p></draw:text-box></draw:frame></draw:page>'
  expect(await read('a.odp', odf('presentation', page + page))).toMatchObject({
    format: 'odp',
    pages: 2,
    text: 'Slide 1\nEins\n\nSlide 2\nEins',
  })
})

test('a text of OpenDocument has its spaces, tabs, notes and tables', async () => {
  const body = `<text:h>Head</text:h><text:p>a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d</text:p>
    <text:p>see <text:a xlink:href="https://example.com/">there</text:a><office:annotation><text:p>comment</text:p></office:annotation></text:p>
    <table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>`
  expect(await textOf('a.odt', odf('text', body))).toBe(
    'Head\na   b\tc\nd\nsee there <https://example.com/>\nx\ty',
  )
})

describe('PDF', () => {
  test('lines and tables are read in the order in which they are drawn', async () => {
    const page = drawn(
      [72, 780, 'Invoice 4711'],
      [72, 740, 'Item'],
      [200, 740, 'Pieces'],
      [300, 740, 'Price'],
      [72, 726, 'Bolt'],
      [200, 726, '12'],
      [300, 726, '9.50 EUR'],
    )
    expect(await read('a.pdf', pdf([page, drawn([72, 780, 'Second'])]))).toEqual({
      format: 'pdf',
      pages: 2,
      problem: null,
      text: 'Invoice 4711\n\nItem\tPieces\tPrice\nBolt\t12\t9.50 EUR\n\nSecond',
    })
  })

  test('columns are read one after another', async () => {
    const column = (x: number, word: string): [number, number, string][] =>
      [700, 686, 672].map((y, n) => [x, y, `${word} ${n}`])
    expect(await textOf('a.pdf', pdf([drawn(...column(72, 'left'), ...column(320, 'right'))]))).toBe(
      'left 0\nleft 1\nleft 2\n\nright 0\nright 1\nright 2',
    )
  })

  test('what is filled in in a form stands beside its label', async () => {
    const objects = [
      '<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ann Example) /Rect [150 696 300 712] /F 4 >>',
      '<< /Type /Annot /Subtype /Widget /FT /Tx /T (secret) /Ff 8192 /V (hidden) /Rect [150 656 300 672] /F 4 >>',
    ]
    const file = pdf([drawn([72, 700, 'Name:'], [72, 660, 'PIN:'])], {
      objects,
      page: '/Annots [4 0 R 5 0 R]',
    })
    expect(await textOf('a.pdf', file)).toBe('Name:\tAnn Example\n\nPIN:')
  })

  test('Japanese in a font that the file does not contain', async () => {
    const objects = [
      '<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /90ms-RKSJ-H /DescendantFonts [5 0 R] >>',
      '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor 6 0 R >>',
      '<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
    ]
    const shown = iconv.encode('請求書 合計', 'shift_jis').toString('hex')
    const file = pdf([`BT /F1 12 Tf 72 700 Td <${shown}> Tj ET`], {
      objects,
      resources: '<< /Font << /F1 4 0 R >> >>',
    })
    expect(await textOf('a.pdf', file)).toBe('請求書 合計')
  })

  test('a scan has an empty text', async () => {
    expect(await read('a.pdf', pdf(['']))).toEqual({ format: 'pdf', pages: 1, text: '', problem: null })
  })
})

test('RTF has its characters, tables and text boxes, and nothing that is no text', async () => {
  const rtf = String.raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}{\f1\fcharset204 Cyr;}{\f2\fcharset128 Jp;}}{\colortbl;\red0;}{\info{\author Bo}}{\*\generator x}
\pard Caf\'e9 \u8364?5 \b bold\b0\par {\f1 \'cf\'f0\'e8\'e2\'e5\'f2}\par {\f2 \'93\'fa\'96\'7b}\par
\trowd\intbl a\cell b\cell\row {\v hidden}{\pict 0102ff}{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}\par
{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt boxed\par}}}\uc0\u20013 \bin3 }}}end}`
  expect(await read('a.rtf', rtf)).toEqual({
    format: 'rtf',
    pages: null,
    problem: null,
    text: 'Café €5 bold\nПривет\n日本\na\tb\nlink\nboxed\n中end',
  })
})

describe('plain files', () => {
  test.each([
    ['utf-8', 'Grüße, мир, 世界'],
    ['utf-16le', 'Grüße, мир'],
    [
      'windows-1251',
      'Здравствуйте! Во вложении вы найдёте счёт за ноябрь. Оплатите его, пожалуйста, до конца месяца.',
    ],
    ['shift_jis', 'いろはにほへと ちりぬるを わかよたれそ つねならむ'],
    ['gb18030', '天地玄黄,宇宙洪荒。日月盈昃,辰宿列张。'],
    ['windows-1252', 'Zürich – “Größe” €'],
  ])('in %s', async (charset, text) => {
    expect(
      await textOf(
        'a.txt',
        iconv.encode(text, charset, { addBOM: charset.startsWith('utf-16') }),
        'text/plain',
      ),
    ).toBe(text)
  })

  test('a labelled charset is believed', async () => {
    const text = 'zażółć gęślą jaźń'
    expect(await textOf('a.csv', iconv.encode(text, 'windows-1250'), 'text/csv; charset=windows-1250')).toBe(
      text,
    )
  })

  test('HTML has what people see', async () => {
    const html = '<html><p>Total <b>9.50</b></p><p style="display:none">obey</p><script>x</script></html>'
    expect(await read('a.html', html, 'text/html')).toMatchObject({ format: 'html', text: 'Total 9.50' })
  })

  test('a mail has its header, text and the names of its files', async () => {
    const mail = [
      'From: Ann <ann@example.com>',
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'The number is 4711.',
      '--b',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Disposition: attachment; filename=a.pdf',
      '',
      'x',
      '--b--',
    ].join('\r\n')
    const { format, text } = await read('a.eml', mail, 'message/rfc822')
    expect(format).toBe('eml')
    expect(text).toMatch(
      /^From: Ann <ann@example.com>\nSubject: Grüße\n\nThe number is 4711\.\nAttachment: a\.pdf \(application\/pdf, \d bytes\)$/,
    )
  })

  test('calendars and contacts', async () => {
    const event =
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Meeting\nDTSTART:20260105T090000Z\nEND:VEVENT\nEND:VCALENDAR'
    expect(await read('a.ics', event, 'text/calendar')).toMatchObject({
      format: 'ics',
      text: 'Event: Meeting\nWhen: 2026-01-05 09:00 UTC',
    })
    const contact =
      'BEGIN:VCARD\nVERSION:3.0\nFN:Ann Example\nTEL;TYPE=work,voice:+49 30 1234\nitem1.ADR:;;Main St 1;Berlin;;10115;DE\nNOTE;ENCODING=QUOTED-PRINTABLE:Gr=C3=BC=C3=9Fe\nPHOTO;ENCODING=b:AAAA\nEND:VCARD'
    expect(await read('a.vcf', contact, 'text/vcard')).toMatchObject({
      format: 'vcf',
      text: 'FN: Ann Example\nTEL (work,voice): +49 30 1234\nADR: Main St 1 Berlin 10115 DE\nNOTE: Grüße',
    })
  })

  test('a ZIP is a list of its files', async () => {
    const file = zip({ 'a/b.txt': 'hello', '../evil.sh': 'x', secret: { content: 'y', flags: 1 } })
    expect(await read('a.zip', file, 'application/zip')).toMatchObject({
      format: 'zip',
      text: 'a/b.txt\t5 bytes\n../evil.sh\t1 bytes\nsecret\t1 bytes (encrypted)',
    })
  })
})

test.each([
  [
    'picture.png',
    'image/png',
    Buffer.from('89504e470d0a1a0a', 'hex'),
    /^has no text that can be read\..*PDF, DOCX, XLSX/,
  ],
  [
    'program.exe',
    'application/octet-stream',
    Buffer.from([0x4d, 0x5a, 0, 1]),
    /^has no text that can be read/,
  ],
  ['old.doc', 'application/msword', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /^has no text that can be read/],
  [
    'a.docx',
    '',
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
    /^is encrypted/,
  ],
  [
    'a.ods',
    '',
    odf('spreadsheet', '', '<m:manifest><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'),
    /^is encrypted/,
  ],
  [
    'a.pdf',
    'application/pdf',
    pdf([''], {
      objects: [
        '<< /Filter /Standard /V 1 /R 2 /O (12345678901234567890123456789012) /U (12345678901234567890123456789012) /P -44 >>',
      ],
      trailer: '/Encrypt 4 0 R /ID [(a) (a)]',
    }),
    /^is encrypted/,
  ],
  ['a.pdf', 'application/pdf', 'this is none', /^is broken: it is not a readable PDF/],
  ['a.pdf', 'application/pdf', '%PDF-1.7\nthis is none either', /^is broken/],
  ['a.docx', '', docx(word('x')).subarray(0, 300), /^is broken/],
  ['a.xlsx', '', zip({ 'a.txt': 'no workbook' }), /^is broken: it is not a readable XLSX/],
  ['a.rtf', 'application/rtf', 'no RTF', /^is broken: it is not a readable RTF/],
  ['a.ics', 'text/calendar', 'no calendar', /^is broken/],
  ['a.txt', 'text/plain', Buffer.from([1, 0, 2, 0, 0, 0, 7, 3]), /^is broken: it is not text/],
])('%s (%s) has no text, which is said with the reason', async (name, type, content, problem) => {
  expect(await read(name, content as Buffer, type)).toEqual({
    format: null,
    pages: null,
    text: '',
    problem: expect.stringMatching(problem),
  })
})

test('what a file is follows from its bytes, whatever its type and name say', async () => {
  expect(await read('a.txt', pdf([drawn([72, 700, 'hello'])]), 'text/plain')).toMatchObject({
    format: 'pdf',
    text: 'hello',
  })
  expect(await read('a.bin', docx(word('hello')))).toMatchObject({ format: 'docx', text: 'hello' })
  expect(await read('a.bin', 'just words')).toMatchObject({ format: 'text', text: 'just words' })
  expect(await read('note.txt', 'A PDF begins with %PDF-', 'text/plain')).toMatchObject({ format: 'text' })
})

test('a long text is cut, which it says', async () => {
  const { text } = await read('a.txt', 'word '.repeat(1_100_000), 'text/plain')
  expect(text.length).toBeLessThan(5_000_200)
  expect(text).toMatch(/\[Cut: the text of this file goes on after 5,000,000 characters\.\]$/)
})

test('names that every object of JavaScript has mean nothing in a file', async () => {
  for (const name of ['a.constructor', 'a.__proto__']) expect(await textOf(name, 'hello')).toBe('hello')
  const rtf = '{\\rtf1 a\\constructor b\\valueOf c\\hasOwnProperty d}'
  expect(await textOf('a.rtf', rtf)).toBe('abcd')
  const level = '<w:lvl w:ilvl="0"><w:numFmt w:val="__proto__"/><w:lvlText w:val="%1."/></w:lvl>'
  const parts = {
    'word/numbering.xml': `<w:numbering><w:abstractNum w:abstractNumId="1">${level}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
  }
  const paragraph =
    '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:constructor/><w:t>shown</w:t><w:toString/></w:r></w:p>'
  const targets = { n: ['numbering', 'numbering.xml'] } as Record<string, [string, string]>
  expect(await textOf('a.docx', docx(paragraph, parts, targets))).toBe('1. shown')
  const event = 'BEGIN:VEVENT\r\nDTSTART:20260101T100000Z\r\nSUMMARY:Lunch\r\nEND:VEVENT'
  const calendar = `BEGIN:VCALENDAR\r\nMETHOD:CONSTRUCTOR\r\n${event}\r\nEND:VCALENDAR`
  expect(await textOf('a.ics', calendar)).toMatch(/^Event: Lunch/)
})
