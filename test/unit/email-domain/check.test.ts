import { describe, expect, test } from 'vitest'
import type { DnsResolver } from '../../../src/channel/email/verify/resolver.ts'
import { checkRecords, verdictOf } from '../../../src/email-domain/check.ts'
import type { PublishedKey } from '../../../src/email-domain/dkim.ts'
import { createAsk } from '../../../src/email-domain/lookup.ts'
import { type Purpose, wantedRecords } from '../../../src/email-domain/record.ts'
import { type DnsRecords, fakeResolver, type Zone } from '../../support/dns.ts'

const PLACE = { mailDomain: 'agents.service.example', mailHost: 'mx.service.example' }
const NAME = 'team.acme.example'
const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'

const key = (selector: string, publicKey = KEY, retiredAt: Date | null = null): PublishedKey => ({
  selector,
  publicKey,
  record: { name: `${selector}._domainkey.${NAME}`, type: 'TXT', value: `v=DKIM1; k=rsa; p=${publicKey}` },
  createdAt: new Date(),
  retiredAt,
})
const wanted = (keys = [key('s1')]) => wantedRecords({ name: NAME, ownershipToken: 'token' }, keys, PLACE)

/** As it should be; `changes` replaces names, undefined takes them out. */
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

test('all as it should be', async () => {
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

describe('what is as it should be in other ways too', () => {
  test.each<[string, Purpose, Record<string, DnsRecords | undefined>]>([
    ['beside other texts', 'ownership', ownership('something else', ' agent-messaging=token ')],
    ['with another priority, another case and the dot of the root', 'mx', mx([0, 'MX.Service.Example.'])],
    ['with a spare server behind ours', 'mx', mx([10, 'mx.service.example'], [20, 'spare.example'])],
    ['with spaces in it', 'dkim', dkim(`v=DKIM1;k=rsa;p=${KEY.slice(0, 8)} ${KEY.slice(8)}`)],
    ['without v= and k=', 'dkim', dkim(`p=${KEY}`)],
    [
      'among others',
      'spf',
      spf('google-site-verification=x', 'V=SPF1 ip4:192.0.2.1 +INCLUDE:agents.service.example -all'),
    ],
    ['by its MX', 'spf', spf('v=spf1 mx ~all')],
    ['stricter', 'dmarc', dmarc('v=DMARC1; p=reject; rua=mailto:a@acme.example')],
    [
      'of the registered domain',
      'dmarc',
      { [`_dmarc.${NAME}`]: undefined, ...txt('_dmarc.acme.example', 'v=DMARC1; p=quarantine') },
    ],
  ])('%s: %s', async (_, purpose, changes) => {
    expect(await one(purpose, changes)).toMatchObject({ ok: true, problem: null, certain: true })
  })
})

describe('what is wrong is said', () => {
  test.each<[string, Purpose, Record<string, DnsRecords | undefined>, RegExp]>([
    ['nothing', 'ownership', { [`_agent-messaging.${NAME}`]: undefined }, /no such record/],
    ["another workspace's token", 'ownership', ownership('agent-messaging=other'), /a different value/],
    ['half of it', 'ownership', ownership('agent-messaging=tok'), /a different value/],
    ['nothing', 'mx', { [NAME]: undefined }, /no such record/],
    ['no mail at all (RFC 7505)', 'mx', mx([0, '']), /points to a different host/],
    ['another server', 'mx', mx([10, 'mx.other.example']), /points to a different host/],
    [
      'a server whose name ends like ours',
      'mx',
      mx([10, 'evil-mx.service.example']),
      /points to a different host/,
    ],
    [
      'another server before ours',
      'mx',
      mx([1, 'mx.other.example'], [10, 'mx.service.example']),
      /goes to mx\.other\.example/,
    ],
    [
      'another server beside ours',
      'mx',
      mx([10, 'mx.other.example'], [10, 'mx.service.example']),
      /goes to mx\.other\.example/,
    ],
    ['another key', 'dkim', dkim('v=DKIM1; k=rsa; p=AAAA'), /a different key/],
    ['a part of the key', 'dkim', dkim(`v=DKIM1; k=rsa; p=${KEY.slice(0, -4)}`), /a part of this one/],
    ['a revoked key', 'dkim', dkim('v=DKIM1; p='), /contains no key/],
    ['something else', 'dkim', dkim('hello'), /contains no key/],
    ['the key twice', 'dkim', dkim(`p=${KEY}`, `p=${KEY}`), /more than one/],
    ['other texts only', 'spf', spf('v=spf10 mx'), /no such record/],
    ['without us', 'spf', spf('v=spf1 include:other.example -all'), /Add include:agents\.service\.example/],
    ['us excluded', 'spf', spf('v=spf1 -include:agents.service.example +all'), /Add include/],
    ['two', 'spf', spf('v=spf1 mx -all', 'v=spf1 -all'), /more than one SPF record/],
    ['two', 'dmarc', dmarc('v=DMARC1; p=none', 'v=DMARC1; p=reject'), /more than one DMARC record/],
    [
      'no policy',
      'dmarc',
      dmarc('v=DMARC1; rua=mailto:a@acme.example'),
      /must be none, quarantine or reject/,
    ],
    ['none, nor above', 'dmarc', { [`_dmarc.${NAME}`]: undefined }, /no such record/],
  ])('%s: %s', async (_, purpose, changes, says) => {
    expect(await one(purpose, changes)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(says),
      certain: true,
    })
  })
})

describe('hostile answers', () => {
  test('10,000 texts: the right one is found among them, and few are shown', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `${n}`.repeat(200))
    const record = await one('ownership', ownership(...many, 'agent-messaging=token'))
    expect(record.ok).toBe(true)
    expect(record.found).toHaveLength(10)
    expect((await one('spf', spf(...many.map((text) => `v=spf1 ${text}`)))).found).toHaveLength(10)
  })

  test('a text of 60 KB is cut, control characters and half surrogates are gone', async () => {
    const { found } = await one('ownership', ownership('a'.repeat(60_000), 'a\0b\u001b[2Jc\ud800'))
    expect(found[0]).toHaveLength(500)
    expect(found[1]).toBe('a b [2Jc\ufffd')
    expect(() => JSON.parse(JSON.stringify(found))).not.toThrow()
  })

  test.each([
    ['no list', 'text'],
    ['null', null],
    ['objects', [{ a: 1 }, {}]],
    ['numbers', [[1, 2]]],
  ])('%s is no record', async (_, answer) => {
    const records = await check(async () => answer as never)
    expect(records.every(({ ok, found }) => !ok && found.length === 0)).toBe(true)
  })

  test('a name server that never answers is waited for no longer than it may', async () => {
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

describe('the verdict', () => {
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
    ['ESERVFAIL', 'unknown'], // a loop of CNAMEs, DNSSEC that does not verify, a lame server
    ['EREFUSED', 'unknown'],
    ['EBADRESP', 'unknown'],
    [undefined, 'unknown'],
  ])('%s for a required record: %s', async (code, verdict) => {
    expect(verdictOf(await check(failing(code as string, [NAME])))).toBe(verdict)
  })

  test('what is certainly wrong weighs more than what DNS could not say', async () => {
    const resolver = failing('ETIMEOUT', [NAME], ownership('other'))
    expect(verdictOf(await check(resolver))).toBe('wrong')
  })

  test('advised records do not matter', async () => {
    const records = await check(fakeResolver(zone({ [`_dmarc.${NAME}`]: undefined, ...spf('v=spf1 -all') })))
    expect(verdictOf(records)).toBe('right')
  })

  test('of two DKIM keys one is enough, a retired one is not', async () => {
    const resolver = fakeResolver(zone())
    expect(verdictOf(await check(resolver, [key('s2', 'NEW'), key('s1')]))).toBe('right')
    expect(verdictOf(await check(resolver, [key('s2', 'NEW'), key('s1', KEY, new Date())]))).toBe('wrong')
  })
})
