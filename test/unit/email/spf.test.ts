import { describe, expect, test } from 'vitest'
import { registrableDomain } from '../../../src/mail/verify/hostname.ts'
import { createResolver } from '../../../src/mail/verify/resolver.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { fakeResolver, startDns, type Zone } from '../../support/dns.ts'

/** SPF with macros and with addresses that are no host names (RFC 7208; some cases are those of its test suite). */

const ZONE: Zone = {
  'example.com': { TXT: ['v=spf1 exists:%{l}._spf.%{d} -all'] },
  'bob._spf.example.com': { A: ['127.0.0.2'] },
  'bob+news._spf.example.com': { A: ['127.0.0.2'] },
  'prvs=1234abcd=bob._spf.example.com': { A: ['127.0.0.2'] },
  'bounce+ann=example.org._spf.example.com': { A: ['127.0.0.2'] },
  // The suite's "a-colon-domain": a domain-spec may contain any visible character.
  'colon.example.com': { TXT: ['v=spf1 a:foo:bar/baz.example.com'] },
  'foo:bar/baz.example.com': { A: ['192.0.2.4'] },
  'mania.example.com': { TXT: ['v=spf1 a:macro%%percent%_%_space%-url-space.example.com -all'] },
  'macro%percent  space%20url-space.example.com': { A: ['192.0.2.4'] },
  // Within an included record, %{d} is that record's domain.
  'include.example.com': { TXT: ['v=spf1 include:inner.example.org -all'] },
  'inner.example.org': { TXT: ['v=spf1 exists:ok.%{d} -all'] },
  'ok.inner.example.org': { A: ['127.0.0.2'] },
  'upper.example.com': { TXT: ['v=spf1 exists:%{L}.example.net -all'] },
  'jack%26jill%3dup.example.net': { A: ['127.0.0.2'] },
  'helo.example.com': { TXT: ['v=spf1 a:%{h} -all'] },
  'requires.example.com': { TXT: ['v=spf1 -include:valid.example.com ip4:192.0.2.0/24 -all'] },
  'valid.example.com': { TXT: ['v=spf1 -a:%{h} +all'] },
  'none.example.com': { TXT: ['v=spf1 include:%{l}.nowhere. -all'] },
  'bare.example.com': { TXT: ['v=spf1 ip6 ip4:192.0.2.4 -all'] },
  'twice.example.com': { TXT: ['v=spf1 ip4:192.0.2.4 exp=a.example.com exp=b.example.com'] },
  'expression.example.com': { TXT: ['v=spf1 ip4:192.0.2.4 exp=-all'] },
  'letter.example.com': { TXT: ['v=spf1 ip4:192.0.2.4 -all exp=%{r}.example.com'] },
  'percent.example.com': { TXT: ['v=spf1 ip4:192.0.2.4 exists:100%.example.com -all'] },
  'modifier.example.com': { TXT: ['v=spf1 ip4:192.0.2.4 ra=postmaster -all exp=%{d}'] },
  'long.example.com': { TXT: ['v=spf1 exists:%{l}.%{l}.%{l}.%{l}.%{l}.end.example.com -all'] },
}
const LONG = 'a'.repeat(60)
ZONE[`${[LONG, LONG, LONG].join('.')}.end.example.com`] = { A: ['127.0.0.2'] }

const spf = async (
  reversePath: string,
  { helo = 'mail.example.com', resolver = fakeResolver(ZONE) } = {},
) => {
  const raw = Buffer.from('From: ann@example.com\r\n\r\nHi')
  const envelope = { ip: '192.0.2.4', helo, reversePath }
  const { checks } = await verify(raw, 'ann@example.com', envelope, { resolver, mta: 'mx.example' })
  return checks.find(({ name }) => name === 'spf')?.verdict
}

describe('SPF', () => {
  test.each([
    ['bob@example.com', 'pass'],
    ['bob+news@example.com', 'pass'],
    ['prvs=1234abcd=bob@example.com', 'pass'],
    ['bounce+ann=example.org@example.com', 'pass'],
    ['eve+news@example.com', 'fail'],
    // Non-ASCII local parts match nothing (RFC 8616 4), and neither do labels that are too long.
    ['jörg@example.com', 'fail'],
    [`${'b'.repeat(64)}@example.com`, 'fail'],
    ['a..b@example.com', 'fail'],
    ['@example.com', 'fail'],
    ['Macro Error@example.com', 'fail'],
    ['bob@colon.example.com', 'pass'],
    ['bob@mania.example.com', 'pass'],
    ['bob@include.example.com', 'pass'],
    ['jack&jill=up@upper.example.com', 'pass'],
    [`${LONG}@long.example.com`, 'pass'],
    ['a b@none.example.com', 'permerror'],
    ['bob@bare.example.com', 'permerror'],
    ['bob@twice.example.com', 'permerror'],
    ['bob@expression.example.com', 'permerror'],
    ['bob@letter.example.com', 'permerror'],
    ['bob@percent.example.com', 'permerror'],
    ['bob@modifier.example.com', 'pass'],
  ])('of %s: %s', async (reversePath, verdict) => {
    expect(await spf(reversePath)).toBe(verdict)
  })

  test.each(['OEMCOMPUTER', "JUMPIN' JUPITER", '[192.0.2.4]'])(
    'with the HELO %s, which is no name',
    async (helo) => {
      expect(await spf('bob@helo.example.com', { helo })).toBe('fail')
      expect(await spf('bob@requires.example.com', { helo })).toBe('fail')
    },
  )

  test('with real lookups', async () => {
    const server = await startDns(ZONE)
    const resolver = createResolver([server.address])
    expect(await spf('bob+news@example.com', { resolver })).toBe('pass')
    expect(await spf('eve+news@example.com', { resolver })).toBe('fail')
    expect(await spf('bob@colon.example.com', { resolver })).toBe('pass')
    await server.stop()
  })
})

test('names with such labels belong to their registered domain', () => {
  expect(registrableDomain('a+b=c._spf.example.co.uk')).toBe('example.co.uk')
})
