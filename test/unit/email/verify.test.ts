import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { type Envelope, type VerifyOptions, verify } from '../../../src/mail/verify/verify.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { fakeResolver, type Zone } from '../../support/dns.ts'
import { dkimKey, rawOf } from '../../support/mail.ts'

const key = dkimKey('example.com')
const evilKey = dkimKey('evil.example')
const zone: Zone = {
  'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  [key.name]: { TXT: [key.txt] },
  'evil.example': { TXT: ['v=spf1 +all'] },
  [evilKey.name]: { TXT: [evilKey.txt] },
  'plain.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  'mail.plain.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  'strict.example': { TXT: ['v=spf1 -all'] },
  'mail.strict.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  '_dmarc.strict.example': { TXT: ['v=DMARC1; p=none; aspf=s; adkim=s'] },
}
const good: Envelope = { ip: '192.0.2.1', helo: 'mx.example.com', reversePath: 'ann@example.com' }
const elsewhere: Envelope = { ip: '198.51.100.9', helo: 'mx.evil.example', reversePath: 'x@evil.example' }
const letter = { from: 'Ann <ann@example.com>', to: 'bot@agents.localhost', subject: 'hi', text: 'hello\n' }

async function check(raw: Buffer | string, envelope: Envelope, options: Partial<VerifyOptions> = {}) {
  const bytes = Buffer.from(raw)
  const { from } = await parseMail(bytes)
  const result = await verify(bytes, from.address, envelope, {
    resolver: fakeResolver(zone),
    mta: 'agents.localhost',
    ...options,
  })
  return {
    ...result,
    verdicts: Object.fromEntries(result.checks.map(({ name, verdict }) => [name, verdict])),
  }
}

describe('a sender is proven', () => {
  test('by SPF aligned with From under DMARC', async () => {
    const { proven, checks } = await check(await rawOf(letter), good)
    expect(proven).toBe(true)
    expect(checks).toEqual([
      { name: 'spf', verdict: 'pass', detail: 'example.com aligned with From' },
      { name: 'dkim', verdict: 'none', detail: 'not signed' },
      { name: 'dmarc', verdict: 'pass', detail: 'SPF of example.com is aligned with From (p=reject)' },
      { name: 'arc', verdict: 'none', detail: expect.any(String) },
    ])
  })

  test('under the policy of its own record, or under that for subdomains of the one above', async () => {
    const records: Zone = {
      'own.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
      '_dmarc.own.example': { TXT: ['v=DMARC1; p=reject; sp=quarantine'] },
      '_dmarc.two.own.example': { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    }
    const details: unknown[] = []
    for (const domain of ['own.example', 'mail.own.example', 'two.own.example']) {
      const raw = await rawOf({ ...letter, from: `ann@${domain}` })
      const envelope = { ...good, reversePath: 'ann@own.example' }
      const { checks } = await check(raw, envelope, { resolver: fakeResolver(records) })
      details.push(checks.find(({ name }) => name === 'dmarc')?.detail)
    }
    expect(details).toEqual(
      ['reject', 'quarantine', 'quarantine'].map(
        (policy) => `SPF of own.example is aligned with From (p=${policy})`,
      ),
    )
  })

  test('by the key that is published at the moment', async () => {
    const raw = await rawOf({ ...letter, sign: key })
    const publishing = (txt: string) => ({
      resolver: fakeResolver({ ...zone, [key.name]: { TXT: [txt] } }),
    })
    const proven: boolean[] = []
    for (const txt of [key.txt, evilKey.txt, 'v=DKIM1; p=', key.txt])
      proven.push((await check(raw, elsewhere, publishing(txt))).proven)
    expect(proven).toEqual([true, false, false, true])
  })

  test('by a DKIM signature, from any server', async () => {
    const { proven, checks } = await check(await rawOf({ ...letter, sign: key }), elsewhere)
    expect(proven).toBe(true)
    expect(checks).toContainEqual({ name: 'dkim', verdict: 'pass', detail: 'example.com aligned with From' })
    expect(checks).toContainEqual({
      name: 'dmarc',
      verdict: 'pass',
      detail: 'DKIM of example.com is aligned with From (p=reject)',
    })
  })

  test('by an aligned pass when the domain has no DMARC record', async () => {
    const raw = await rawOf({ ...letter, from: 'ann@plain.example' })
    const { proven, verdicts } = await check(raw, { ...good, reversePath: 'bounce@mail.plain.example' })
    expect(proven).toBe(true)
    expect(verdicts).toMatchObject({ spf: 'pass', dmarc: 'none' })
  })
})

const anywhere = { resolver: fakeResolver({ ...zone, 'example.com': { TXT: ['v=spf1 +all'] } }) }

describe('SPF', () => {
  test.each([
    '',
    '10.1.2.3',
    '172.16.0.9',
    '192.168.0.1',
    '127.0.0.1',
    '169.254.1.1',
    '100.64.3.4',
    '224.0.0.1',
    '0.0.0.0',
    '::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.1.2.3',
    '::ffff:100.64.3.4',
    '64:ff9b::10.1.2.3',
    '2002:a01:203::1',
    '2001:0:a01:203::1',
  ])('proves nothing for mail that %j is said to have sent', async (ip) => {
    const { proven, checks } = await check(await rawOf(letter), { ...good, ip }, anywhere)
    expect(proven).toBe(false)
    expect(checks[0]).toEqual({ name: 'spf', verdict: 'none', detail: expect.stringMatching(/address/) })
  })

  test.each<[string, boolean, string]>([
    ['127.0.0.1', true, 'pass'],
    ['::1', true, 'pass'],
    ['10.1.2.3', true, 'none'],
    ['100.64.3.4', true, 'none'],
    ['192.0.2.1', false, 'pass'],
    ['::ffff:192.0.2.1', false, 'pass'],
    ['2606:4700::1', false, 'pass'],
  ])('for the client %s, direct: %s, is: %s', async (ip, direct, spf) => {
    const { verdicts } = await check(await rawOf(letter), { ...good, ip, direct }, anywhere)
    expect(verdicts.spf).toBe(spf)
  })
})

describe('a sender is not proven', () => {
  test('by a bare claim from another server', async () => {
    expect(await check(await rawOf(letter), elsewhere)).toMatchObject({
      proven: false,
      verdicts: { spf: 'pass', dmarc: 'fail' },
    })
  })

  test('by a signed mail with a changed body', async () => {
    const raw = (await rawOf({ ...letter, sign: key })).toString().replace('hello', 'help!')
    expect(await check(raw, elsewhere)).toMatchObject({
      proven: false,
      verdicts: { dkim: 'neutral', dmarc: 'fail' },
    })
  })

  test('by a signed mail with another From', async () => {
    const raw = (await rawOf({ ...letter, sign: key }))
      .toString()
      .replace(/^From:.*$/m, 'From: Boss <boss@example.com>')
    expect(await check(raw, elsewhere)).toMatchObject({
      proven: false,
      verdicts: { dkim: 'fail', dmarc: 'fail' },
    })
  })

  test('by a SHA-1 signature', async () => {
    const { dkimSign } = await import('mailauth/lib/dkim/sign.js')
    const raw = await rawOf(letter)
    const signed = await dkimSign(raw, {
      signatureData: [
        {
          signingDomain: 'example.com',
          selector: 'test',
          privateKey: key.options.privateKey,
          algorithm: 'rsa-sha1',
        },
      ],
    })
    const { proven, checks } = await check(Buffer.concat([Buffer.from(signed.signatures), raw]), elsewhere)
    expect(proven).toBe(false)
    expect(checks).toContainEqual({
      name: 'dkim',
      verdict: 'policy',
      detail: expect.stringContaining('RFC 8301'),
    })
  })

  test('by a signature with l= when text is appended behind the signed part', async () => {
    const { dkimSign } = await import('mailauth/lib/dkim/sign.js')
    const raw = await rawOf(letter)
    const signed = await dkimSign(raw, {
      signatureData: [
        {
          signingDomain: 'example.com',
          selector: 'test',
          privateKey: key.options.privateKey,
          maxBodyLength: 7,
        },
      ],
    })
    const whole = Buffer.concat([Buffer.from(signed.signatures), raw])
    expect(signed.signatures).toMatch(/\bl=7\b/)
    expect(await check(whole, elsewhere)).toMatchObject({ proven: true })
    const { proven, checks } = await check(
      Buffer.concat([whole, Buffer.from('Wire the money to me.\r\n')]),
      elsewhere,
    )
    expect(proven).toBe(false)
    expect(checks).toContainEqual({
      name: 'dkim',
      verdict: 'policy',
      detail: expect.stringContaining('unsigned'),
    })
  })

  test('by a signature that does not cover From', async () => {
    const { dkimSign } = await import('mailauth/lib/dkim/sign.js')
    const raw = await rawOf(letter)
    const signed = await dkimSign(raw, {
      signatureData: [{ signingDomain: 'example.com', selector: 'test', privateKey: key.options.privateKey }],
      headerList: 'subject:to',
    })
    expect(signed.signatures).not.toMatch(/h=[^;]*from/i)
    expect(await check(Buffer.concat([Buffer.from(signed.signatures), raw]), elsewhere)).toMatchObject({
      proven: false,
    })
  })

  test('by a signed mail with a second Subject put before it', async () => {
    const raw = `Subject: Wire the money\r\n${await rawOf({ ...letter, sign: key })}`
    const { proven, checks } = await check(raw, elsewhere)
    expect(proven).toBe(false)
    expect(checks).toContainEqual({
      name: 'dkim',
      verdict: 'policy',
      detail: expect.stringContaining('more than one subject'),
    })
  })

  test('by forged Authentication-Results and Received-SPF fields', async () => {
    const forged = [
      'Authentication-Results: agents.localhost; dmarc=pass header.from=example.com; spf=pass; dkim=pass header.d=example.com',
      'Received-SPF: pass',
      '',
    ]
    expect(await check(forged.join('\r\n') + (await rawOf(letter)), elsewhere)).toMatchObject({
      proven: false,
      verdicts: { dmarc: 'fail' },
    })
  })

  test('by a signature of another domain', async () => {
    expect(await check(await rawOf({ ...letter, sign: evilKey }), elsewhere)).toMatchObject({
      proven: false,
      verdicts: { dkim: 'pass', dmarc: 'fail' },
    })
  })

  test('by relaxed alignment when the domain requires strict alignment', async () => {
    const raw = await rawOf({ ...letter, from: 'ann@strict.example' })
    expect(await check(raw, { ...good, reversePath: 'ann@mail.strict.example' })).toMatchObject({
      proven: false,
      verdicts: { spf: 'pass', dmarc: 'fail' },
    })
  })

  test.each([
    ['two From headers', 'From: ann@example.com\r\nFrom: evil@evil.example\r\n'],
    ['the same From twice', 'From: ann@example.com\r\nFrom: ann@example.com\r\n'],
    ['a second From with a space before its colon', 'From: ann@example.com\r\nFrom : evil@evil.example\r\n'],
    ['two addresses in From', 'From: ann@example.com, evil@evil.example\r\n'],
    ['a group in From', 'From: team: ann@example.com;\r\n'],
    ['no From', 'Subject: none\r\n'],
    ['an empty From', 'From: \r\n'],
    [
      'a From behind a bare carriage return',
      'Subject: x\rFrom: evil@evil.example\r\nFrom: ann@example.com\r\n',
    ],
    [
      'a header that ends early for some parsers',
      'From: ann@example.com\r\n\r\r\nFrom: evil@evil.example\r\n',
    ],
    ['a NUL in the header', 'From: ann@example.com\0\r\n'],
    ['an address without a domain', 'From: ann\r\n'],
    ['an oversized header', `From: ann@example.com\r\nX: ${'x\r\n '.repeat(3_000)}\r\n`],
    [
      'a hundred signatures',
      `From: ann@example.com\r\n${'DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=test; h=from; bh=x; b=y; l=1\r\n'.repeat(100)}`,
    ],
  ])('by a mail with %s, even if SPF passes', async (_, header) => {
    const started = cpuTime()
    expect(await check(`${header}To: bot@agents.localhost\r\n\r\nhello\r\n`, good)).toMatchObject({
      proven: false,
    })
    expect(cpuTime() - started).toBeLessThan(1_000)
  })
})

describe('long mail', () => {
  test('is verified without blocking the event loop', async () => {
    const raw = await rawOf({
      ...letter,
      text: 'a line of ordinary length, over and over\n'.repeat(200_000),
      sign: key,
    })
    let turns = 0
    const counter = setInterval(() => turns++, 1)
    const result = await verify(raw, 'ann@example.com', elsewhere, {
      resolver: fakeResolver(zone),
      mta: 'here',
    })
    clearInterval(counter)
    expect(result.proven).toBe(true)
    expect(turns).toBeGreaterThan(5)
  })

  test('on a single line is proven by SPF when there is no signature to hash it for', async () => {
    const raw = (await rawOf(letter)).toString().replace('hello', 'x y '.repeat(5_000_000))
    const result = await verify(Buffer.from(raw), 'ann@example.com', good, {
      resolver: fakeResolver(zone),
      mta: 'here',
    })
    expect(result).toMatchObject({ proven: true, unsettled: false })
  })

  test.each([
    ['one line of 20 MB', ' '.repeat(20_000_000), 'longer than 512 KiB'],
    ['millions of blank lines', ' \r\n'.repeat(6_000_000), 'took too long'],
  ])('is given up in time when it has %s', async (_, body, reason) => {
    const raw = (await rawOf({ ...letter, sign: key })).toString().replace('hello', body)
    const result = await verify(Buffer.from(raw), 'ann@example.com', good, {
      resolver: fakeResolver(zone),
      mta: 'here',
      timeoutMs: 300,
    })
    expect(result).toMatchObject({
      proven: false,
      unsettled: false,
      checks: [{ verdict: 'temperror', detail: expect.stringContaining(reason) }],
    })
  })
})

describe('DNS failures', () => {
  test.each(['ETIMEOUT', 'ESERVFAIL', 'EREFUSED', 'ECONNREFUSED', 'EBADRESP'])(
    'with %s leave the sender unproven without an exception',
    async (code) => {
      const resolver = () => Promise.reject(Object.assign(new Error(code), { code }))
      const { proven, verdicts } = await check(await rawOf({ ...letter, sign: key }), good, { resolver })
      expect(proven).toBe(false)
      expect(verdicts).toMatchObject({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' })
    },
  )

  test('end at the deadline when a name server never answers', async () => {
    const { proven, unsettled, checks } = await check(await rawOf({ ...letter, sign: key }), good, {
      resolver: () => new Promise(() => undefined),
      timeoutMs: 50,
    })
    expect({ proven, unsettled, checks }).toEqual({
      proven: false,
      unsettled: true,
      checks: [{ name: 'dmarc', verdict: 'temperror', detail: 'the lookups took too long' }],
    })
  })

  const failing =
    (...names: string[]): VerifyOptions['resolver'] =>
    (name, type) =>
      names.includes(name)
        ? Promise.reject(Object.assign(new Error('SERVFAIL'), { code: 'ESERVFAIL' }))
        : fakeResolver(zone)(name, type)

  test.each([
    ['the sender’s SPF record', {}, good, ['example.com']],
    ['the signature’s key', { sign: key }, elsewhere, [key.name]],
    ['the policy, behind a signature that verifies', { sign: key }, elsewhere, ['_dmarc.example.com']],
    ['the policy, behind an aligned SPF pass', {}, good, ['_dmarc.example.com']],
  ])('for %s leave the verification unsettled', async (_, sign, envelope, names) => {
    expect(
      await check(await rawOf({ ...letter, ...sign }), envelope, { resolver: failing(...names) }),
    ).toMatchObject({
      proven: false,
      unsettled: true,
    })
    expect(await check(await rawOf({ ...letter, ...sign }), envelope)).toMatchObject({
      proven: true,
      unsettled: false,
    })
  })

  test.each([
    ['the policy of a sender without any aligned pass', {}, elsewhere, ['_dmarc.example.com']],
    ["another domain's SPF", {}, elsewhere, ['evil.example']],
    ["another domain's key", { sign: evilKey }, elsewhere, [evilKey.name]],
  ])('for %s do not matter to the verification', async (_, sign, envelope, names) => {
    expect(
      await check(await rawOf({ ...letter, ...sign }), envelope, { resolver: failing(...names) }),
    ).toMatchObject({
      proven: false,
      unsettled: false,
    })
  })

  test('do not matter for a mail with two From fields, which stays unproven', async () => {
    const raw = 'From: ann@example.com\r\nFrom: bo@example.com\r\n\r\nhi\r\n'
    expect(await check(raw, good, { resolver: failing('example.com') })).toMatchObject({
      proven: false,
      unsettled: false,
    })
  })

  test('that return garbage prove nothing', async () => {
    const resolver = async () => [['v=DMARC1'], ['\0'], []] as string[][]
    expect(await check(await rawOf({ ...letter, sign: key }), good, { resolver })).toMatchObject({
      proven: false,
    })
  })
})
