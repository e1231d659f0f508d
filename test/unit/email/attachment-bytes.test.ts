import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Budget } from '../../../src/mail/decode/time-budget.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { qp } from '../../support/encodings.ts'

/** Attachments are stored byte for byte, in whatever form they are sent. */

interface Form {
  encoding: string
  type?: string
  /** Line ends of the message around the attachment. */
  newline?: string
}

const bytesOf = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))

/** A message whose second part has this body, before the line end of the boundary. */
const withAttachment = (
  body: Buffer | string,
  { encoding, type = 'application/pdf', newline = '\r\n' }: Form,
) => {
  const lines = (...all: string[]) => all.map((line) => `${line}${newline}`).join('')
  return bytesOf(
    lines('From: ann@example.com', 'Subject: file', 'MIME-Version: 1.0'),
    lines(
      'Content-Type: multipart/mixed; boundary=edge',
      '',
      '--edge',
      'Content-Type: text/plain',
      '',
      'See.',
    ),
    lines('--edge', `Content-Type: ${type}`, `Content-Transfer-Encoding: ${encoding}`),
    lines('Content-Disposition: attachment; filename=file.bin', ''),
    body,
    `${newline}${lines('--edge--')}`,
  )
}

const read = async (raw: Buffer) => {
  const { attachments, text, damage } = await parseMail(raw, new Budget(60_000))
  return { contents: attachments.map(({ content }) => Buffer.from(content).toString('latin1')), text, damage }
}

const MAIL = 'From: bob@example.org\r\nSubject: inner\r\nContent-Type: text/plain\r\n\r\nHello'

/** The body as it is sent, and the bytes of the attachment. */
const FORMS: [name: string, form: Form, body: string, content: string][] = [
  ['7bit without a final line end', { encoding: '7bit' }, 'a,b', 'a,b'],
  ['7bit with CRLF', { encoding: '7bit' }, 'a,b\r\nc,d\r\n', 'a,b\r\nc,d\r\n'],
  ['7bit with LF', { encoding: '7bit', newline: '\n' }, 'a,b\nc,d\n', 'a,b\nc,d\n'],
  ['7bit with LF in a message with CRLF', { encoding: '7bit' }, 'a,b\nc,d\n', 'a,b\nc,d\n'],
  ['7bit of several empty lines', { encoding: '7bit' }, '\r\n\r\n', '\r\n\r\n'],
  ['7bit of nothing', { encoding: '7bit' }, '', ''],
  ['8bit with spaces at the ends', { encoding: '8bit' }, ' K\xe4se \t\r\n3 ', ' K\xe4se \t\r\n3 '],
  ['binary with bare carriage returns', { encoding: 'binary' }, 'a\rb\r\r\n\0c\r', 'a\rb\r\r\n\0c\r'],
  ['quoted-printable', { encoding: 'quoted-printable' }, '%PDF=0D=0A=FF=00=\r\nx=0A', '%PDF\r\n\xff\0x\n'],
  ['quoted-printable text', { encoding: 'quoted-printable' }, 'a=3Db  \r\nc=  \r\nd\r\n', 'a=b\r\ncd\r\n'],
  ['quoted-printable with LF', { encoding: 'quoted-printable', newline: '\n' }, 'a\nb=\nc', 'a\nbc'],
  ['base64', { encoding: 'base64' }, 'YSxiDQo=', 'a,b\r\n'],
  ['base64 in lines', { encoding: 'base64' }, 'YSxi\r\nDQpj\r\n', 'a,b\r\nc'],
  ['a message', { encoding: '7bit', type: 'message/rfc822' }, MAIL, MAIL],
  [
    'a message with a final line end',
    { encoding: '8bit', type: 'message/rfc822' },
    `${MAIL}\r\n`,
    `${MAIL}\r\n`,
  ],
  ['no encoding that is known', { encoding: 'x-none' }, 'a\r\n--edges\r\nb', 'a\r\n--edges\r\nb'],
]

describe('an attachment is stored byte for byte', () => {
  test.each(FORMS)('%s', async (_, form, body, content) => {
    const mail = await read(withAttachment(body, form))
    expect(mail).toMatchObject({ contents: [content], damage: null })
    expect(mail.text.startsWith('See.')).toBe(true)
  })

  const newline = fc.constantFrom('\r\n', '\n')
  // Bytes that a line may contain, and more line ends and signs of the encodings than chance would give.
  const content = fc
    .array(
      fc.oneof(
        fc.uint8Array({ maxLength: 90 }),
        fc.constantFrom('\r\n', '\n', '\r', '=', ' ', '--', '--edge-'),
      ),
    )
    .map((pieces) =>
      bytesOf(...pieces.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece)))),
    )

  test('whatever its bytes are', async () => {
    await fc.assert(
      fc.asyncProperty(content, newline, async (bytes, lineEnd) => {
        const base64 = bytes.toString('base64').replace(/(.{76})(?=.)/g, `$1${lineEnd}`)
        // Nobody can tell whether this is the boundary's CRLF or its LF.
        fc.pre(lineEnd === '\r\n' || bytes.at(-1) !== 0x0d)
        const expected = [bytes.toString('latin1')]
        for (const [encoding, body] of [
          ['base64', base64],
          ['quoted-printable', qp(bytes, lineEnd)],
          ['binary', bytes],
        ] as const) {
          const raw = withAttachment(body, { encoding, newline: lineEnd })
          expect([encoding, (await read(raw)).contents]).toEqual([encoding, expected])
        }
      }),
      { numRuns: 150 },
    )
  })

  test('when the message ends without a boundary, with its last line end', async () => {
    const whole = withAttachment('a,b\r\n', { encoding: '7bit' })
    const cut = whole.subarray(0, whole.indexOf('--edge--'))
    expect((await read(cut)).contents).toEqual(['a,b\r\n\r\n'])
    const alone = bytesOf('Content-Type: application/pdf\r\n\r\n%PDF\r\n')
    expect((await read(alone)).contents).toEqual(['%PDF\r\n'])
  })

  test('when an enclosing boundary ends it', async () => {
    const inner = withAttachment('a,b', { encoding: '7bit' })
    const cut = inner.subarray(inner.indexOf('Content-Type'), inner.indexOf('--edge--') - 2)
    const raw = bytesOf(
      'Content-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\n',
      cut,
      '\r\n--outer\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n--outer--\r\n',
    )
    expect((await read(raw)).contents).toEqual(['a,b', '\x89PNG'])
  })
})
