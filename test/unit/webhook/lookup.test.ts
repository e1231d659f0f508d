import { afterAll, expect, test } from 'vitest'
import { createAllow } from '../../../src/outgoing-http/allowed-address.ts'
import { createLookup } from '../../../src/outgoing-http/lookup.ts'
import { startDns } from '../../support/dns.ts'

const dns = await startDns({
  'hooks.example.com': { A: ['203.0.113.7'], AAAA: ['2001:db8::7'] },
  'empty.example.com': {},
})
afterAll(() => dns.stop())

test('the hosts of webhooks are asked of DNS_SERVERS', async () => {
  const lookup = createLookup(createAllow([]), [dns.address])
  expect(await lookup('hooks.example.com')).toEqual([
    { address: '203.0.113.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ])
  await expect(lookup('nowhere.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(lookup('empty.example.com')).rejects.toMatchObject({ code: 'ENODATA' })
})

test('a name that the operator opened is asked of the system, whose hosts file may have it', async () => {
  const lookup = createLookup(createAllow(['localhost']), [dns.address])
  expect((await lookup('localhost')).map(({ address }) => address)).toContain('127.0.0.1')
})
