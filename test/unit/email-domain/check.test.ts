import { describe, expect, test } from 'vitest'
import { type CheckedRecord, checkRecords, verdictOf } from '../../../src/email-domain/check.ts'
import type { PublishedKey } from '../../../src/email-domain/dkim.ts'
import { createAsk } from '../../../src/email-domain/lookup.ts'
import { type Purpose, wantedRecords } from '../../../src/email-domain/record.ts'
import type { DnsResolver } from '../../../src/mail/verify/resolver.ts'
import { type DnsRecords, fakeResolver, type Zone } from '../../support/dns.ts'

const PLACE = { mailDomain: 'agents.service.example', mailHost: 'mx.service.example' }
const NAME = 'team.acme.example'
const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'

const key = (selector: string, publicKey = KEY, retiredAt: Date | null = null): PublishedKey => ({
  algorithm: 'rsa',
  selector,
  publicKey,
  record: { name: `${selector}._domainkey.${NAME}`, type: 'TXT', value: `v=DKIM1; k=rsa; p=${publicKey}` },
  createdAt: new Date(),
  retiredAt,
})
const wanted = (keys = [key('s1')]) => wantedRecords({ name: NAME, ownershipToken: 'token' }, keys, PLACE)

/** Returns a zone with every record correct; `changes` replaces names, and undefined removes them. */
const zone = (changes: Record<string, DnsRecords | undefined> = {}): Zone => {
  const whole: Record<string, DnsRecords | undefined> = {
    [`_agent-messaging.${NAME}`]: { TXT: ['agent-messaging=token'] },
    [NAME]: {
      MX: [{ priority: 10, exchange: 'mx.service.example' }],
      TXT: ['v=spf1 include:agents.service.example ~all'],
    },
    [`s1._domainkey.${NAME}`]: { TXT: [`v=DKIM1; k=rsa; p=${KEY}`] },
    [`_dmarc.${NAME}`]: { TXT: ['v=DMARC1; p=none'] },
    ...changes,
  }
  return Object.fromEntries(
    Object.entries(whole).flatMap(([name, records]) => (records ? [[name, records]] : [])),
  )
}

const check = (resolver: DnsResolver, keys?: PublishedKey[]) =>
  checkRecords(wanted(keys), createAsk(resolver), PLACE)
const one = async (purpose: Purpose, changes: Record<string, DnsRecords | undefined>) =>
  (await check(fakeResolver(zone(changes)))).find((record) => record.purpose === purpose)!

test('a domain with all records correct passes', async () => {
  const records = await check(fakeResolver(zone()))
  expect(
    records.map(({ purpose, type, name, required, ok, problem }) => ({
      purpose,
      type,
      name,
      required,
      ok,
      problem,
    })),
  ).toEqual([
    {
      purpose: 'ownership',
      type: 'TXT',
      name: `_agent-messaging.${NAME}`,
      required: true,
      ok: true,
      problem: null,
    },
    { purpose: 'mx', type: 'MX', name: NAME, required: true, ok: true, problem: null },
    { purpose: 'dkim', type: 'TXT', name: `s1._domainkey.${NAME}`, required: true, ok: true, problem: null },
    { purpose: 'spf', type: 'TXT', name: NAME, required: false, ok: true, problem: null },
    { purpose: 'dmarc', type: 'TXT', name: `_dmarc.${NAME}`, required: false, ok: true, problem: null },
  ])
  expect(verdictOf(records)).toBe('right')
})

const mx = (...servers: [number, string][]) => ({
  [NAME]: { MX: servers.map(([priority, exchange]) => ({ priority, exchange })), TXT: ['v=spf1 mx -all'] },
})
const txt = (name: string, ...TXT: string[]) => ({ [name]: { TXT } })
const ownership = (...texts: string[]) => txt(`_agent-messaging.${NAME}`, ...texts)
const dkim = (...texts: string[]) => txt(`s1._domainkey.${NAME}`, ...texts)
const dmarc = (...texts: string[]) => txt(`_dmarc.${NAME}`, ...texts)
const spf = (...texts: string[]) => ({
  [NAME]: { MX: [{ priority: 10, exchange: 'mx.service.example' }], TXT: texts },
})

describe('a valid variant of a record', () => {
  test.each<[string, Purpose, Record<string, DnsRecords | undefined>]>([
    ['beside other texts', 'ownership', ownership('something else', ' agent-messaging=token ')],
    ['with another priority, another case and the dot of the root', 'mx', mx([0, 'MX.Service.Example.'])],
    ['with a spare server behind the service’s', 'mx', mx([10, 'mx.service.example'], [20, 'spare.example'])],
    ['with spaces in it', 'dkim', dkim(`v=DKIM1;k=rsa;p=${KEY.slice(0, 8)} ${KEY.slice(8)}`)],
    ['without v= and k=', 'dkim', dkim(`p=${KEY}`)],
    [
      'among others',
      'spf',
      spf('google-site-verification=x', 'V=SPF1 ip4:192.0.2.1 +INCLUDE:agents.service.example -all'),
    ],
    ['that authorizes the MX', 'spf', spf('v=spf1 mx ~all')],
    ['with a stricter policy', 'dmarc', dmarc('v=DMARC1; p=reject; rua=mailto:a@acme.example')],
    [
      'on the registered domain',
      'dmarc',
      { [`_dmarc.${NAME}`]: undefined, ...txt('_dmarc.acme.example', 'v=DMARC1; p=quarantine') },
    ],
  ])('is accepted: %s (%s)', async (_, purpose, changes) => {
    expect(await one(purpose, changes)).toMatchObject({ ok: true, problem: null, certain: true })
  })
})

test.each([
  ['the organization’s', { 'b.acme.example': 'p=none', 'acme.example': 'p=reject' }, 'p=reject'],
  ['the one that there is', { 'b.acme.example': 'p=none' }, 'p=none'],
  [
    'that of the department',
    { 'b.acme.example': 'p=none; psd=n', 'acme.example': 'p=reject' },
    'p=none; psd=n',
  ],
  ['none of a suffix', { example: 'p=reject; psd=y' }, undefined],
])('a domain without a DMARC record has %s', async (_, records, expected) => {
  const name = '_dmarc.a.b.acme.example'
  const above = Object.entries(records).map(([at, tags]) => txt(`_dmarc.${at}`, `v=DMARC1; ${tags}`))
  const record = { ...wanted().find(({ purpose }) => purpose === 'dmarc')!, name }
  const ask = createAsk(fakeResolver(Object.assign({}, ...above)))
  const [{ found, ok }] = (await checkRecords([record], ask, PLACE)) as [CheckedRecord]
  expect({ found, ok }).toEqual({
    found: expected === undefined ? [] : [`v=DMARC1; ${expected}`],
    ok: expected !== undefined,
  })
})

describe('an invalid record', () => {
  test.each<[string, Purpose, Record<string, DnsRecords | undefined>, RegExp]>([
    ['a missing record', 'ownership', { [`_agent-messaging.${NAME}`]: undefined }, /no such record/],
    ["another workspace's token", 'ownership', ownership('agent-messaging=other'), /a different value/],
    ['a part of the token', 'ownership', ownership('agent-messaging=tok'), /a different value/],
    ['a missing record', 'mx', { [NAME]: undefined }, /no such record/],
    ['a null MX (RFC 7505)', 'mx', mx([0, '']), /points to a different host/],
    ['only another server', 'mx', mx([10, 'mx.other.example']), /points to a different host/],
    [
      'a server whose name ends with the service’s',
      'mx',
      mx([10, 'evil-mx.service.example']),
      /points to a different host/,
    ],
    [
      'another server preferred to the service’s',
      'mx',
      mx([1, 'mx.other.example'], [10, 'mx.service.example']),
      /goes to mx\.other\.example/,
    ],
    [
      'another server with the same preference',
      'mx',
      mx([10, 'mx.other.example'], [10, 'mx.service.example']),
      /goes to mx\.other\.example/,
    ],
    ['another key', 'dkim', dkim('v=DKIM1; k=rsa; p=AAAA'), /a different key/],
    ['a part of the key', 'dkim', dkim(`v=DKIM1; k=rsa; p=${KEY.slice(0, -4)}`), /a part of this one/],
    ['a revoked key', 'dkim', dkim('v=DKIM1; p='), /contains no key/],
    ['a text that is not a DKIM record', 'dkim', dkim('hello'), /contains no key/],
    ['two records with the key', 'dkim', dkim(`p=${KEY}`, `p=${KEY}`), /more than one/],
    ['only unrelated texts', 'spf', spf('v=spf10 mx'), /no such record/],
    [
      'a record that does not include the service',
      'spf',
      spf('v=spf1 include:other.example -all'),
      /Add include:agents\.service\.example/,
    ],
    [
      'a record that excludes the service',
      'spf',
      spf('v=spf1 -include:agents.service.example +all'),
      /Add include/,
    ],
    ['two records', 'spf', spf('v=spf1 mx -all', 'v=spf1 -all'), /more than one SPF record/],
    ['two records', 'dmarc', dmarc('v=DMARC1; p=none', 'v=DMARC1; p=reject'), /more than one DMARC record/],
    [
      'a record without a policy',
      'dmarc',
      dmarc('v=DMARC1; rua=mailto:a@acme.example'),
      /must be none, quarantine or reject/,
    ],
    ['no record on the domain or its parent', 'dmarc', { [`_dmarc.${NAME}`]: undefined }, /no such record/],
  ])('is reported: %s (%s)', async (_, purpose, changes, says) => {
    expect(await one(purpose, changes)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(says),
      certain: true,
    })
  })
})

describe('checking hostile DNS answers', () => {
  test('finds the matching text among 10,000 and lists only 10 of them', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `${n}`.repeat(200))
    const record = await one('ownership', ownership(...many, 'agent-messaging=token'))
    expect(record.ok).toBe(true)
    expect(record.found).toHaveLength(10)
    expect((await one('spf', spf(...many.map((text) => `v=spf1 ${text}`)))).found).toHaveLength(10)
  })

  test('truncates a text of 60 KB and replaces control characters and unpaired surrogates', async () => {
    const { found } = await one('ownership', ownership('a'.repeat(60_000), 'a\0b\u001b[2Jc\ud800'))
    expect(found[0]).toHaveLength(500)
    expect(found[1]).toBe('a b [2Jc\ufffd')
    expect(() => JSON.parse(JSON.stringify(found))).not.toThrow()
  })

  test.each([
    ['not a list', 'text'],
    ['null', null],
    ['a list of objects', [{ a: 1 }, {}]],
    ['a list of numbers', [[1, 2]]],
  ])('treats an answer that is %s as no record', async (_, answer) => {
    const records = await check(async () => answer as never)
    expect(records.every(({ ok, found }) => !ok && found.length === 0)).toBe(true)
  })

  test('stops waiting for a name server that never answers when the check is aborted', async () => {
    const stop = new AbortController()
    const asking = checkRecords(
      wanted(),
      createAsk(() => new Promise(() => undefined), stop.signal),
      PLACE,
    )
    stop.abort()
    const records = await asking
    expect(records.map(({ certain }) => certain)).toEqual([false, false, false, false, false])
    expect(verdictOf(records)).toBe('unknown')
  })
})

describe('the verdict on a domain', () => {
  const failing =
    (code: string, names: string[], changes: Record<string, DnsRecords | undefined> = {}): DnsResolver =>
    async (name, type) => {
      if (names.includes(name)) throw Object.assign(new Error('x'), { code })
      return fakeResolver(zone(changes))(name, type)
    }

  test.each([
    ['ENOTFOUND', 'wrong'],
    ['ENODATA', 'wrong'],
    ['ETIMEOUT', 'unknown'],
    ['ESERVFAIL', 'unknown'], // a CNAME loop, a DNSSEC failure or a lame server
    ['EREFUSED', 'unknown'],
    ['EBADRESP', 'unknown'],
    [undefined, 'unknown'],
  ])('DNS error %s for a required record gives the verdict %s', async (code, verdict) => {
    expect(verdictOf(await check(failing(code as string, [NAME])))).toBe(verdict)
  })

  test('a record that is certainly wrong outweighs one that DNS could not resolve', async () => {
    const resolver = failing('ETIMEOUT', [NAME], ownership('other'))
    expect(verdictOf(await check(resolver))).toBe('wrong')
  })

  test('recommended records do not affect the verdict', async () => {
    const records = await check(fakeResolver(zone({ [`_dmarc.${NAME}`]: undefined, ...spf('v=spf1 -all') })))
    expect(verdictOf(records)).toBe('right')
  })

  test('one published DKIM key of two is enough, unless it is retired', async () => {
    const resolver = fakeResolver(zone())
    expect(verdictOf(await check(resolver, [key('s2', 'NEW'), key('s1')]))).toBe('right')
    expect(verdictOf(await check(resolver, [key('s2', 'NEW'), key('s1', KEY, new Date())]))).toBe('wrong')
  })
})
