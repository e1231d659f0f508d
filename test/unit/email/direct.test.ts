import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { createDirect, type DirectOptions } from '../../../src/mail/send/direct.ts'
import { findAddresses, findMxHosts } from '../../../src/mail/send/mx.ts'
import { fakeResolver, type Zone } from '../../support/dns.ts'

const signal = new AbortController().signal
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Received {
  from: string
  to: string[]
  secure: boolean
  helo: string
}

/**
 * Starts a mail server on a loopback address. The first server of a test chooses the port for all of them.
 */
async function server(
  address: string,
  port = 0,
  options: SMTPServerOptions = {},
): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onData: (stream, session, done) => {
      stream.resume().on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom ? mailFrom.address : ''
        received.push({
          from,
          to: rcptTo.map((one) => one.address),
          secure: session.secure,
          helo: String(session.hostNameAppearsAs),
        })
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

const envelopesOf = (to: string[]) =>
  to.map((recipient, place) => ({ recipient, reversePath: `bounce-${place}@agents.localhost` }))

const send = (zone: Zone, to: string[], options: Partial<DirectOptions>) => {
  const mail = { envelopes: envelopesOf(to), raw: Buffer.from('Subject: hi\r\n\r\nhi\r\n') }
  const timeouts = { connectMs: 500, greetingMs: 500, idleMs: 500 }
  const direct = createDirect({
    mailHost: 'agents.localhost',
    resolver: fakeResolver(zone),
    timeouts,
    mayDial: () => true,
    ...options,
  })
  return direct.send(mail, signal)
}
const refusal = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code })

test('the most preferred host gets the mail, over TLS if it offers TLS', async () => {
  const first = await server('127.0.0.2')
  const second = await server('127.0.0.3', first.port)
  const zone: Zone = {
    'x.com': {
      MX: [
        { priority: 20, exchange: 'b.x.com' },
        { priority: 10, exchange: 'A.x.com.' },
      ],
    },
    'a.x.com': { A: ['127.0.0.2'] },
    'b.x.com': { A: ['127.0.0.3'] },
  }
  expect(await send(zone, ['bo@x.com', 'Cy@x.com'], first)).toEqual({
    accepted: ['bo@x.com', 'Cy@x.com'],
    rejected: [],
  })
  const secured = { secure: true, helo: 'agents.localhost' }
  expect(first.received).toEqual([
    { from: 'bounce-0@agents.localhost', to: ['bo@x.com'], ...secured },
    { from: 'bounce-1@agents.localhost', to: ['Cy@x.com'], ...secured },
  ])
  expect(second.received).toEqual([])
})

test.each<[string, SMTPServerOptions | null]>([
  ['is unreachable', null],
  ['refuses all connections', { onConnect: (_, done) => done(refusal(554, 'go away')) }],
  ['never sends a greeting', { onConnect: () => undefined }],
])('the next host gets the mail when the preferred one %s', async (_, options) => {
  const last = await server('127.0.0.3')
  if (options) await server('127.0.0.2', last.port, options)
  const zone: Zone = {
    'x.com': {
      MX: [
        { priority: 1, exchange: 'gone.x.com' },
        { priority: 2, exchange: 'a.x.com' },
        { priority: 3, exchange: 'b.x.com' },
      ],
    },
    'a.x.com': { A: ['127.0.0.2'] },
    'b.x.com': { A: ['127.0.0.3'] },
  }
  expect((await send(zone, ['bo@x.com'], last)).accepted).toEqual(['bo@x.com'])
})

test('mail is sent without TLS when TLS is not offered or does not work', async () => {
  const plain = await server('127.0.0.2', 0, { disabledCommands: ['STARTTLS'] })
  const broken = await server('127.0.0.3', plain.port, {
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1.1',
  } as SMTPServerOptions)
  const zone: Zone = { 'p.com': { A: ['127.0.0.2'] }, 'b.com': { A: ['127.0.0.3'] } }
  expect((await send(zone, ['bo@p.com', 'cy@b.com'], plain)).rejected).toEqual([])
  expect([...plain.received, ...broken.received].map(({ secure }) => secure)).toEqual([false, false])
})

test('the domain itself is the host when it has no MX record', async () => {
  const host = await server('127.0.0.2')
  expect((await send({ 'x.com': { A: ['127.0.0.2'] } }, ['bo@x.com'], host)).accepted).toEqual(['bo@x.com'])
})

test('each domain has its own servers and its own results', async () => {
  const good = await server('127.0.0.2')
  await server('127.0.0.3', good.port, {
    onRcptTo: (_, __, done) => done(refusal(550, '5.1.1 no such user')),
  })
  await server('127.0.0.4', good.port, { onRcptTo: (_, __, done) => done(refusal(451, '4.7.1 greylisted')) })
  const zone: Zone = {
    'good.com': { A: ['127.0.0.2'] },
    'bad.com': { A: ['127.0.0.3'] },
    'grey.com': { A: ['127.0.0.4'] },
  }
  const { accepted, rejected } = await send(
    zone,
    ['a@good.com', 'b@bad.com', 'c@grey.com', 'd@good.com'],
    good,
  )
  expect(accepted).toEqual(['a@good.com', 'd@good.com'])
  expect(rejected).toEqual([
    {
      recipient: 'b@bad.com',
      reason: expect.stringContaining('550 5.1.1'),
      permanent: true,
      unknownRecipient: true,
    },
    { recipient: 'c@grey.com', reason: expect.stringContaining('451 4.7.1'), permanent: false },
  ])
})

describe('no connection is made', () => {
  const failing = (code: string) => async () => {
    throw Object.assign(new Error(code), { code })
  }
  test.each<[string, Zone, string, boolean]>([
    ['a null MX', { 'x.com': { MX: [{ priority: 0, exchange: '' }], A: ['127.0.0.2'] } }, '5.1.10', true],
    ['a domain that does not exist', {}, '5.1.2', true],
    ['a domain without any host', { 'x.com': { TXT: ['hi'] } }, '5.4.4', false],
    [
      'an MX host without an address',
      { 'x.com': { MX: [{ priority: 1, exchange: 'mx.x.com' }] } },
      '5.4.4',
      false,
    ],
  ])('for %s', async (_, zone, reason, unknownRecipient) => {
    const { rejected } = await send(zone, ['bo@x.com'], { port: 1 })
    expect(rejected).toEqual([
      {
        recipient: 'bo@x.com',
        reason: expect.stringContaining(reason),
        permanent: true,
        ...(unknownRecipient ? { unknownRecipient } : {}),
      },
    ])
  })

  test.each(['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED'])(
    'while name servers fail with %s, and the delivery can be retried',
    async (code) => {
      const { rejected } = await send({}, ['bo@x.com'], { port: 1, resolver: failing(code) })
      expect(rejected).toEqual([
        { recipient: 'bo@x.com', reason: expect.stringContaining(code), permanent: false },
      ])
    },
  )

  test.each([
    '127.0.0.2',
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.2',
    'fd00::1',
    'fe80::1',
  ])('to the private address %s, even when it is published in DNS', async (address) => {
    const host = await server('127.0.0.2')
    const zone: Zone = {
      'x.com': { MX: [{ priority: 1, exchange: 'mx.x.com' }] },
      'mx.x.com': address.includes(':') ? { AAAA: [address] } : { A: [address] },
    }
    const { mayDial: _, ...guarded } = { mayDial: null, port: host.port }
    const direct = createDirect({ mailHost: 'agents.localhost', resolver: fakeResolver(zone), ...guarded })
    const { rejected } = await direct.send(
      { envelopes: envelopesOf(['bo@x.com']), raw: Buffer.from('x') },
      signal,
    )
    expect(rejected).toEqual([
      {
        recipient: 'bo@x.com',
        reason: '5.4.4 x.com has no mail server on a public address',
        permanent: true,
      },
    ])
    expect(host.received).toEqual([])
  })
})

test('only the most preferred of a thousand MX records are looked up, and only those with valid host names', async () => {
  const queries: string[] = []
  const host = await server('127.0.0.2')
  const junk = ['127.0.0.2', 'a b.x.com', 'x\r\ny.x.com', 'mx.x.com', 'MX.x.com.']
  const records = [...junk, ...Array.from({ length: 1_000 }, (_, n) => `mx${n}.x.com`)]
  const zone: Zone = {
    'x.com': { MX: records.map((exchange, n) => ({ priority: n + 1, exchange })) },
    'mx.x.com': { A: Array.from({ length: 1_000 }, () => '127.0.0.2') },
  }
  const resolver = fakeResolver(zone)
  const counting: typeof resolver = (name, type) => {
    queries.push(name)
    return resolver(name, type)
  }
  expect((await send(zone, ['bo@x.com'], { port: host.port, resolver: counting })).accepted).toEqual([
    'bo@x.com',
  ])
  expect([...new Set(queries)]).toEqual(['x.com', 'mx.x.com', 'mx0.x.com', 'mx1.x.com', 'mx2.x.com'])
  const { rejected } = await send(
    { 'x.com': { MX: [{ priority: 1, exchange: '127.0.0.2' }] } },
    ['bo@x.com'],
    { port: host.port },
  )
  expect(rejected).toMatchObject([
    { reason: '5.4.4 the MX records of x.com contain no host', permanent: true },
  ])
})

test('recipients left over when a server disconnects go to the domain’s next host', async () => {
  let recipients = 0
  const last = await server('127.0.0.3')
  const first = await server('127.0.0.2', last.port, {
    onRcptTo: (_, __, done) => {
      if (++recipients > 1) return done(refusal(421, '4.3.2 shutting down'))
      done()
    },
  })
  const zone: Zone = {
    'x.com': {
      MX: [
        { priority: 1, exchange: 'a.x.com' },
        { priority: 2, exchange: 'b.x.com' },
      ],
    },
    'a.x.com': { A: ['127.0.0.2'] },
    'b.x.com': { A: ['127.0.0.3'] },
  }
  const { accepted, rejected } = await send(zone, ['a@x.com', 'b@x.com', 'c@x.com'], last)
  expect([accepted, rejected]).toEqual([['a@x.com', 'b@x.com', 'c@x.com'], []])
  expect([first, last].map(({ received }) => received.map(({ to }) => to[0]))).toEqual([
    ['a@x.com'],
    ['b@x.com', 'c@x.com'],
  ])
})

test('hosts of equal preference are tried in random order', async () => {
  const zone: Zone = {
    'x.com': { MX: ['a', 'b', 'c'].map((name) => ({ priority: 1, exchange: `${name}.x.com` })) },
  }
  const draws = [0.9, 0.1, 0.5]
  expect(await findMxHosts(fakeResolver(zone), 'x.com', () => draws.shift()!)).toEqual({
    hosts: ['b.x.com', 'c.x.com', 'a.x.com'],
  })
})

test.each<[string, string[] | string, string[] | string, string[] | null]>([
  ['those of one kind, if the others cannot be looked up', ['192.0.2.7'], 'ETIMEOUT', ['192.0.2.7']],
  ['not known, if the lookup of one kind failed and there is none of the other', 'ENODATA', 'ETIMEOUT', null],
  ['none, if the host does not exist', 'ENOTFOUND', 'ENOTFOUND', []],
])('the addresses of a server are %s', async (_, v4, v6, expected) => {
  const answer = async (_name: string, type: string): Promise<string[]> => {
    const found = type === 'A' ? v4 : v6
    if (typeof found === 'string') throw Object.assign(new Error(found), { code: found })
    return found
  }
  expect(await findAddresses(answer, 'mx.x.com')).toEqual(expected)
})
