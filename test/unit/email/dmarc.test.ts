import { describe, expect, test } from 'vitest'
import { checkDmarc } from '../../../src/mail/verify/dmarc.ts'
import type { DnsResolver } from '../../../src/mail/verify/resolver.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { fakeResolver, type Zone } from '../../support/dns.ts'

/** DMARC by RFC 9989: which record applies, and which domains are of one organization, by the tree walk. */

const zoneOf = (records: Record<string, string | string[]>): Zone =>
  Object.fromEntries(
    Object.entries(records).map(([name, texts]) => [
      `_dmarc.${name}`,
      { TXT: [texts].flat().map((text) => `v=DMARC1; ${text}`) },
    ]),
  )

const failing =
  (resolver: DnsResolver, ...names: string[]): DnsResolver =>
  (name, type) =>
    names.includes(name)
      ? Promise.reject(Object.assign(new Error('SERVFAIL'), { code: 'ESERVFAIL' }))
      : resolver(name, type)

const alignment = async (from: string, domain: string, resolver: DnsResolver) =>
  (await checkDmarc(from, [domain], resolver)).alignments.get(domain) ?? 'none'

describe('the policy', () => {
  const zone = {
    ...zoneOf({
      'own.example': 'p=reject; sp=quarantine',
      'two.own.example': ['p=none', 'p=reject'],
      'middle.own.example': 'p=none',
      'deep.example': 'p=reject; np=none',
      'testing.example': 'p=reject; t=y; sp=quarantine',
      'apart.own.example': 'p=none; sp=quarantine; psd=n',
      suffix: 'p=none; sp=reject; psd=y',
      'invalid.example': 'p=sometimes; rua=mailto:a@invalid.example',
    }),
    'there.deep.example': { A: ['192.0.2.1'] },
  }
  test.each([
    ['own.example', 'reject'],
    ['mail.own.example', 'quarantine'],
    ['two.own.example', 'quarantine'],
    // The record of the organization, not the nearest one.
    ['mail.middle.own.example', 'quarantine'],
    ['there.deep.example', 'reject'],
    ['missing.deep.example', 'none'],
    ['testing.example', 'quarantine'],
    ['mail.testing.example', 'none'],
    ['apart.own.example', 'none'],
    ['mail.apart.own.example', 'quarantine'],
    ['mail.holder.suffix', 'reject'],
    ['invalid.example', 'none'],
  ])('of %s is %s', async (from, policy) => {
    expect(await checkDmarc(from, [], fakeResolver(zone))).toMatchObject({ record: 'found', policy })
  })

  test('is that for names that exist, if it is not known whether this one does', async () => {
    const resolver = failing(fakeResolver(zone), 'missing.deep.example')
    expect(await checkDmarc('missing.deep.example', [], resolver)).toMatchObject({ policy: 'reject' })
  })

  test.each(['other.example', 'example'])('of %s does not exist', async (from) => {
    expect(await checkDmarc(from, [], fakeResolver(zone))).toMatchObject({ record: 'none', policy: 'none' })
  })
})

describe('alignment', () => {
  test.each<[string, string, string, Record<string, string>, string]>([
    ['the same name', 'a.example.com', 'a.example.com', {}, 'same'],
    [
      'a name of the organization',
      'a.example.com',
      'b.example.com',
      { 'example.com': 'p=none' },
      'organization',
    ],
    ['the organization', 'a.example.com', 'example.com', { 'example.com': 'p=none' }, 'organization'],
    [
      'names below the only record',
      'a.b.example.com',
      'c.b.example.com',
      { 'b.example.com': 'p=none' },
      'organization',
    ],
    ['a name above the only record', 'a.example.com', 'example.com', { 'a.example.com': 'p=none' }, 'none'],
    [
      'a name beside the only record',
      'a.example.com',
      'b.example.com',
      { 'a.example.com': 'p=none' },
      'none',
    ],
    [
      'a department that is apart (psd=n)',
      'example.com',
      'lab.example.com',
      { 'example.com': 'p=none', 'lab.example.com': 'p=none; psd=n' },
      'none',
    ],
    ['names below a suffix (psd=y)', 'a.one.com', 'b.one.com', { com: 'p=none; psd=y' }, 'organization'],
    ['another holder below a suffix (psd=y)', 'one.com', 'two.com', { com: 'p=none; psd=y' }, 'none'],
    ['another holder below a suffix that does not say so', 'one.com', 'two.com', { com: 'p=none' }, 'none'],
    ['another tenant', 'one.github.io', 'two.github.io', { 'github.io': 'p=reject' }, 'none'],
    [
      'another tenant of one (psd=n)',
      'one.github.io',
      'two.github.io',
      { 'github.io': 'p=reject; psd=n' },
      'none',
    ],
    ['the operator of the suffix', 'one.github.io', 'github.io', { 'github.io': 'p=reject' }, 'none'],
    ['a tenant, for the operator', 'github.io', 'one.github.io', { 'github.io': 'p=reject' }, 'none'],
    ['names of a holder without any record', 'a.example.com', 'b.example.com', {}, 'organization'],
    ['another holder, without any record', 'one.co.uk', 'two.co.uk', {}, 'none'],
    ['another tenant, without any record', 'one.github.io', 'two.github.io', {}, 'none'],
    ['a name that ends with the other', 'ample.com', 'example.com', { 'ample.com': 'p=none' }, 'none'],
  ])('of %s', async (_, from, domain, records, expected) => {
    expect(await alignment(from, domain, fakeResolver(zoneOf(records)))).toBe(expected)
  })
})

describe('a lookup that fails', () => {
  const resolver = fakeResolver(zoneOf({ 'example.com': 'p=reject', 'mail.example.com': 'p=none' }))
  test.each([
    ['at the name itself leaves all open', '_dmarc.mail.example.com', 'unknown', 'unknown'],
    ['above its record leaves the organization open', '_dmarc.example.com', 'found', 'unknown'],
    ['at the other name leaves the organization open', '_dmarc.bounces.example.com', 'found', 'unknown'],
    ['elsewhere does not matter', '_dmarc.example.org', 'found', 'organization'],
  ])('%s', async (_, name, record, expected) => {
    const dmarc = await checkDmarc('mail.example.com', ['bounces.example.com'], failing(resolver, name))
    expect(dmarc.record).toBe(record)
    expect(dmarc.alignments.get('bounces.example.com')).toBe(expected)
    expect(dmarc.alignments.get('mail.example.com')).toBe('same')
  })

  test.each([
    ['leaves mail unsettled that another name of the holder vouches for', 'ann@bounces.example.com', true],
    ['does not matter for the name itself', 'ann@mail.example.com', false],
    ['does not matter for mail that a stranger vouches for', 'x@example.org', false],
  ])('above the record %s', async (_, reversePath, unsettled) => {
    const spf = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }
    const records = { 'bounces.example.com': spf, 'mail.example.com': spf, 'example.org': spf }
    const zone = { ...records, ...zoneOf({ 'example.com': 'p=none', 'mail.example.com': 'p=reject' }) }
    const { proven, checks, ...result } = await verify(
      Buffer.from('From: ann@mail.example.com\r\n\r\nhi\r\n'),
      'ann@mail.example.com',
      { ip: '192.0.2.1', helo: 'mx.example.com', reversePath },
      { resolver: failing(fakeResolver(zone), '_dmarc.example.com'), mta: 'mx.example' },
    )
    const verdict = checks.find(({ name }) => name === 'dmarc')?.verdict
    const fromItself = reversePath === 'ann@mail.example.com'
    expect({ proven, unsettled: result.unsettled }).toEqual({ proven: fromItself, unsettled })
    expect(verdict).toBe(fromItself ? 'pass' : unsettled ? 'temperror' : 'fail')
  })
})

describe('the lookups', () => {
  const silent = () => {
    const queries: string[] = []
    const resolver: DnsResolver = (name) => {
      queries.push(name)
      return new Promise(() => undefined)
    }
    return { queries, resolver }
  }

  test('of a walk are made at once, at most eight', async () => {
    const { queries, resolver } = silent()
    void checkDmarc('a.b.c.d.e.f.g.h.i.example.com', [], resolver)
    expect(queries).toEqual([
      '_dmarc.a.b.c.d.e.f.g.h.i.example.com',
      '_dmarc.e.f.g.h.i.example.com',
      '_dmarc.f.g.h.i.example.com',
      '_dmarc.g.h.i.example.com',
      '_dmarc.h.i.example.com',
      '_dmarc.i.example.com',
      '_dmarc.example.com',
      '_dmarc.com',
    ])
  })

  test('are those that mailauth makes one by one, each once', async () => {
    const queries: string[] = []
    const resolver: DnsResolver = (name, type) => {
      queries.push(name)
      return fakeResolver(zoneOf({ 'i.example.com': 'p=none' }))(name, type)
    }
    const from = 'a.b.c.d.e.f.g.h.i.example.com'
    const { alignments } = await checkDmarc(from, ['b.c.d.e.f.g.h.i.example.com', from], resolver)
    expect(alignments.get('b.c.d.e.f.g.h.i.example.com')).toBe('organization')
    expect(queries).toHaveLength(9)
    expect(new Set(queries).size).toBe(9)
  })

  test('are not made for domains of others, and for few of many', async () => {
    const { queries, resolver } = silent()
    const signers = Array.from({ length: 10 }, (_, n) => `n${n}.example.com`)
    void checkDmarc('example.com', ['example.org', 'evil-example.com', ...signers], resolver)
    expect(queries).toEqual(['example.com', 'com', ...signers.slice(0, 5)].map((name) => `_dmarc.${name}`))
  })

  test('beyond those leave the alignment open, but not that with the name itself', async () => {
    const signers = Array.from({ length: 6 }, (_, n) => `n${n}.example.com`)
    const { alignments } = await checkDmarc(
      'example.com',
      [...signers, 'example.com'],
      fakeResolver(zoneOf({ 'example.com': 'p=none' })),
    )
    expect([...alignments.values()]).toEqual(['same', ...Array(5).fill('organization'), 'unknown'])
  })
})
