import { describe, expect, test } from 'vitest'
import { canonicalEntry } from '../../../src/agent/access/access-list.ts'
import { normalize, normalizeLoosely } from '../../../src/core/address/email-address.ts'
import { toHostname } from '../../../src/core/address/hostname.ts'
import { recipientCandidates } from '../../../src/mail/header/address.ts'

describe('normalizing an address', () => {
  test.each([
    ['Ann@Example.COM', 'ann@example.com'],
    ['  ann@example.com ', 'ann@example.com'],
    ['owner@localhost', 'owner@localhost'],
    ["o'neil+tag@sub.example.co.uk", "o'neil+tag@sub.example.co.uk"],
    ['grüße@münchen.de', 'grüße@xn--mnchen-3ya.de'],
    ['a@xn--mnchen-3ya.de', 'a@xn--mnchen-3ya.de'],
    ['a@ＭÜＮＣＨＥＮ。de', 'a@xn--mnchen-3ya.de'],
    ['GRU\u0308SSE@example.com', 'grüsse@example.com'],
  ])('turns %s into %s', (given, expected) => expect(normalize(given)).toBe(expected))

  test.each([
    ['a@x.com\r\nBcc: evil@e.com', 'line breaks'],
    ['a@x.com\0', 'control characters'],
    ['a@x,b@y', 'one bare email address'],
    ['a@x.com;b@y.com', 'one bare email address'],
    ['Ann <a@x.com>', 'one bare email address'],
    ['"a b"@x.com', 'quotes'],
    ['"a@evil.com"@x.com', 'quotes'],
    ['a(comment)@x.com', 'comments'],
    ['not-an-address', 'one @'],
    ['@x.com', 'one @'],
    ['a@', 'domain name'],
    ['a@b@c.com', 'one @'],
    ['.a@x.com', 'single dots'],
    ['a..b@x.com', 'single dots'],
    ['a@[127.0.0.1]', 'domain name'],
    ['a@127.0.0.1', 'domain name'],
    ['a@-x.com', 'domain name'],
    ['a@x..com', 'domain name'],
    ['a@ö.x.com/.evil.example', 'domain name'],
    ['a@ö.x%2ecom', 'domain name'],
    ['a@ö.x.com#y', 'domain name'],
    ['a@x.com／y', 'domain name'],
    ['a@xn--zzzzzz.com', 'domain name'],
    [`${'a'.repeat(65)}@x.com`, 'at most 64'],
    [`a@${'b'.repeat(64)}.com`, 'domain name'],
  ])('refuses %j and names the violated rule', (given, rule) => {
    expect(() => normalize(given)).toThrowError(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(rule) }),
    )
  })
})

describe('the candidate addresses of a RCPT command', () => {
  test.each([
    ['Bot@D.example', ['bot@d.example']],
    ['bot+news@d.example', ['bot+news@d.example', 'bot@d.example']],
    ['"bot"@d.example', ['bot@d.example']],
    ['"b\\ot"@d.example', ['bot@d.example']],
    ['<@relay.example:bot@d.example>', ['bot@d.example']],
    ['@one.example,@two.example:bot@d.example', ['bot@d.example']],
    ['+x@d.example', ['+x@d.example']],
    ['nonsense', []],
  ])('%s gives %j', (given, expected) => expect(recipientCandidates(given)).toEqual(expected))
})

// Their lower case, upper case, NFC or NFKC is that of ASCII letters.
test.each(['\u212aevin@example.com', 'kev\u0130n@example.com', '\uff4bevin@example.com'])(
  '%s is not kevin@example.com, however it is listed',
  (other) => {
    const address = normalizeLoosely(other)
    expect(address).not.toMatch(/^[\0-\x7f]*$/)
    expect(canonicalEntry('email', other)).toBe(address)
    expect(normalizeLoosely(other.replace('example', 'ex_ample'))).not.toMatch(/^[\0-\x7f]*$/)
  },
)

test.each([
  'xn--zzzzzz', // no code point
  'xn--abc-', // ASCII only
  'xn--a', // a control character
  'xn--1ug', // a zero-width joiner alone
  'xn--kva', // a mark without a letter
  'xn--a-yoc', // two directions
  'xn--wgvu725a', // a full-width letter
])('a domain with the A-label %s is none, in any version of Node', (label) => {
  expect(toHostname(`${label}.example.com`)).toBeNull()
  expect(toHostname(`ü.${label}.example.com`)).toBeNull()
})

test.each([
  'xn--mnchen-3ya.de',
  'xn--fa-hia.de',
  'xn--i-7iq.ws',
  'xn--mgba3gch31f060k.com',
  'a.xn--p1ai',
  'xn--wgv71a119e.jp',
])('%s is a domain name', (name) => expect(toHostname(name)).toBe(name))

test('an address that cannot be normalized is kept as it is, and an invalid one becomes empty', () => {
  expect(normalizeLoosely('a..b@docomo.ne.jp')).toBe('a..b@docomo.ne.jp')
  expect(normalizeLoosely('no address')).toBe('')
  expect(normalizeLoosely('a@b\u0000.com')).toBe('')
})
