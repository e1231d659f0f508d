import { describe, expect, test } from 'vitest'
import {
  matches,
  normalize,
  normalizeLoosely,
  recipientCandidates,
} from '../../../src/channel/email/address.ts'

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

describe('matching an access list entry', () => {
  test.each([
    ['ann@example.com', 'ann@example.com', true],
    ['ANN@Example.com', 'ann@example.com', true],
    ['*@example.com', 'ann@example.com', true],
    ['*@EXAMPLE.com', 'ann@example.com', true],
    ['*@münchen.de', 'a@xn--mnchen-3ya.de', true],
    ['*@example.com', 'ann@sub.example.com', false],
    ['*@example.com', 'ann@notexample.com', false],
    ['*', 'ann@example.com', false],
    ['*@', 'ann@example.com', false],
    ['', '', false],
    ['*@example.com', '', false],
    ['bob@example.com', 'ann@example.com', false],
  ])('%j matches %j: %s', (entry, address, expected) => expect(matches(entry, address)).toBe(expected))
})

test('an address that cannot be normalized is kept as it is, and an invalid one becomes empty', () => {
  expect(normalizeLoosely('a..b@docomo.ne.jp')).toBe('a..b@docomo.ne.jp')
  expect(normalizeLoosely('no address')).toBe('')
  expect(normalizeLoosely('a@b\u0000.com')).toBe('')
})
