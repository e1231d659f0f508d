import { describe, expect, test } from 'vitest'
import { createAllow } from '../../../src/outgoing-http/allowed-address.ts'
import type { Lookup } from '../../../src/outgoing-http/lookup.ts'
import { checkTargetUrl } from '../../../src/outgoing-http/url.ts'

const names: Record<string, string[]> = {
  'example.com': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'inside.example.com': ['10.0.0.5'],
  'mixed.example.com': ['93.184.215.14', '127.0.0.1'],
  'mapped.example.com': ['::ffff:10.0.0.5'],
  'nat64.example.com': ['64:ff9b::a00:5'],
  'meta.example.com': ['169.254.169.254'],
  'docker.example': ['172.17.0.2'],
}
const lookup: Lookup = async (name) => {
  const found = names[name]
  if (!found) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}
const check = (url: string, allow: string[] = []) =>
  checkTargetUrl(url, { allow: createAllow(allow), lookup })

describe('a webhook URL is accepted', () => {
  test.each([
    ['https://example.com/hook', 'https://example.com/hook'],
    ['https://EXAMPLE.com', 'https://example.com/'],
    ['https://example.com:443/a?b=c&d=e%20f', 'https://example.com/a?b=c&d=e%20f'],
    ['https://example.com:8443/hook', 'https://example.com:8443/hook'],
    ['https://93.184.215.14/hook', 'https://93.184.215.14/hook'],
    [
      'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
      'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    ],
    ['https://not-yet-there.example.com/', 'https://not-yet-there.example.com/'],
    ['https://example.com/@not-a-credential', 'https://example.com/@not-a-credential'],
  ])('such as %s', async (url, stored) => {
    expect(await check(url)).toBe(stored)
  })
})

describe('a webhook URL is refused', () => {
  test.each([
    // the scheme and the shape
    'http://example.com/',
    'ftp://example.com/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    '//example.com/',
    'example.com',
    '',
    ' https://example.com/',
    'https://example.com/\n',
    'https://exa\tmple.com/',
    'https:\\\\example.com\\hook',
    'https://example.com\\@127.0.0.1/',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    'https://@example.com/',
    'https://example.com/#fragment',
    'https://example.com/#',
    'https://example.com:0/',
    'https://example.com:70000/',
    `https://example.com/${'a'.repeat(2048)}`,
    'https://exa\u0000mple.com/',
    // names that are never public
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://foo.localhost/',
    'https://printer.local/',
    'https://a..example.com/',
    'https://.example.com/',
    `https://${'a'.repeat(64)}.com/`,
    `https://${'a.'.repeat(126)}com/x`,
    'https://metadata.google.internal/',
    'https://metadata.google.internal./',
    'https://nas.home.arpa/',
    'https://db.lan/',
    'https://intranet/',
    'https://example.com./',
    // addresses in every notation
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://%31%32%37.0.0.1/',
    'https://127.0.0.1./',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://168.63.129.16/',
    'https://100.64.0.1/',
    'https://100.100.100.200/',
    'https://192.0.0.1/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[100::1]/',
    'https://[5f00::1]/',
    // names that resolve to such addresses
    'https://inside.example.com/',
    'https://mixed.example.com/',
    'https://mapped.example.com/',
    'https://nat64.example.com/',
    'https://meta.example.com/',
  ])('such as %j', async (url) => {
    await expect(check(url)).rejects.toMatchObject({ code: 'invalid_input', field: 'url' })
  })

  test('without revealing the address of its host', async () => {
    await expect(check('https://inside.example.com/')).rejects.toThrow(
      /^url: must point to a host on the public internet; the operator can permit others with WEBHOOK_ALLOW$/,
    )
  })
})

describe('WEBHOOK_ALLOW', () => {
  test.each([
    ['http://localhost:4001/', ['localhost']],
    ['http://localhost:4001/', ['localhost:4001']],
    ['http://127.0.0.1:4001/', ['127.0.0.0/8']],
    ['http://127.0.0.1:4001/', ['127.0.0.1:4001']],
    ['http://[::1]:4001/', ['::1']],
    ['http://[::1]:4001/', ['[::1]:4001']],
    ['http://docker.example/', ['172.16.0.0/12']],
    ['https://inside.example.com/', ['10.0.0.0/8']],
    ['https://inside.example.com/', ['INSIDE.example.com']],
    ['http://not-yet-there/', ['not-yet-there']],
  ])('%s is allowed by %j', async (url, allow) => {
    expect(await check(url, allow)).toBe(url)
  })

  test.each([
    ['http://localhost:4002/', ['localhost:4001']],
    ['http://127.0.0.1:4001/', ['10.0.0.0/8']],
    ['http://example.com/', ['10.0.0.0/8']],
    ['http://not-yet-there.example.com/', ['10.0.0.0/8']],
    ['https://mixed.example.com/', ['10.0.0.0/8']],
    ['https://[::ffff:127.0.0.1]/', ['127.0.0.0/8']],
    ['http://sub.localhost/', ['localhost']],
  ])('%s is not allowed by %j', async (url, allow) => {
    await expect(check(url, allow)).rejects.toMatchObject({ code: 'invalid_input' })
  })

  test.each(['http://localhost', '10.0.0.0/64', 'host:99999', 'a b', '*.example.com'])(
    '%j is not a valid entry',
    (entry) => {
      expect(() => createAllow([entry])).toThrow(entry)
    },
  )
})
