import { afterEach, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createMailReader } from '../../../src/mail/reading/create-reader.ts'
import type { MailReader } from '../../../src/mail/reading/mail-reader.ts'
import { createReception } from '../../../src/mail/receive/reception.ts'
import type { DnsResolver } from '../../../src/mail/verify/resolver.ts'
import { fakeResolver } from '../../support/dns.ts'
import { sinkWith } from '../../support/sink.ts'

let reader: MailReader
afterEach(() => reader.close())

const received = (resolver: DnsResolver) => {
  reader = createMailReader({ mailDomain: 'agents.example', mta: 'mx.example', resolver, log: silentLogger })
  const reception = createReception(sinkWith(), {
    ...{ reader, mailDomain: 'agents.example', returnPaths: null, log: silentLogger },
  })
  return (ip: string, domain: string) =>
    reception.deliver(
      Buffer.from(`From: ann@${domain}\r\n\r\nhello\r\n`),
      { ip, helo: 'mail.example', reversePath: `ann@${domain}` },
      ['bot@agents.example'],
    )
}

test.each([
  ['a gateway in the own network', '127.0.0', 8],
  ['the public internet', '198.51.100', 1],
])(
  'a source of ever new domains that never answer is bounded: from %s, %s.n, %i are verified at a time',
  async (_, network, most) => {
    const domains = new Set<string>()
    const inZone = fakeResolver({ 'honest.example': { TXT: ['v=spf1 -all'] } })
    const deliver = received((name, type) => {
      const silent = /\bn(\d+)-(\d+)\.example$/.exec(name)
      if (!silent) return inZone(name, type)
      domains.add(silent[0])
      return new Promise(() => undefined)
    })
    let ended = 0
    const strangers = [1, 2].flatMap((source) =>
      Array.from({ length: 40 }, (_, n) =>
        deliver(`${network}.${source}`, `n${source}-${n}.example`).finally(() => {
          ended++
        }),
      ),
    )
    const settled = Promise.allSettled(strangers)
    for (let n = 0; n < 20; n++) await deliver(`${network}.9`, 'honest.example')
    // All that were verified are still waiting, apart from those that ended on a very slow machine.
    expect(domains.size - ended).toBeLessThanOrEqual(2 * most)
    expect(domains.size).toBeGreaterThan(0)
    await reader.close()
    await settled
  },
)
