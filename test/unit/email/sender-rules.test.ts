import { expect, test } from 'vitest'
import type { Outbound } from '../../../src/core/channel/outbound.ts'
import { toOutgoingMail } from '../../../src/mail/send/outgoing-mail.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { fakeResolver } from '../../support/dns.ts'
import { dkimKey } from '../../support/mail.ts'

/** What Gmail, Yahoo and Outlook demand of senders, which the service itself can keep. */

const key = dkimKey('agents.example.net')
const { domainName: domain, keySelector: selector, privateKey } = key.options
const resolver = fakeResolver({
  [key.name]: { TXT: [key.txt] },
  '_dmarc.agents.example.net': { TXT: ['v=DMARC1; p=reject; adkim=s'] },
})

const MAIL: Outbound = {
  ...{
    id: '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
    from: { address: 'bot@agents.example.net', name: 'Bot, "the" 🤖' },
  },
  ...{ envelopeTo: ['ann@example.com'], to: ['ann@example.com'], cc: [], subject: 'Grüße', text: 'hi' },
  ...{
    messageId: '0193@agents.example.net',
    inReplyTo: 'q@example.com',
    references: ['p@example.com', 'q@example.com'],
  },
  ...{ attachments: [], createdAt: new Date('2026-11-20T10:00:00Z') },
}
const long = 'word '.repeat(1_000)
const file = { name: 'Übersicht.txt', type: 'text/plain', content: Buffer.from(long) }

test.each<[string, Partial<Outbound>]>([
  ['a text', {}],
  ['a long line', { text: long, subject: long }],
  ['another script', { text: '你好'.repeat(2_000), subject: '你好'.repeat(200) }],
  ['HTML', { html: `<p>${long}</p>` }],
  ['HTML with a file', { html: `<p>${long}</p>`, attachments: [file] }],
  ['header fields in its subject', { subject: 'a\r\nBcc: eve@example.com\r\n\r\nb' }],
  [
    'a hundred references',
    { references: Array.from({ length: 300 }, (_, n) => `${n}-${'x'.repeat(60)}@example.com`) },
  ],
])('a mail with %s keeps the rules for senders', async (_, more) => {
  const { raw, envelopes } = await toOutgoingMail(
    { ...MAIL, ...more },
    { signingKeysOf: async () => [{ domain, selector, privateKey }], returnPaths: null },
  )
  const text = raw.toString('latin1')
  const header = text.slice(0, text.indexOf('\r\n\r\n') + 2)
  for (const name of ['From', 'To', 'Date', 'Message-ID', 'Subject', 'MIME-Version', 'Content-Type'])
    expect(header.match(new RegExp(`^${name}:`, 'gim')), name).toHaveLength(1)
  expect(header).not.toMatch(/^(?:Bcc|Cc|Sender):/im)
  expect(header).toMatch(/^Date: Fri, 20 Nov 2026 10:00:00 \+0000\r$/m)
  expect(header).toMatch(/^Message-ID: <0193@agents\.example\.net>\r$/m)
  expect(/^[\x20-\x7e\r\n\t]*$/.test(text)).toBe(true)
  expect(Math.max(...text.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(998)
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  const from = { ip: '192.0.2.1', helo: 'mx.example.net', reversePath: envelopes[0]!.reversePath }
  const { proven, checks } = await verify(raw, 'bot@agents.example.net', from, { resolver, mta: 'mx' })
  expect(checks).toContainEqual(expect.objectContaining({ name: 'dmarc', verdict: 'pass' }))
  expect(proven).toBe(true)
})
