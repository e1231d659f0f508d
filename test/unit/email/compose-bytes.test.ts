import MailComposer from 'nodemailer/lib/mail-composer'
import { expect, test } from 'vitest'
import { build } from '../../../src/mail/send/build.ts'
import { seeded } from '../../chaos/seeded.ts'

const { below, pick } = seeded(1)

/** What texts, subjects and names are made of, with what encodings and line ends treat specially. */
const PIECES = [
  ...['', ' ', '\t', '\r', '\n', '\r\n', '.', '\r\n.\r\n', '\n.', ' \n', '\t\r\n', '=', '=20', '--', 'From '],
  ...['a', 'word ', 'Grüße', 'é', '你好', '😀', 'Привет ', '\ud800', '\0', '\x7f', 'Hello, world! '],
  ...['x'.repeat(75), 'x'.repeat(76), 'x'.repeat(77), 'y'.repeat(1_000), 'z'.repeat(20_000)],
]
const text = (most: number): string => Array.from({ length: below(most) }, () => pick(PIECES)).join('')

/** Returns a function that returns the same message each time: building one changes it. */
const message = () => {
  const ids = ['<a@example.com>', '<b@example.com>', `<${'c'.repeat(200)}@example.com>`]
  const letter = {
    from: { address: 'bot@example.com', name: text(6) },
    to: ['ann@example.com', { address: 'böb@exämple.com', name: text(4) }].slice(below(2)),
    cc: below(2) ? [] : ['carl@example.com'],
    subject: text(8),
    messageId: '<m1@example.com>',
    references: ids.slice(below(4)).join(' '),
    headers: below(2) ? {} : { 'List-Unsubscribe': '<mailto:stop@example.com>', 'X-Note': text(4) },
    date: new Date(below(2 ** 40)),
    text: text(below(2) ? 20 : 80) + text(3).replace(/[^ \t]/g, ''),
    ...(below(2) ? {} : { html: `<p>${text(40)}</p>` }),
    textEncoding: pick(['quoted-printable', 'base64'] as const),
    attachments: below(5) ? [] : [{ filename: 'a.txt', content: Buffer.from(text(9)) }],
    baseBoundary: 'abc',
    newline: '\r\n',
  }
  return () => new MailComposer(letter).compile()
}

test('a message has the bytes that the library gives it', async () => {
  for (let n = 0; n < 600; n++) {
    const compiled = message()
    const [ours, theirs] = [await build(compiled()), await compiled().build()]
    expect(ours.toString('latin1')).toBe(theirs.toString('latin1'))
  }
})

test('an attached message is passed on as it is', async () => {
  const content = Buffer.from('Subject: hi\r\n\r\nhello')
  const compiled = () =>
    new MailComposer({
      ...{ text: 'see below', messageId: '<m1@example.com>', date: new Date(0), baseBoundary: 'abc' },
      attachments: [{ content, contentType: 'message/rfc822' }],
      newline: '\r\n',
    }).compile()
  expect(await build(compiled())).toEqual(await compiled().build())
})
