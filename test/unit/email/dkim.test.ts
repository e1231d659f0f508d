import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import DKIM from 'nodemailer/lib/dkim'
import { expect, test } from 'vitest'
import { hashBody, signed } from '../../../src/mail/send/dkim.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { fakeResolver } from '../../support/dns.ts'
import { dkimKey, rawOf } from '../../support/mail.ts'

const key = dkimKey('example.com')
const resolver = fakeResolver({ [key.name]: { TXT: [key.txt] } })
const { domainName: domain, keySelector: selector, privateKey } = key.options

const verdictOf = async (raw: Buffer) => {
  const envelope = { ip: '192.0.2.1', helo: 'mx.example.com', reversePath: 'ann@example.com' }
  const { checks } = await verify(raw, 'ann@example.com', envelope, { resolver, mta: 'agents.localhost' })
  return checks.find(({ name }) => name === 'dkim')?.verdict
}
/** The hash of the body that nodemailer's signer, another implementation, writes. */
const otherHash = async (body: string): Promise<string> => {
  const raw = await buffer(new DKIM(key.options).sign(`From: ann@example.com\r\n\r\n${body}`))
  return /bh=([^;]+);/.exec(raw.toString())![1]!.replace(/\s/g, '')
}

test('a signature covers the header and the body', async () => {
  const raw = await rawOf({
    from: 'Ann Åberg <ann@example.com>',
    to: Array.from({ length: 40 }, (_, n) => `recipient-${n}@example.net`),
    subject: 'Grüße  an alle,  mit einer langen Zeile, die gefaltet wird, damit sie in den Kopf passt',
    text: 'hi \n\n .\n\n',
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(1_000_000, 'x y\r\n') }],
  })
  const mail = await signed(raw, [{ domain, selector, privateKey }])
  expect(await verdictOf(mail)).toBe('pass')
  expect((await signed(raw, [{ domain, selector, privateKey }])).equals(mail)).toBe(true)
  expect(
    Math.max(
      ...mail
        .toString('latin1')
        .split('\r\n')
        .map(({ length }) => length),
    ),
  ).toBeLessThan(200)
  for (const [from, to] of [
    ['Subject: ', 'Subject: not '],
    ['\r\nhi', '\r\nho'],
    ['recipient-7@', 'recipient-8@'],
  ] as const)
    expect(await verdictOf(Buffer.from(mail.toString('latin1').replace(from, to), 'latin1'))).not.toBe('pass')
})

test('an unusable key is an error', async () => {
  const raw = await rawOf({ from: 'ann@example.com', text: 'hi' })
  await expect(signed(raw, [{ domain, selector, privateKey: 'no key' }])).rejects.toThrow()
})

test('bodies are hashed as nodemailer hashes them', async () => {
  const pieces = fc.constantFrom('a', 'é', ' ', '  ', '\t', '\r\n', '\r\n\r\n', '\r', 'word', ' \t ')
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), async (parts) => {
      const body = parts.join('').replace(/\r(?!\n)/g, '\r!')
      expect(await hashBody(Buffer.from(body))).toBe(await otherHash(body))
    }),
  )
})

test('a body is hashed across pieces', async () => {
  for (const line of ['\r\n', ' \t\r\n', 'a  b \r\n', ' '.repeat(300_000), 'a '.repeat(200_000)]) {
    const body = `${line}x\r\n${line.repeat(Math.ceil(600_000 / line.length))}y${line}\r\n`
    expect(await hashBody(Buffer.from(body))).toBe(await otherHash(body))
  }
  expect(await hashBody(Buffer.alloc(0))).toBe(createHash('sha256').digest('base64'))
})
