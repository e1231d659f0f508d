import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'

const part = async (charset: string, body: Uint8Array, subject: Uint8Array = Buffer.from('s')) =>
  parseMail(
    Buffer.concat([
      Buffer.from('From: a@x.com\r\nSubject: '),
      subject,
      Buffer.from(
        `\r\nContent-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`,
      ),
      body,
    ]),
  )
const CHINESE = '您好，这是一封测试邮件。谢谢！'
const TRADITIONAL = '您好，這是一封測試郵件。謝謝！'
const JAPANESE = 'こんにちは。これは試験のメールです。'
const KOREAN = '안녕하세요. 시험 메일입니다.'
const RUSSIAN = 'Здравствуйте, это проверка.'
const POLISH = 'Dzień dobry, zażółć gęślą jaźń.'

describe('the bytes refute the label', () => {
  test.each([
    'gb2312',
    'gbk',
    'big5',
    'euc-kr',
    'ks_c_5601-1987',
    'shift_jis',
    'euc-jp',
    'koi8-r',
    'koi8-u',
    'iso-8859-2',
    'iso-8859-5',
    'iso-8859-15',
    'windows-1250',
    'windows-1251',
    'windows-1256',
    'iso-2022-jp',
    'iso-2022-kr',
    'hz-gb-2312',
    'utf-7',
    'cp850',
    'us-ascii',
  ])('UTF-8 under %s', async (charset) => {
    for (const text of [CHINESE, JAPANESE, `${RUSSIAN} ${CHINESE}`, 'Un café crème, naïve façade'])
      expect((await part(charset, Buffer.from(text))).text).toBe(text)
  })
  test.each(['koi8-r', 'iso-8859-2', 'windows-1251', 'iso-8859-1'])(
    'UTF-8 in two bytes under %s',
    async (charset) => {
      for (const text of [RUSSIAN, POLISH, 'Ünïcödé'])
        expect((await part(charset, Buffer.from(text))).text).toBe(text)
    },
  )
  test.each([
    ['iso-2022-jp', 'shift_jis', JAPANESE],
    ['iso-2022-jp', 'euc-jp', JAPANESE],
    ['ISO-2022-JP', 'utf-8', JAPANESE],
    ['csISO2022JP', 'shift_jis', JAPANESE],
    ['iso-2022-kr', 'euc-kr', KOREAN],
    ['hz-gb-2312', 'gb18030', CHINESE],
  ])('8-bit text under %s: %s', async (label, charset, text) =>
    expect((await part(label, iconv.encode(text, charset))).text).toBe(text),
  )
})

describe('the label is right', () => {
  test.each([
    ['gb2312', CHINESE],
    ['gb2312', '目录'],
    ['gb18030', '目'],
    ['big5', TRADITIONAL],
    ['euc-kr', KOREAN],
    ['shift_jis', JAPANESE],
    ['shift_jis', 'ﾂｱﾃｱ'],
    ['euc-jp', JAPANESE],
    ['koi8-r', RUSSIAN],
    ['koi8-r', 'Да'],
    ['windows-1251', RUSSIAN],
    ['iso-8859-2', POLISH],
    ['windows-1250', POLISH],
    ['iso-8859-5', RUSSIAN],
    ['windows-1253', 'Καλημέρα σας'],
    ['windows-1255', 'שלום עולם'],
    ['windows-1256', 'مرحبا بالعالم'],
    ['windows-874', 'สวัสดีครับ'],
    ['iso-8859-1', 'Grüße, élan'],
  ])('%s: %s', async (charset, text) =>
    expect((await part(charset, iconv.encode(text, charset))).text).toBe(text),
  )
})

describe('a raw subject is in the charset of the body', () => {
  test.each([
    ['gb2312', '关于会议的通知'],
    ['gbk', '您好'],
    ['big5', '關於會議的通知'],
    ['koi8-r', 'Привет из Москвы'],
    ['windows-1251', 'Привет'],
    ['euc-kr', '회의 안내'],
    ['shift_jis', '会議のお知らせ'],
    ['iso-8859-2', 'Zażółć'],
    ['iso-8859-1', 'Grüße'],
  ])('%s', async (charset, subject) =>
    expect((await part(charset, Buffer.from('x'), iconv.encode(subject, charset))).subject).toBe(subject),
  )

  test('also if only a part declares it, and in the display name if the charset leaves ASCII alone', async () => {
    const raw = Buffer.concat([
      Buffer.from('From: '),
      iconv.encode('Иван', 'koi8-r'),
      Buffer.from(' <ivan@x.ru>\r\nSubject: '),
      iconv.encode('Привет', 'koi8-r'),
      Buffer.from(
        '\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset="koi8-r"\r\n\r\nx\r\n--b--\r\n',
      ),
    ])
    expect(await parseMail(raw)).toMatchObject({
      subject: 'Привет',
      from: { name: 'Иван', address: 'ivan@x.ru' },
    })
  })

  test('but an address never changes with it', async () => {
    const raw = Buffer.concat([
      Buffer.from('From: '),
      Buffer.from([0xa4, 0x40, 0xa4]),
      Buffer.from('<evil@x.com>\r\nContent-Type: text/plain; charset=big5\r\n\r\nx'),
    ])
    expect((await parseMail(raw)).from.address).toBe('evil@x.com')
  })
})

describe('a character divided over two encoded words', () => {
  const divided = (charset: string, text: string, at: number, glue = ' ') => {
    const bytes = iconv.encode(text, charset)
    const word = (piece: Uint8Array) => `=?${charset}?B?${Buffer.from(piece).toString('base64')}?=`
    return `${word(bytes.subarray(0, at))}${glue}${word(bytes.subarray(at))}`
  }
  test.each([
    ['utf-8', '会议通知', 4],
    ['gb2312', '会议通知', 3],
    ['gbk', '会议通知', 5],
    ['big5', '會議通知', 3],
    ['euc-kr', '회의 안내', 1],
    ['shift_jis', '会議のお知らせ', 5],
    ['windows-1251', 'Привет', 3],
  ])('is joined: %s', async (charset, subject, at) => {
    for (const glue of [' ', '\r\n ', '\r\n\t'])
      expect(
        (await part('utf-8', Buffer.from('x'), Buffer.from(divided(charset, subject, at, glue)))).subject,
      ).toBe(subject)
  })

  test('is joined if the encodings differ', async () => {
    const subject = Buffer.from('=?utf-8?B?5Lya6A==?= =?UTF-8?Q?=AE=AE?= and =?utf-8?Q?more?=')
    expect((await part('utf-8', Buffer.from('x'), subject)).subject).toBe('会议 and more')
  })

  test('words that are complete are not changed', async () => {
    const subject = Buffer.from(
      '=?iso-2022-jp?B?GyRCMnE1RBsoQg==?=\r\n =?iso-2022-jp?B?GyRCRExDThsoQg==?= =?us-ascii?Q?a_b?=',
    )
    expect((await part('utf-8', Buffer.from('x'), subject)).subject).toBe('会議通知a b')
  })
})
