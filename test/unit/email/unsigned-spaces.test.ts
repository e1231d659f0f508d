import { expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { signedBy } from '../../support/dkim.ts'
import { fakeResolver } from '../../support/dns.ts'
import { dkimKey } from '../../support/mail.ts'

/** Most signatures cover neither how many spaces there are nor where a field is folded (RFC 6376 3.4.2, 3.4.4). */

const key = dkimKey('example.com')
const resolver = fakeResolver({ [key.name]: { TXT: [key.txt] } })
const PARTS = '--b\r\nContent-Type: text/plain\r\n\r\nDo not pay Eve.\r\n\r\nPay Bob.\r\n--b--\r\n'
const INNER = 'From: Eve <eve@example.com>\r\n\r\nDo not pay.\r\n\r\nThanks\r\n'
const BASE64 = `${'QUJD'.repeat(19)}\r\nRG8gbm90IHBheSBF\r\nRA==\r\n`

const read = async (mail: string) => {
  const raw = Buffer.from(mail, 'latin1')
  const { from, subject, text, to } = await parseMail(raw)
  const envelope = { ip: '203.0.113.9', helo: 'example.org', reversePath: 'eve@example.org' }
  const { proven } = await verify(raw, from.address, envelope, { resolver, mta: 'mx.example.org' })
  return { proven, from, subject, text, to }
}

test.each<[string, string, string, string, string]>([
  ['before the text of a part', 'multipart/mixed; boundary=b', PARTS, 'plain\r\n\r\n', 'plain\r\n \r\n'],
  [
    'before a part without header',
    'multipart/mixed; boundary=b',
    `--b\r\n\r\n${INNER}--b--\r\n`,
    '--b\r\n\r\n',
    '--b\r\n\t\r\n',
  ],
  ['before the text of an enclosed mail', 'message/rfc822', INNER, '.com>\r\n\r\nDo', '.com>\r\n \r\nDo'],
  [
    'after a soft line break',
    'text/plain\r\nContent-Transfer-Encoding: quoted-printable',
    'Do no=\r\nt pay.\r\n',
    'Do no=\r\n',
    'Do no= \r\n',
  ],
  [
    'after a line of base64',
    'text/plain\r\nContent-Transfer-Encoding: base64',
    BASE64,
    'QUJD\r\n',
    'QUJD  \r\n',
  ],
  [
    'in a boundary',
    'multipart/mixed; boundary="b c"',
    PARTS.replaceAll('--b', '--b c'),
    '--b c\r\n',
    '--b  c\r\n',
  ],
  [
    'in the closing boundary of a part',
    'multipart/mixed; boundary=b',
    `--b\r\nContent-Type: multipart/mixed; boundary="b c"\r\n\r\n${PARTS.replaceAll('--b', '--b c')}--b\r\n\r\nPay Bob.\r\n--b--\r\n`,
    '--b c--',
    '--b  c-- ',
  ],
  ['between the words of a field', 'text/plain', 'Hi\r\n', 'a day', 'a  \r\n\t day'],
  ['between bytes of a field', 'text/plain', 'Hi\r\n', '\xbc \xfc', '\xbc\r\n \xfc'],
  ['between encoded words', 'text/plain', 'Hi\r\n', '?= =?', `?=${' '.repeat(12)}=?`],
])('spaces %s do not change what a signed mail says', async (_, type, body, before, after) => {
  const header = `From: Ann <ann@example.com>\r\nTo: "A B" <bot@example.org>\r\nSubject: \xc3\xbc \xfc day, a day =?utf-8?B?4oI=?= =?utf-8?B?rA==?=\r\n`
  const mail = signedBy(`${header}MIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}`, {
    key,
    covered: ['from', 'to', 'subject', 'mime-version', 'content-type', 'content-transfer-encoding'],
    tags: { c: 'relaxed/relaxed' },
    encoding: 'latin1',
  })
  const altered = mail.replace(before, after)
  expect(altered).not.toBe(mail)
  const genuine = await read(mail)
  expect(genuine.proven).toBe(true)
  expect(await read(altered)).toEqual(genuine)
})
