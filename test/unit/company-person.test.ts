import { describe, expect, test } from 'vitest'
import { personOf } from '../../src/auth/company/person.ts'

/** Who a provider's claims name, for providers that no test can ask. */

const domains = new Set(['example.com', 'example.org'])
const lower = (address: string) => address.toLowerCase()
const person = (claims: object) =>
  personOf({ iss: 'https://idp.example', sub: 'a', ...claims }, domains, lower)

describe('an account of Google', () => {
  const google = {
    ...{ iss: 'https://accounts.google.com', email: 'ann@example.com', email_verified: true },
  }

  test('counts if it is one of the company', () => {
    expect(person({ ...google, hd: 'example.com' })).toMatchObject({ email: 'ann@example.com' })
    // The domain of the organization, of which the address's may be another one.
    expect(person({ ...google, hd: 'example.org' })).toMatchObject({ email: 'ann@example.com' })
  })

  test.each([{}, { hd: null }, { hd: 'evil.example' }, { hd: ['example.com'] }, { hd: 'Example.com ' }])(
    'does not with %j: everybody can have one with an address at a company, also after they have left it',
    (more) => {
      expect(() => person({ ...google, ...more })).toThrow('not one of your company')
    },
  )
})

test.each([
  'https://login.microsoftonline.com/common/v2.0',
  'https://login.microsoftonline.com/organizations/v2.0',
  'https://login.microsoftonline.com/7f1d3b5e-0a2c-4d6e-8f90-a1b2c3d4e5f6',
  'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
  'https://acme.ciamlogin.com/7f1d3b5e-0a2c-4d6e-8f90-a1b2c3d4e5f6/v2.0',
  'https://idp.example/?/7f1d3b5e-0a2c-4d6e-8f90-a1b2c3d4e5f6/v2.0',
])('%s is no issuer of one tenant: its addresses are not proven', (iss) => {
  expect(() => person({ iss, email: 'ann@example.com' })).toThrow('has not verified')
})

test('a name is taken if members may have it', () => {
  const named = (name: unknown) => person({ email: 'ann@example.com', email_verified: 'true', name }).name
  expect(named(' Ann ')).toBe('Ann')
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101), 5, undefined, '\u202eeve'])
    expect(named(name)).toBeNull()
})

test('no shape of a claim is more than refused', () => {
  const iss = 'https://login.microsoftonline.com/7f1d3b5e-0a2c-4d6e-8f90-a1b2c3d4e5f6/v2.0'
  const odd = { toString: 1, valueOf: 1 }
  for (const more of [{ acct: odd }, { xms_edov: odd }, { tid: odd }, { idp: odd }, { email_verified: odd }])
    expect(() => person({ iss, email: 'ann@example.com', ...more })).toThrow('has not verified')
  const idp = 'https://sts.windows.net/7f1d3b5e-0a2c-4d6e-8f90-a1b2c3d4e5f6/'
  expect(person({ iss, email: 'ann@example.com', idp, acct: 0 })).toMatchObject({ email: 'ann@example.com' })
})
