import { describe, expect, test } from 'vitest'
import { domainName, parentsOf } from '../../../src/email-domain/name.ts'

const read = (name: string) => domainName(name, 'agents.service.example')

describe('a domain name is normalized', () => {
  test.each([
    ['acme.example', 'acme.example'],
    ['ACME.Example', 'acme.example'],
    ['acme.example.', 'acme.example'],
    ['mail.acme.co.uk', 'mail.acme.co.uk'],
    ['1-2.acme.example', '1-2.acme.example'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['MÜNCHEN.example', 'xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['ａｃｍｅ.example', 'acme.example'],
    ['acme。example', 'acme.example'],
    ['me.github.io', 'me.github.io'],
    ['service.example', 'service.example'], // a parent of the service's own domain, not a subdomain
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('%s becomes %s', (input, name) => {
    expect(read(input)).toBe(name)
  })
})

describe('a domain name that no workspace can use is refused with a reason', () => {
  test.each([
    ['agents.service.example', /the service's own/],
    ['Agents.Service.Example.', /the service's own/],
    ['x.agents.service.example', /the service's own/],
    ['com', /must be a domain name/],
    ['co.uk', /public suffix/],
    ['github.io', /public suffix/],
    ['b.kawasaki.jp', /public suffix/],
    ['localhost', /must be a domain name/],
    ['acme.localhost', /public DNS/],
    ['acme.invalid', /public DNS/],
    ['1.168.192.in-addr.arpa', /public DNS/],
    ['127.0.0.1', /must be a domain name/],
    ['１２７.0.0.1', /must be a domain name/],
    ['127.1', /must be a domain name/],
    ['münchen.example/x', /must be a domain name/],
    ['münchen.example%2ecom', /must be a domain name/],
    ['münchen.example／x', /must be a domain name/],
    ['0x7f.0x1', /must be a domain name/],
    ['[::1]', /must be a domain name/],
    ['::1', /must be a domain name/],
    ['', /must be a domain name/],
    ['.', /must be a domain name/],
    ['..', /must be a domain name/],
    ['acme.example..', /must be a domain name/],
    ['.acme.example', /must be a domain name/],
    ['acme..example', /must be a domain name/],
    ['-acme.example', /must be a domain name/],
    ['acme-.example', /must be a domain name/],
    ['ac_me.example', /must be a domain name/],
    ['acme.example/', /must be a domain name/],
    ['https://acme.example', /must be a domain name/],
    ['acme.example:25', /must be a domain name/],
    ['ann@acme.example', /must be a domain name/],
    ['*.acme.example', /must be a domain name/],
    ['acme .example', /must be a domain name/],
    [' acme.example', /must be a domain name/],
    ['acme.example\n', /must be a domain name/],
    ['acme.example\r\nMX', /must be a domain name/],
    ['xn--a.example', /must be a domain name/], // invalid punycode
    ['xn--80akhbyknj4f.xn--p1ai', /two or more letters/], // not possible in an agent's address
    [`${'a'.repeat(64)}.example`, /must be a domain name/],
    [`${'a.'.repeat(100)}example`, /at most 200 characters/],
    [`${'ü.'.repeat(300)}example`, /at most 200 characters|must be a domain name/],
  ])('%j is refused', (input, says) => {
    expect(() => read(input)).toThrow(says)
    expect(() => read(input)).toThrow(expect.objectContaining({ code: 'invalid_input', field: 'name' }))
  })
})

test.each([
  ['acme.co.uk', []],
  ['a.b.acme.co.uk', ['b.acme.co.uk', 'acme.co.uk']],
  ['a.me.github.io', ['me.github.io']],
  ['github.io', []],
])('the names above %s, of the same holder, are %j', (name, parents) => {
  expect(parentsOf(name)).toEqual(parents)
})
