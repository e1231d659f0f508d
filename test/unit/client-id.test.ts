import { expect, test } from 'vitest'
import { metadataIn, newClientId } from '../../src/auth/oauth/client-id.ts'

const KEY = new Uint8Array(32).fill(1)
const URIS = ['https://client.example/callback', 'http://127.0.0.1:1234/cb', 'com.example.app:/cb']
const client = { client_name: 'Prüfung “A”', redirect_uris: URIS }
const made = () => newClientId(KEY, client)

test('an id contains the metadata, for everyone who has the key', () => {
  const id = made()
  expect(metadataIn(KEY, id)).toEqual({
    ...client,
    client_id: id,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
  expect(id).toMatch(/^[\w-]+$/)
  expect(metadataIn(new Uint8Array(32).fill(2), id)).toBeUndefined()
  expect(metadataIn(KEY, newClientId(KEY, { redirect_uris: URIS }))).not.toHaveProperty('client_name')
})

test('two registrations of the same metadata are two clients', () => {
  expect(made()).not.toBe(made())
})

test('an id of which any character differs is not ours, nor is another text for the same bytes', () => {
  const id = made()
  for (let at = 0; at < id.length; at++) {
    const other = id[at] === 'A' ? 'B' : 'A'
    expect([at, metadataIn(KEY, id.slice(0, at) + other + id.slice(at + 1))]).toEqual([at, undefined])
  }
  for (const same of [`${id}=`, `${id} `, `${id.slice(0, 9)}.${id.slice(9)}`, `${id}A`, id.slice(0, -1)])
    expect(metadataIn(KEY, same)).toBeUndefined()
})

test.each([
  '',
  'x',
  'A'.repeat(43),
  'A'.repeat(64),
  'A'.repeat(10_000),
  'https://client.example/client.json',
])('%s is no such id', (text) => {
  expect(metadataIn(KEY, text)).toBeUndefined()
})

test('the longest id fits into a column with an index', () => {
  const of = (length: number) =>
    newClientId(KEY, { redirect_uris: [`https://a.example/${'x'.repeat(length - 25)}`] })
  const longest = of(1_400)
  expect(longest.length).toBeLessThan(2_000)
  expect(metadataIn(KEY, longest)).toBeDefined()
  expect(() => of(1_401)).toThrow('invalid_client_metadata')
})

test('an id with what is no longer acceptable is that of no client', () => {
  for (const redirect_uris of [['http://client.example/cb'], ['javascript:alert(1)'], []])
    expect(metadataIn(KEY, newClientId(KEY, { redirect_uris }))).toBeUndefined()
})
