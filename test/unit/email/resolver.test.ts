import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { cached, createResolver } from '../../../src/mail/verify/resolver.ts'
import { type DnsServer, startDns } from '../../support/dns.ts'

let server: DnsServer
beforeAll(async () => {
  server = await startDns({
    'example.com': {
      A: ['192.0.2.1'],
      AAAA: ['2001:db8::1:2'],
      TXT: ['v=spf1 -all', 'x'.repeat(700)],
      MX: [{ priority: 10, exchange: 'mx.example.com' }],
    },
    '1.2.0.192.in-addr.arpa': { PTR: ['host.example.com'] },
    'prvs=1=ann+x._spf.example.com': {
      A: ['127.0.0.2'],
      TXT: ['v=spf1 +all'],
      MX: [{ priority: 5, exchange: 'mx.example.com' }],
    },
  })
})
afterAll(() => server.stop())

test('a resolver queries the given server over UDP, and over TCP when the answer is long', async () => {
  const resolve = createResolver([server.address])
  expect(await resolve('example.com', 'A')).toEqual(['192.0.2.1'])
  expect(await resolve('example.com', 'AAAA')).toEqual(['2001:db8::1:2'])
  expect(await resolve('example.com', 'MX')).toMatchObject([{ priority: 10, exchange: 'mx.example.com' }])
  expect(await resolve('1.2.0.192.in-addr.arpa', 'PTR')).toEqual(['host.example.com'])
  const texts = (await resolve('Example.com', 'TXT')) as string[][]
  expect(texts.map((parts) => parts.join(''))).toEqual(['v=spf1 -all', 'x'.repeat(700)])
})

test('a resolver also looks up names that are no host names', async () => {
  const resolve = createResolver([server.address])
  const name = 'prvs=1=Ann+x._spf.example.com'
  expect(await resolve(name, 'A')).toEqual(['127.0.0.2'])
  expect(await resolve(name, 'TXT')).toEqual([['v=spf1 +all']])
  expect(await resolve(name, 'MX')).toMatchObject([{ priority: 5, exchange: 'mx.example.com' }])
  await expect(resolve(name, 'AAAA')).rejects.toMatchObject({ code: 'ENODATA' })
  await expect(resolve('a+b.example.com', 'A')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

test('a resolver distinguishes a missing name from a missing record', async () => {
  const resolve = createResolver([server.address])
  await expect(resolve('nowhere.example', 'TXT')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(resolve('1.2.0.192.in-addr.arpa', 'TXT')).rejects.toMatchObject({ code: 'ENODATA' })
})

test('a caching resolver stores answers for a minute, missing names for 15 seconds, and failures not at all', async () => {
  let now = 0
  const clock: Clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
  const queries: string[] = []
  const resolve = cached(async (name, type) => {
    queries.push(`${type} ${name}`)
    if (name === 'none') throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    if (name === 'broken') throw Object.assign(new Error('broken'), { code: 'ETIMEOUT' })
    return ['answer']
  }, clock)
  const ask = (name: string) => resolve(name, 'A').catch((error: Error) => error.message)
  const times = async (name: string) => {
    queries.length = 0
    await Promise.all([ask(name), ask(name)])
    await ask(name)
    return queries.length
  }
  expect([await times('there'), await times('none'), await times('broken')]).toEqual([1, 1, 2])
  now = 15_001
  expect([await times('there'), await times('none')]).toEqual([0, 1])
  now = 60_001
  expect(await times('there')).toBe(1)
})
