import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { keyOf, newSecret, signedHeaders } from '../../../src/webhook/post/sign.ts'

const headersOf = (list: string[]) =>
  Object.fromEntries(Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!]))

test('a secret is whsec_ and 32 random bytes in base64', () => {
  expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newSecret()).not.toBe(newSecret())
})

test('the standardwebhooks library verifies the signature of any body', () => {
  const secret = newSecret()
  for (const body of ['{}', '{"subject":"Grüße 🚀"}', 'x'.repeat(100_000)]) {
    const headers = headersOf(signedHeaders([keyOf(secret)], 'evt_1', new Date(), Buffer.from(body)))
    expect(() => new Webhook(secret).verify(body, headers, { jsonParse: false })).not.toThrow()
    expect(headers['webhook-signature']).toBe(
      new Webhook(secret).sign('evt_1', new Date(Number(headers['webhook-timestamp']) * 1000), body),
    )
  }
})

test('the signature covers the ID, the time and the body', () => {
  const secret = newSecret()
  const headers = headersOf(signedHeaders([keyOf(secret)], 'evt_1', new Date(), Buffer.from('{}')))
  const later = String(Number(headers['webhook-timestamp']) + 1)
  expect(() => new Webhook(secret).verify('{ }', headers)).toThrow()
  expect(() => new Webhook(secret).verify('{}', { ...headers, 'webhook-id': 'evt_2' })).toThrow()
  expect(() => new Webhook(secret).verify('{}', { ...headers, 'webhook-timestamp': later })).toThrow()
})

test('either secret verifies the signature while the previous one is valid', () => {
  const [secret, previous] = [newSecret(), newSecret()]
  const headers = headersOf(
    signedHeaders([keyOf(secret), keyOf(previous)], 'evt_1', new Date(), Buffer.from('{}')),
  )
  expect(headers['webhook-signature']!.split(' ')).toHaveLength(2)
  for (const one of [secret, previous]) expect(() => new Webhook(one).verify('{}', headers)).not.toThrow()
  expect(() => new Webhook(newSecret()).verify('{}', headers)).toThrow()
})
