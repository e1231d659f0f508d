import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { plainRtf, tnef } from '../../support/tnef.ts'

const read = (raw: string | Buffer) => parseMail(Buffer.from(raw))
const lines = (bytes: Buffer) => bytes.toString('base64').replace(/.{76}/g, '$&\r\n')

/** Encodes one BER value, with a definite length. */
const ber = (tag: number, ...content: Buffer[]): Buffer => {
  const value = Buffer.concat(content)
  const length = value.length < 128 ? [value.length] : [0x82, value.length >> 8, value.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), value])
}
const open = (tag: number, ...content: Buffer[]) =>
  Buffer.concat([Buffer.from([tag, 0x80]), ...content, Buffer.from([0, 0])])
const oid = (last: number) => Buffer.from([0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, last])

/** SignedData (RFC 5652 5.1), as OpenSSL writes it, or with indefinite lengths and in pieces as Outlook does. */
const signed = (inner: string, streamed = false) => {
  const [wrap, bytes] = [streamed ? open : ber, Buffer.from(inner)]
  const octets = streamed
    ? open(0x24, ber(0x04, bytes.subarray(0, 40)), ber(0x04, bytes.subarray(40)))
    : ber(0x04, bytes)
  const encapsulated = wrap(0x30, oid(1), wrap(0xa0, octets))
  const data = wrap(0x30, Buffer.from([0x02, 0x01, 0x01]), ber(0x31), encapsulated, ber(0x31))
  return wrap(0x30, oid(2), wrap(0xa0, data))
}
const smime = (content: Buffer, type = 'application/pkcs7-mime; smime-type=signed-data; name=smime.p7m') =>
  `From: a@x.com\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(content)}\r\n`

describe('S/MIME', () => {
  const inner =
    'Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße from inside\r\n--i\r\nContent-Type: image/png; name=a.png\r\n\r\nxx\r\n--i--\r\n'

  test.each([
    ['DER', signed(inner)],
    ['indefinite lengths and pieces', signed(inner, true)],
  ])('signed opaquely is unwrapped: %s', async (_, content) => {
    const { text, attachments } = await read(smime(content))
    expect(text).toBe('Grüße from inside')
    expect(attachments.map(({ name }) => name)).toEqual(['a.png', 'smime.p7m'])
  })

  test.each(['application/x-pkcs7-mime', 'application/octet-stream; name=smime.p7m'])(
    'is recognised as %s',
    async (type) => expect((await read(smime(signed(inner), type))).text).toBe('Grüße from inside'),
  )

  test('signed twice is unwrapped', async () => {
    const twice = smime(signed(inner)).replace('From: a@x.com\r\n', '')
    expect((await read(smime(signed(twice)))).text).toBe('Grüße from inside')
  })

  test('that is encrypted says so, as PGP does', async () => {
    const enveloped = ber(0x30, oid(3), ber(0xa0, ber(0x30)))
    expect(
      (await read(smime(enveloped, 'application/pkcs7-mime; smime-type=enveloped-data'))).text,
    ).toContain('encrypted')
    const pgp =
      'From: a@x.com\r\nContent-Type: multipart/encrypted; boundary=b\r\n\r\n--b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n--b--\r\n'
    expect((await read(pgp)).text).toContain('encrypted')
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['a truncated signature', signed(inner).subarray(0, 60)],
    ['values nested ten thousand times', Buffer.alloc(20_000, Buffer.from([0x30, 0x80]))],
    [
      'a detached signature',
      ber(0x30, oid(2), ber(0xa0, ber(0x30, Buffer.from([2, 1, 1]), ber(0x31), ber(0x30, oid(1))))),
    ],
  ])('that cannot be read stays attached: %s', async (_, content) => {
    const { text, damage } = await read(smime(content))
    expect([text, damage]).toEqual(['', null])
  })
})

const RTF =
  "{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss\\fcharset0 Arial;}{\\f1\\fnil\\fcharset204 Arial CYR;}}\r\n{\\colortbl ;\\red0\\green0\\blue255;}{\\stylesheet{\\s0 Normal;}}{\\info{\\author Ann}{\\title Secret}}{\\*\\generator Riched20;}\\viewkind4\\uc1\\pard\\f0\\fs20 Hello \\b world\\b0 , Gr\\'fc\\'dfe \\u8364?\\par Second\\tab line\\line third \\f1\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2\\f0\\par {\\field{\\*\\fldinst{HYPERLINK \"http://x.com\"}}{\\fldrslt{\\ul link}}}{\\pict\\wmetafile8 0102ff}{\\v hidden}\\v too\\v0{\\header head} \\{end\\}\\par}"

test('a winmail.dat with a document in RTF has its text, without metadata, pictures and hidden text', async () => {
  const raw = `From: a@x.com\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(tnef({ rtf: plainRtf(RTF) }))}\r\n`
  expect((await read(raw)).text).toBe('Hello world, Grüße €\nSecond\tline\nthird Привет\nlink {end}')
})

describe('a base64 body', () => {
  const body = (text: string, after: string, width = 76) =>
    `From: a@x.com\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(
      text,
    )
      .toString('base64')
      .replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n')}\r\n${after}`
  const long = 'Grüße an alle, die das hier lesen. '.repeat(7)

  test.each([
    [
      'a footer',
      '_______________________________________________\r\nlist mailing list\r\nlist@x.com\r\nhttps://x.com/list\r\n',
    ],
    ['a word', 'unsubscribe\r\n'],
    ['two words', 'Sent from\r\n'],
    ['a note of a virus scanner', '\r\n-- \r\nThis message was scanned for viruses.\r\n'],
    ['an advertisement', 'Get mail now!\r\n'],
  ])('ends before %s', async (_, after) => {
    for (const text of [`${long}!`, `${long}!!`, long, 'Grüße', 'ä'])
      expect((await read(body(text, after))).text).toBe(text.trim())
  })

  test('is read whole if every line is padded, or has blanks around it', async () => {
    const padded = ['Grüße ', 'an alle', ', und mehr davon'].map((line) =>
      Buffer.from(line).toString('base64'),
    )
    const head =
      'From: a@x.com\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    expect((await read(head + padded.join('\r\n'))).text).toBe('Grüße an alle, und mehr davon')
    expect((await read(`${head}  ${padded.join('  \r\n \r\n ')}  `)).text).toBe(
      'Grüße an alle, und mehr davon',
    )
  })

  test('may have lines of any length', async () => {
    for (const width of [4, 60, 64, 72, 1_000])
      expect((await read(body(long, '', width))).text).toBe(long.trim())
  })
})

describe('a multipart', () => {
  const multipart = (type: string, ...parts: string[]) =>
    `From: a@x.com\r\nContent-Type: multipart/${type}; boundary=b\r\n\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
  const text = (words: string, type = 'text/plain') => `Content-Type: ${type}\r\n\r\n${words}`

  test('with nothing but a closing boundary has its raw body as text', async () => {
    const raw =
      'From: a@x.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nsome words\r\nand more\r\n--b--\r\nafter\r\n'
    expect((await read(raw)).text).toContain('some words\nand more')
  })

  test.each([
    [[text('plain'), text('# mark', 'text/markdown')], 'plain'],
    [[text('# mark', 'text/markdown'), text('plain')], 'plain'],
    [[text('plain'), text('second')], 'plain'],
    [[text(''), text('# mark', 'text/x-markdown')], '# mark'],
    [[text('plain'), text('<b>html</b>', 'text/html')], 'plain'],
  ])('alternative shows the first plain text only', async (parts, expected) => {
    const mail = await read(multipart('alternative', ...parts))
    expect([mail.text, mail.attachments]).toEqual([expected, []])
  })

  // Text that a person reads in the message is its text: mailing lists add their footers as a part, and Apple
  // Mail divides its text around each picture. What the sender named, or declared to be attached, is a file.
  test('mixed joins texts without a name, and attaches those that have one or are declared as attached', async () => {
    const mail = await read(
      multipart(
        'mixed',
        text('first'),
        `Content-Disposition: inline\r\n${text('second')}`,
        `Content-Disposition: attachment\r\n${text('third')}`,
        `Content-Disposition: inline; filename=log.txt\r\n${text('fourth')}`,
      ),
    )
    expect(mail.text.split(/\n+/)).toEqual(['first', 'second', 'fourth'])
    expect(mail.attachments).toHaveLength(1)
  })
})

// The word is no address that could be answered or proven, so that it only shows who is meant.
test('a From without a domain is shown as a name', async () => {
  expect((await read('From: <moderator>\r\n\r\nx')).from).toEqual({ address: '', name: 'moderator' })
  expect((await read('From: The Moderator <moderator>\r\n\r\nx')).from).toEqual({
    address: '',
    name: 'The Moderator',
  })
})
