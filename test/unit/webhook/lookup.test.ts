import { afterAll, expect, test } from 'vitest'
import { createAllow } from '../../../src/outgoing-http/allowed-address.ts'
import { createLookup } from '../../../src/outgoing-http/lookup.ts'
import { startDns } from '../../support/dns.ts'

const dns = await startDns({
  'hooks.example.com': { A: ['203.0.113.7'], AAAA: ['2001:db8::7'] },
  'empty.example.com': {},
})
afterAll(() => dns.stop())

test('hosts of webhooks are resolved with DNS_SERVERS', async () => {
  const lookup = createLookup(createAllow([]), [dns.address])
  expect(await lookup('hooks.example.com')).toEqual([
    { address: '203.0.113.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ])
  await expect(lookup('nowhere.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(lookup('empty.example.com')).rejects.toMatchObject({ code: 'ENODATA' })
})

test('a name in WEBHOOK_ALLOW is resolved by the system, which may have it in its hosts file', async () => {
  const lookup = createLookup(createAllow(['localhost']), [dns.address])
  expect((await lookup('localhost')).map(({ address }) => address)).toContain('127.0.0.1')
})
