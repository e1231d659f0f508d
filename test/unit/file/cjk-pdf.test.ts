import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { readFileText } from '../../../src/mail/file/read-file.ts'
import { pdf } from '../../support/documents.ts'

/** PDFs in Chinese, Japanese and Korean whose fonts name tables of characters that only the package has. */

const utf16 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex')

const page = (encoding: string, ordering: string, hex: string): Buffer =>
  pdf([`BT /F1 12 Tf 72 700 Td <${hex}> Tj ET`], {
    objects: [
      `<< /Type /Font /Subtype /Type0 /BaseFont /Serif /Encoding /${encoding} /DescendantFonts [5 0 R] >>`,
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Serif /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /FontDescriptor 6 0 R >>`,
      '<< /Type /FontDescriptor /FontName /Serif /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
    ],
    resources: '<< /Font << /F1 4 0 R >> >>',
  })

test.each([
  ['GBK-EUC-H', 'GB1', iconv.encode('发票 合计', 'gbk').toString('hex'), '发票 合计'],
  ['UniGB-UCS2-H', 'GB1', utf16('发票合计'), '发票合计'],
  ['UniGB-UTF16-H', 'GB1', utf16('订单编号'), '订单编号'],
  ['ETen-B5-H', 'CNS1', iconv.encode('發票 總計', 'big5').toString('hex'), '發票 總計'],
  ['UniCNS-UTF16-H', 'CNS1', utf16('統一發票'), '統一發票'],
  ['90ms-RKSJ-H', 'Japan1', iconv.encode('請求書 合計', 'shift_jis').toString('hex'), '請求書 合計'],
  ['EUC-H', 'Japan1', iconv.encode('見積書', 'euc-jp').toString('hex'), '見積書'],
  ['UniJIS-UTF16-H', 'Japan1', utf16('お支払い金額'), 'お支払い金額'],
  ['KSCms-UHC-H', 'Korea1', iconv.encode('청구서 합계', 'cp949').toString('hex'), '청구서 합계'],
  ['UniKS-UTF16-H', 'Korea1', utf16('세금계산서'), '세금계산서'],
  // By the numbers of the characters, of which 842 to 924 are hiragana.
  ['Identity-H', 'Japan1', '034A034C034E', undefined],
])('%s of Adobe-%s', async (encoding, ordering, hex, text) => {
  const content = page(encoding, ordering, hex)
  const found = await readFileText({ name: 'a.pdf', type: 'application/pdf', content })
  if (text === undefined) expect(found.text).toMatch(/^\p{Script=Hiragana}{3}$/u)
  else expect(found).toMatchObject({ format: 'pdf', text })
})
