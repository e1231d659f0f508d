import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createDirect } from '../../../src/mail/send/direct.ts'
import type { TlsResult } from '../../../src/mail/send/tls/result.ts'
import { StsPolicyCache } from '../../../src/mail/send/tls/sts-policies.ts'
import { namesHost, parseStsPolicy } from '../../../src/mail/send/tls/sts-policy.ts'
import { createFakeClock } from '../../support/clock.ts'
import { fakeResolver, type Zone } from '../../support/dns.ts'

const lines = (...mx: string[]) => ['version: STSv1', 'mode: enforce', ...mx.map((name) => `mx: ${name}`)]
const policyText = (mode: string, ...mx: string[]) =>
  ['version: STSv1', `mode: ${mode}`, ...mx.map((name) => `mx: ${name}`), 'max_age: 86400', ''].join('\r\n')

describe('a policy', () => {
  test('is read with either line end, unknown keys and white space', () => {
    const text =
      'version: STSv1\nmode:testing \nextra: 1\nmx: MX1.example.com\nmx:\t*.example.net\nmax_age: 604800\n'
    expect(parseStsPolicy(text)).toEqual({
      ...{ mode: 'testing', mx: ['mx1.example.com', '*.example.net'], maxAge: 604_800 },
    })
    expect(parseStsPolicy('version: STSv1\nmode: none\nmax_age: 0')).toEqual({
      mode: 'none',
      mx: [],
      maxAge: 0,
    })
    expect(parseStsPolicy(`${lines('a.com').join('\n')}\nmax_age: 9999999999`)?.maxAge).toBe(31_557_600)
  })

  test.each([
    ['nothing', ''],
    ['HTML', '<html>not found</html>'],
    ['another version', lines('a.com').join('\n').replace('STSv1', 'STSv2')],
    ['no max_age', lines('a.com').join('\n')],
    ['a negative max_age', `${lines('a.com').join('\n')}\nmax_age: -1`],
    ['an unknown mode', policyText('maybe', 'a.com')],
    ['no mx', policyText('enforce')],
    ['an mx that is no name', policyText('enforce', 'a.com', '*')],
    ['a wildcard inside', policyText('enforce', 'a.*.com')],
    ['too many names', policyText('enforce', ...Array.from({ length: 101 }, (_, n) => `m${n}.a.com`))],
  ])('with %s is not valid', (_, text) => expect(parseStsPolicy(text)).toBeNull())

  test.each<[string, string, boolean]>([
    ['mx.a.com', 'mx.a.com', true],
    ['mx.a.com', 'mx.b.com', false],
    ['*.a.com', 'mx.a.com', true],
    ['*.a.com', 'a.com', false],
    ['*.a.com', 'x.mx.a.com', false],
    ['*.com', 'com', false],
  ])('with %s names %s: %s', (mx, host, expected) =>
    expect(namesHost({ mode: 'enforce', mx: [mx], maxAge: 1 }, host)).toBe(expected),
  )
})

describe('the policy of a domain', () => {
  const clock = createFakeClock()
  const zone: Zone = {}
  let fetched: string[] = []
  let answer: () => string = () => policyText('enforce', 'mx.a.com')
  const cache = () =>
    new StsPolicyCache({
      clock,
      resolver: fakeResolver(zone),
      get: async (url) => {
        fetched.push(url)
        return Buffer.from(answer())
      },
    })
  const publish = (id: string | null) => {
    fetched = []
    if (id === null) delete zone['_mta-sts.a.com']
    else zone['_mta-sts.a.com'] = { TXT: ['other', `v=STSv1; id=${id};`] }
  }
  const enforced = { policy: expect.objectContaining({ mode: 'enforce' }), failure: null }

  test('is fetched once for its id, also for concurrent mails, and again for another', async () => {
    publish('1')
    const policies = cache()
    expect(await Promise.all([policies.find('a.com'), policies.find('a.com')])).toEqual([enforced, enforced])
    expect(await policies.find('a.com')).toEqual(enforced)
    expect(fetched).toEqual(['https://mta-sts.a.com/.well-known/mta-sts.txt'])
    publish('2')
    answer = () => policyText('testing', 'mx.a.com')
    expect((await policies.find('a.com')).policy?.mode).toBe('testing')
  })

  test('stays in force when DNS or the web server is blocked, until it expires', async () => {
    publish('1')
    answer = () => policyText('enforce', 'mx.a.com')
    const policies = cache()
    await policies.find('a.com')
    publish(null)
    expect(await policies.find('a.com')).toEqual(enforced)
    publish('2')
    answer = () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    }
    const failing = { ...enforced, failure: { type: 'sts-policy-fetch-error', reason: expect.anything() } }
    expect(await policies.find('a.com')).toEqual(failing)
    // The next attempt to fetch it is five minutes later, but another one is fetched at once.
    expect(await policies.find('a.com')).toEqual(failing)
    expect(fetched).toHaveLength(1)
    publish('3')
    expect(await policies.find('a.com')).toEqual(failing)
    expect(fetched).toHaveLength(1)
    clock.advance(5 * 60_000)
    await policies.find('a.com')
    expect(fetched).toHaveLength(2)
    clock.advance(86_400_000)
    expect((await policies.find('a.com')).policy).toBeNull()
  })

  test.each<[string, () => string]>([
    ['sts-policy-invalid', () => '<html>'],
    [
      'sts-webpki-invalid',
      () => {
        throw Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' })
      },
    ],
  ])('that cannot be used is reported as %s', async (type, given) => {
    publish('1')
    answer = given
    expect(await cache().find('a.com')).toMatchObject({ policy: null, failure: { type } })
  })

  test('is not fetched without a record, and not with two', async () => {
    publish(null)
    expect(await cache().find('a.com')).toEqual({ policy: null, failure: null })
    zone['_mta-sts.a.com'] = { TXT: ['v=STSv1; id=1', 'v=STSv1; id=2'] }
    expect(await cache().find('a.com')).toEqual({ policy: null, failure: null })
    expect(fetched).toEqual([])
  })
})

describe('direct delivery', () => {
  const closers: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })
  type Pair = { cert: string; private: string }
  let trusted: Pair
  let foreign: Pair
  const certificate = (name: string): Promise<Pair> =>
    generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    } as Parameters<typeof generate>[1]) as never
  beforeAll(async () => {
    trusted = await certificate('mx.a.com')
    foreign = await certificate('mx.a.com')
  })

  const server = async (address: string, port: number, options: SMTPServerOptions) => {
    const received: boolean[] = []
    const smtp = new SMTPServer({
      ...{ authOptional: true, disableReverseLookup: true, logger: false },
      onData: (stream, session, done) => {
        stream.resume().on('end', () => {
          received.push(session.secure)
          done()
        })
      },
      ...options,
    })
    smtp.on('error', () => undefined)
    await new Promise<void>((resolve) => smtp.listen(port, address, resolve))
    closers.push(() => new Promise<void>((resolve) => smtp.close(resolve)))
    return { port: (smtp.server.address() as AddressInfo).port, received }
  }
  const withCertificate = ({ cert, private: key }: Pair): SMTPServerOptions => ({ cert, key })
  const PLAIN: SMTPServerOptions = { disabledCommands: ['STARTTLS'] }

  const deliver = async (port: number, mode: string | null, mx = 'mx.a.com') => {
    const results: TlsResult[] = []
    const zone: Zone = {
      'a.com': {
        MX: [
          { priority: 1, exchange: 'mx.a.com' },
          { priority: 2, exchange: 'backup.a.com' },
        ],
      },
      'mx.a.com': { A: ['127.0.0.2'] },
      'backup.a.com': { A: ['127.0.0.3'] },
      ...(mode === null ? {} : { '_mta-sts.a.com': { TXT: ['v=STSv1; id=1;'] } }),
    }
    const resolver = fakeResolver(zone)
    const clock = createFakeClock()
    const get = async () => Buffer.from(policyText(mode ?? '', mx))
    const direct = createDirect({
      ...{ mailHost: 'agents.localhost', resolver, port, ca: trusted.cert, mayDial: () => true },
      timeouts: { connectMs: 500, greetingMs: 500, idleMs: 500 },
      policies: new StsPolicyCache({ resolver, clock, get }),
      onTlsResult: (result) => results.push(result),
    })
    const envelopes = [{ recipient: 'bo@a.com', reversePath: 'b@agents.localhost' }]
    const mail = { envelopes, raw: Buffer.from('Subject: hi\r\n\r\nhi\r\n') }
    const { accepted, rejected } = await direct.send(mail, new AbortController().signal)
    const failures = results.map(({ server: at, failure }) => [at?.host ?? null, failure?.type ?? null])
    return { accepted, rejected, failures, results }
  }

  test('sends to a server whose certificate is valid, and reports success', async () => {
    const { port, received } = await server('127.0.0.2', 0, withCertificate(trusted))
    const { accepted, failures, results } = await deliver(port, 'enforce')
    expect(accepted).toEqual(['bo@a.com'])
    expect(received).toEqual([true])
    // The second host is not named by the policy.
    expect(failures).toEqual([
      ['backup.a.com', 'validation-failure'],
      ['mx.a.com', null],
    ])
    expect(results[1]!.policy).toEqual({
      type: 'sts',
      lines: ['version: STSv1', 'mode: enforce', 'mx: mx.a.com', 'max_age: 86400'],
      mx: ['mx.a.com'],
    })
  })

  test.each<[string, () => SMTPServerOptions, string]>([
    ['is not trusted', () => withCertificate(foreign), 'certificate-not-trusted'],
    ['offers no STARTTLS', () => PLAIN, 'starttls-not-supported'],
    [
      'cannot speak modern TLS',
      () => ({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }) as never,
      'validation-failure',
    ],
  ])(
    'an enforced policy keeps mail from a server that %s: it is retried, not sent',
    async (_, options, type) => {
      const { port, received } = await server('127.0.0.2', 0, options())
      const { accepted, rejected, failures } = await deliver(port, 'enforce')
      expect({ accepted, received }).toEqual({ accepted: [], received: [] })
      expect(rejected).toMatchObject([{ recipient: 'bo@a.com', permanent: false }])
      expect(failures).toContainEqual(['mx.a.com', type])
      const optional = await deliver(port, 'testing', '*.a.com')
      expect(optional.accepted).toEqual(['bo@a.com'])
      expect(optional.failures[0]).toEqual(['mx.a.com', type])
    },
  )

  test('a certificate for another name is not enough', async () => {
    const other = await server('127.0.0.3', 0, withCertificate(trusted))
    const { accepted, rejected, failures } = await deliver(other.port, 'enforce', 'backup.a.com')
    expect(accepted).toEqual([])
    expect(rejected[0]!.reason).toMatch(/^4\.7\.5 backup\.a\.com .* MTA-STS policy of a\.com .*host-mismatch/)
    expect(failures).toContainEqual(['backup.a.com', 'certificate-host-mismatch'])
  })

  test('a policy that names none of the servers keeps the mail', async () => {
    const { port, received } = await server('127.0.0.2', 0, withCertificate(trusted))
    const { rejected } = await deliver(port, 'enforce', 'mx.elsewhere.com')
    expect(rejected).toEqual([
      { recipient: 'bo@a.com', permanent: false, reason: expect.stringMatching(/^4\.7\.5 .*names none/) },
    ])
    expect(received).toEqual([])
  })

  test('without a policy any TLS will do, and plain text if there is none', async () => {
    const { port, received } = await server('127.0.0.2', 0, withCertificate(foreign))
    const secured = await deliver(port, null)
    expect(secured.failures).toEqual([['mx.a.com', null]])
    expect(secured.results[0]!.policy.type).toBe('no-policy-found')
    const plain = await server('127.0.0.3', port, PLAIN)
    expect(received).toEqual([true])
    expect((await deliver(plain.port, 'none')).failures).toEqual([['mx.a.com', null]])
  })
})
