import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import type { DnsResolver } from '../../../src/mail/verify/resolver.ts'
import { type Envelope, verify } from '../../../src/mail/verify/verify.ts'
import { type ForgedSignature, signedBy } from '../../support/dkim.ts'
import { fakeResolver, type Zone } from '../../support/dns.ts'
import { dkimKey } from '../../support/mail.ts'

const OWNERS = [
  'from',
  'to',
  'subject',
  'reply-to',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
]
const owners = dkimKey('example.com')
const strangers = dkimKey('evil.example', 'evil')
const keyOf = (selector: string, flags: string): [string, { TXT: string[] }] => [
  `${selector}._domainkey.example.com`,
  { TXT: [owners.txt.replace('v=DKIM1;', `v=DKIM1; ${flags};`)] },
]
const zone: Zone = {
  'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  [owners.name]: { TXT: [owners.txt] },
  'mail.strict.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.strict.example': { TXT: ['v=DMARC1; p=reject; aspf=s; adkim=s'] },
  'mail.shouting.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.shouting.example': { TXT: ['v=DMARC1;p=reject;adkim=S; aspf = S ;'] },
  'mail.xn--mnchen-3ya.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.xn--mnchen-3ya.example': { TXT: ['v=DMARC1; p=reject; aspf=s'] },
  ...Object.fromEntries([
    keyOf('testing', 't=y'),
    keyOf('exact', 't=s'),
    keyOf('other', 's=tlsrpt'),
    keyOf('old', 'h=sha1'),
    keyOf('in_use', 'n=note;'),
    keyOf('fit', 's=email:*; h=sha1:sha256; t=s; g=nobody'),
  ]),
}
const EVIL = { TXT: [strangers.txt, 'v=spf1 +all'] }

/** Resolves the names of the zone, and every name below evil.example, whose records a stranger controls. */
const resolver: DnsResolver = (name, type) =>
  name.toLowerCase().endsWith('evil.example')
    ? fakeResolver({ [name.toLowerCase()]: EVIL })(name, type)
    : fakeResolver(zone)(name, type)

const stranger: Envelope = { ip: '198.51.100.9', helo: 'mx.evil.example', reversePath: 'x@evil.example' }
const owner: Envelope = { ip: '192.0.2.1', helo: 'mx.example.com', reversePath: 'ann@example.com' }

async function judged(mail: string, envelope = stranger, ask = resolver) {
  const raw = Buffer.from(mail)
  const parsed = await parseMail(raw)
  const { proven, checks } = await verify(raw, parsed.from.address, envelope, {
    resolver: ask,
    mta: 'agents.localhost',
  })
  return { proven, checks, parsed, dkim: checks.filter(({ name }) => name === 'dkim') }
}

const letter = (header = '', body = 'Send the report.\r\n', from = 'Ann <ann@example.com>') =>
  `From: ${from}\r\nTo: bot@agents.localhost\r\nSubject: hi\r\n${header}\r\n${body}`

const byOwner = (mail: string, more: Partial<ForgedSignature> = {}) =>
  signedBy(mail, { key: owners, covered: OWNERS, ...more })
const byStranger = (tags: ForgedSignature['tags'] = {}, mail = letter()) =>
  signedBy(mail, { key: strangers, covered: OWNERS, tags })

describe('a stranger’s signature does not prove mail from the owner', () => {
  test.each([
    ['a slash', 'example.com/.evil.example'],
    ['a question mark', 'example.com?.evil.example'],
    ['a hash sign', 'example.com#.evil.example'],
    ['a port', 'example.com:25.evil.example'],
    ['a scheme', 'http://example.com/.evil.example'],
    ['a user', 'x@example.com/.evil.example'],
    ['a backslash', 'example.com\\.evil.example'],
    ['a percent sign', 'example.com%2f.evil.example'],
    ['an escaped dot', 'example\\.com.evil.example'],
    ['an empty label', 'example.com..evil.example'],
    ['a comment', 'example.com(.evil.example)'],
    ['quotes', '"example.com".evil.example'],
    ['a dot of another script', 'example.com。evil.example'],
    ['the owner’s domain as a prefix', 'example.com.evil.example'],
  ])('with %s in d= or s=', async (_, domain) => {
    expect(await judged(byStranger({ d: domain }))).toMatchObject({ proven: false })
    expect(await judged(byStranger({ s: domain.replace(/\.evil\.example$/, '') }))).toMatchObject({
      proven: false,
    })
  })

  test.each([
    ['i= of the owner', { i: '@example.com' }],
    ['two d=', { d: 'evil.example; D=example.com' }],
    ['a d= of the owner in a comment', { d: 'evil.example (; d=example.com; )' }],
    ['a tag without a name', { '': 'x' }],
  ] as const)('with %s, which makes the signature invalid', async (_, tags) => {
    const { proven, dkim } = await judged(byStranger(tags))
    expect({ proven, dkim }).toEqual({
      proven: false,
      dkim: [expect.objectContaining({ verdict: 'permerror' })],
    })
  })

  test('but the owner’s does with quotes and parentheses in a tag, and with an underscore in its selector', async () => {
    const tags = { z: 'From:"Ann"=20(us)', s: 'in_use' }
    expect(await judged(byOwner(letter(), { tags }))).toMatchObject({ proven: true })
  })

  test('but the owner’s own signature does, and a stranger’s proves mail from the stranger', async () => {
    expect(await judged(byOwner(letter()))).toMatchObject({ proven: true })
    expect(await judged(byStranger({}, letter('', undefined, 'x@evil.example')))).toMatchObject({
      proven: true,
    })
  })
})

describe('a stranger’s envelope does not prove mail from the owner', () => {
  test.each([
    ['a slash in MAIL FROM', 'x@example.com/.evil.example', 'mx.evil.example'],
    ['two at-signs in MAIL FROM', 'x@example.com@evil.example', 'mx.evil.example'],
    ['a source route in MAIL FROM', '@evil.example:x@example.com', 'mx.evil.example'],
    ['an address literal in MAIL FROM', 'x@[198.51.100.9]', 'mx.evil.example'],
    ['no domain in MAIL FROM', 'ann', 'mx.evil.example'],
    ['a slash in HELO', '', 'example.com/.evil.example'],
    ['a fullwidth slash in HELO', '', 'example.com／.evil.example'],
    ['an address literal in HELO', '', '[198.51.100.9]'],
    ['a dot at the end of HELO', '', 'example.com.'],
  ])('with %s', async (_, reversePath, helo) => {
    expect(await judged(letter(), { ip: '198.51.100.9', helo, reversePath })).toMatchObject({ proven: false })
  })

  test('but an envelope in another script proves the domain that it means', async () => {
    const mail = letter('', undefined, 'ann@mail.ＭÜNCHEN。example')
    const { proven, parsed } = await judged(mail, { ...owner, reversePath: 'ann@mail.münchen.example' })
    expect({ proven, from: parsed.from.address }).toEqual({
      proven: true,
      from: 'ann@mail.xn--mnchen-3ya.example',
    })
  })
})

describe('strict alignment is enforced', () => {
  test.each([
    ['From in fullwidth letters', 'ann@ｓｔｒｉｃｔ.example', 'strict'],
    ['a fullwidth dot in From', 'ann@strict。example', 'strict'],
    ['From in capitals', 'ANN@STRICT.EXAMPLE', 'strict'],
    ['From in another script', 'ann@MÜNCHEN.example', 'xn--mnchen-3ya'],
    ['a DMARC record in capitals and with spaces', 'ann@shouting.example', 'shouting'],
  ])('with %s', async (_, from, domain) => {
    const { proven, checks } = await judged(letter('', undefined, from), {
      ...owner,
      reversePath: `ann@mail.${domain}.example`,
    })
    expect(proven).toBe(false)
    expect(checks).toContainEqual(expect.objectContaining({ name: 'spf', verdict: 'pass' }))
    expect(checks).toContainEqual(expect.objectContaining({ name: 'dmarc', verdict: 'fail' }))
  })
})

describe('a From that is not exactly one address on a domain name is not proven', () => {
  test.each(
    [
      'ann@example.com@evil.example',
      'ann@example.com/.evil.example',
      'ann@example.com.',
      'ann@.example.com',
      'ann@example..com',
      'ann@example.com%00.evil.example',
      'ann@[192.0.2.1]',
      'ann@192.0.2.1',
      'ann@xn--zzzzzz.example.com',
      'ann@example.com／.evil.example',
      '"ann@example.com"@evil.example',
      'ann@example.com, x@evil.example',
      'ann@example.com <x@evil.example>, <ann@example.com>',
      'team: ann@example.com;',
      'team: Ann <ann@example.com>',
      '=?utf-8?q?ann=40example.com?=',
      `a name of 4 KB: ${'a-'.repeat(2_000)}a <ann@example.com>`,
    ].map((from) => [from.slice(0, 60), from]),
  )('such as %s', async (_, from) => {
    expect(await judged(letter('', undefined, from), owner)).toMatchObject({ proven: false })
    expect(await judged(byStranger({}, letter('', undefined, from)))).toMatchObject({ proven: false })
  })
})

describe('the owner’s signature does not prove mail that others changed or that it does not cover', () => {
  const multipart = 'Content-Type: multipart/mixed; boundary=x\r\n'
  const part = '--x\r\nContent-Type: text/plain\r\n\r\nWire the money.\r\n--x--\r\n'
  const without = (name: string) => ({ covered: OWNERS.filter((one) => one !== name) })

  test.each([
    ['a multipart type that it does not cover', multipart, 'content-type', part],
    [
      'an HTML type that it does not cover',
      'Content-Type: text/html\r\n',
      'content-type',
      '<p>Wire the money.\r\n',
    ],
    [
      'a charset that it does not cover',
      'Content-Type: text/plain; charset=utf-7\r\n',
      'content-type',
      '+AEE-\r\n',
    ],
    [
      'an encoding that it does not cover',
      'Content-Transfer-Encoding: quoted-printable\r\n',
      'content-transfer-encoding',
      '=41\r\n',
    ],
    [
      'a disposition that it does not cover',
      'Content-Disposition: attachment; filename=a\r\n',
      'content-disposition',
      'text\r\n',
    ],
    ['a Reply-To that it does not cover', 'Reply-To: x@evil.example\r\n', 'reply-to', 'text\r\n'],
    ['a Subject that it does not cover', '', 'subject', 'text\r\n'],
  ])('with %s', async (_, header, name, body) => {
    const mail = byOwner(letter(header, body), without(name))
    const { proven, dkim } = await judged(mail)
    const words = {
      verdict: 'policy',
      detail: expect.stringMatching(new RegExp(`does not cover ${name}`, 'i')),
    }
    expect({ proven, dkim }).toEqual({ proven: false, dkim: [expect.objectContaining(words)] })
    expect(await judged(byOwner(letter(header, body)))).toMatchObject({ proven: true })
    expect(await judged(mail, owner)).toMatchObject({ proven: true })
  })

  test.each([
    ['no Content-Type', ''],
    [
      'a Content-Type of plain text',
      'Content-Type: text/plain; charset="UTF-8"; format=flowed\r\nContent-Transfer-Encoding: 8bit\r\n',
    ],
    ['an uncovered MIME-Version', 'MIME-Version: 1.0\r\n'],
    ['an encoding that changes nothing', 'Content-Transfer-Encoding: 7bit\r\n'],
    ['an inline disposition', 'Content-Disposition: inline\r\n'],
  ])('but it proves a mail with %s that it does not cover', async (_, header) => {
    expect(await judged(byOwner(letter(header), { covered: ['from', 'subject', 'from'] }))).toMatchObject({
      proven: true,
    })
  })

  const plain = 'Content-Type: text/plain\r\n'
  test.each([
    ['HTML', 'Content-Type: text/html\r\n', '<p title="Pay Eve.">Pay nobody.\r\n'],
    ['HTML with entities', 'Content-Type: text/html\r\n', 'Pay&#32;nobody.\r\n'],
    ['a multipart', multipart, part],
    ['quoted-printable', 'Content-Transfer-Encoding: quoted-printable\r\n', 'Do not pay=\r\n E=76e.\r\n'],
    ['base64', 'Content-Transfer-Encoding: base64\r\n', 'RG8gbm90IHBheSBFdmUu\r\n'],
    ['another charset', 'Content-Type: text/plain; charset=iso-2022-jp\r\n', '\x1b$B$O$$\x1b(B\r\n'],
    ['a calendar', 'Content-Type: text/calendar\r\n', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'],
  ])('with the text of %s, whose fields others removed or replaced', async (_, header, body) => {
    const author = { covered: ['from', 'to', 'subject', 'reply-to', 'from'] }
    const mail = byOwner(letter(header, body), author)
    for (const altered of [mail.replace(header, ''), mail.replace(header, plain)]) {
      const { proven, dkim } = await judged(altered)
      expect({ proven, dkim }).toEqual({
        proven: false,
        dkim: [expect.objectContaining({ verdict: 'policy' })],
      })
    }
    expect(await judged(byOwner(letter(header, body)))).toMatchObject({ proven: true })
    // The names of absent fields in h= say that there were none.
    expect(await judged(byOwner(letter(plain, body)))).toMatchObject({ proven: true })
  })

  test('with text appended to a signed empty body whose empty line was removed', async () => {
    const empty = byOwner(letter('', ''), {
      tags: { c: 'relaxed/relaxed', bh: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' },
    })
    expect(await judged(empty)).toMatchObject({ proven: true })
    const { proven, parsed } = await judged(`${empty.slice(0, -2)}Wire the money.\r\n`)
    expect({ proven, text: parsed.text }).toEqual({ proven: false, text: 'Wire the money.' })
  })

  test.each([
    ['in testing mode', 'testing', {}, 'policy'],
    ['that is not valid for subdomains', 'exact', { i: '@mail.example.com' }, 'policy'],
    ['that is not valid for email', 'other', {}, 'neutral'],
    ['that is valid for SHA-1 only', 'old', {}, 'neutral'],
  ])('with a key %s', async (_, s, tags, verdict) => {
    const { proven, dkim } = await judged(byOwner(letter(), { tags: { s, ...tags } }))
    expect({ proven, dkim }).toEqual({ proven: false, dkim: [expect.objectContaining({ verdict })] })
    expect(await judged(byOwner(letter(), { tags: { s: 'fit' } }))).toMatchObject({ proven: true })
  })

  test.each([
    ['that has expired', { t: '1000000000', x: '1000000001' }],
    ['with an unknown algorithm', { a: 'rsa-md5' }],
    ['without h=', { h: null }],
    ['with an unknown version', { v: '2' }],
    ['whose l= is not a valid number', { l: '-1' }],
    ['with an unknown query method', { q: 'http/json' }],
  ])('with a signature %s', async (_, tags) => {
    expect(await judged(byOwner(letter(), { tags }))).toMatchObject({ proven: false })
  })
})

test('only valid host names are looked up in DNS, except where a record of SPF inserts an address', async () => {
  const queries: string[] = []
  const listening: DnsResolver = (name, type) => {
    queries.push(name)
    return resolver(name, type)
  }
  const bad = ['a/b', 'a\\.b', 'a b', 'a%b', 'a..b', 'ä', 'a@b', 'a\tb']
  for (const name of bad) {
    const chain = `i=1; a=rsa-sha256; d=${name}.evil.example; s=${name}; b=AA`
    const seal = `ARC-Seal: ${chain}; cv=none\r\nARC-Message-Signature: ${chain}; h=from; bh=AA\r\nARC-Authentication-Results: i=1; x\r\n`
    await judged(
      seal + byStranger({ d: `${name}.evil.example`, s: name }),
      { ...stranger, reversePath: `${name}@${name}.evil.example` },
      listening,
    )
    await judged(
      seal + byStranger(),
      { ...stranger, reversePath: '', helo: `${name}.evil.example` },
      listening,
    )
  }
  const tricks = `v=spf1 include:%{l}.evil.example a:${bad[0]}.evil.example exists:%{d}/x.evil.example redirect=a.b/c.evil.example`
  const tricky: DnsResolver = (name, type) =>
    type === 'TXT' && name === 'spf.example' ? Promise.resolve([[tricks]]) : listening(name, type)
  await judged(letter(), { ...stranger, reversePath: 'a/b@spf.example' }, tricky)
  expect(queries).toContain('_dmarc.example.com')
  expect(queries.filter((name) => !/^(?:[\w-]{1,63}\.)+[\w-]{1,63}$/.test(name))).toEqual([
    'a/b.evil.example',
  ])
})

describe('a chain of ARC seals', () => {
  test.each([
    ['__proto__.polluted=yes'],
    ['__pro(comment)to__.polluted=yes'],
    ['"__proto__".polluted=yes'],
    ['\\__proto__.polluted=yes'],
  ])('cannot modify Object.prototype with %s', async (trick) => {
    const { checks } = await judged(
      `ARC-Authentication-Results: i=1; mx.example; spf=pass ${trick}\r\n${letter()}`,
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(checks).toContainEqual(expect.objectContaining({ name: 'arc', verdict: 'fail' }))
  })

  test('passes when it is valid, but does not prove the sender', async () => {
    const { sealMessage } = (await import('mailauth')) as unknown as {
      sealMessage(raw: Buffer, seal: object): Promise<Buffer>
    }
    const raw = Buffer.from(letter())
    const seal = await sealMessage(raw, {
      signingDomain: 'evil.example',
      selector: 'evil',
      privateKey: strangers.options.privateKey,
      authResults:
        'mx.evil.example; spf=pass (it says) smtp.mailfrom=ann_b@example.com; dmarc=pass header.from=example.com',
      cv: 'none',
    })
    const { proven, checks } = await judged(seal + raw.toString())
    expect(proven).toBe(false)
    expect(checks).toContainEqual(expect.objectContaining({ name: 'arc', verdict: 'pass' }))
  })
})
