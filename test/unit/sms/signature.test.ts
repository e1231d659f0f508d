import fc from 'fast-check'
import twilio from 'twilio'
import { expect, test } from 'vitest'
import { isSigned, sign } from '../../../src/channel/sms/signature.ts'

/** Twilio's own library is the reference for signatures. */
const { getExpectedTwilioSignature, validateRequest } = twilio

const TOKEN = '12345'
const URL_ = 'https://example.com/channels/sms/messages?foo=1&bar=2'
const FIELDS = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
}

test('a signature equals that of Twilio’s library, which also accepts it', () => {
  const signature = sign(TOKEN, URL_, new URLSearchParams(FIELDS))
  expect(signature).toBe(getExpectedTwilioSignature(TOKEN, URL_, FIELDS))
  expect(validateRequest(TOKEN, signature, URL_, FIELDS)).toBe(true)
})

test('a signature of Twilio’s library is accepted for any fields', () => {
  const field = fc.string({ minLength: 1, unit: fc.constantFrom(...'aB0_é🚚 \n&=+%', '\u0000') })
  fc.assert(
    fc.property(fc.dictionary(field, fc.string({ unit: 'grapheme' })), (fields) => {
      const own = Object.fromEntries(Object.entries(fields))
      const form = new URLSearchParams(new URLSearchParams(own).toString())
      expect(
        isSigned(TOKEN, { url: URL_, form, signature: getExpectedTwilioSignature(TOKEN, URL_, own) }),
      ).toBe(true)
    }),
  )
})

test('a repeated field is signed as Twilio signs a list', () => {
  const form = new URLSearchParams('a=2&a=1&a=2&b=x')
  expect(sign(TOKEN, URL_, form)).toBe(
    getExpectedTwilioSignature(TOKEN, URL_, { a: ['2', '1', '2'], b: 'x' }),
  )
})

test.each([
  ['https://example.com/x', 'https://example.com:443/x'],
  ['http://example.com/x?a=1', 'http://example.com:80/x?a=1'],
  ['https://example.com:443/x', 'https://example.com/x'],
  ['https://example.com:443/x', 'https://example.com:443/x'],
  ['https://example.com:8443/x?a=%7Eb:1', 'https://example.com/x?a=%7Eb:1'],
  ['http://[::1]:4000/x', 'http://[::1]/x'],
])('a request to %s may be signed for %s', (url, spelled) => {
  expect(
    isSigned(TOKEN, {
      url,
      form: new URLSearchParams(FIELDS),
      signature: getExpectedTwilioSignature(TOKEN, spelled, FIELDS),
    }),
  ).toBe(true)
})

const form = new URLSearchParams(FIELDS)
const right = sign(TOKEN, URL_, form)
test.each([
  ['', URL_, form],
  ['x', URL_, form],
  [`${right} `, URL_, form],
  [right.toLowerCase(), URL_, form],
  [sign('another', URL_, form), URL_, form],
  [right, 'https://example.com/channels/sms/messages?foo=1&bar=3', form],
  [right, 'https://evil.example/channels/sms/messages?foo=1&bar=2', form],
  [right, 'http://example.com/channels/sms/messages?foo=1&bar=2', form],
  [sign(TOKEN, 'https://example.com:8443/x', form), 'https://example.com:9443/x', form],
  [sign(TOKEN, 'https://example.com:8443/x', form), 'https://example.com/x', form],
  [right, URL_, new URLSearchParams({ ...FIELDS, Digits: '1235' })],
  [right, URL_, new URLSearchParams({ ...FIELDS, More: '1' })],
])('the signature %j is not valid for %s (case %#)', (signature, url, fields) => {
  expect(isSigned(TOKEN, { url, form: fields, signature })).toBe(false)
})
