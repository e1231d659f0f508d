import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEmailChannel, type EmailChannel } from '../../../src/channel/email/email-channel.ts'
import type { Listening } from '../../../src/core/channel/inbound.ts'
import type { TlsFiles } from '../../../src/core/tls-pair.ts'
import { createPair, openTlsSession, type Pair, servedSerial, writePair } from '../../support/certificate.ts'
import { createFakeClock, type FakeClock } from '../../support/clock.ts'
import { fakeResolver } from '../../support/dns.ts'
import { createTestLog, type TestLog } from '../../support/log.ts'
import { sinkWith } from '../../support/sink.ts'
import { until } from '../../support/until.ts'

let dir: string
let clock: FakeClock
let log: TestLog
let channel: EmailChannel
let listening: Listening
let [first, second, third]: Pair[] = []

const listen = async (tls: TlsFiles): Promise<void> => {
  channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls },
    relayUrl: null,
    ...{ outboxDir: join(dir, 'outbox'), dataDir: dir, resolver: fakeResolver({}), log, clock },
  })
  listening = await channel.listen(sinkWith())
}
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'followed-tls-'))
  clock = createFakeClock()
  log = createTestLog()
  ;[first, second, third] = await Promise.all([createPair(10), createPair(), createPair()])
})
afterEach(async () => {
  await listening.stop(100)
  await channel.close()
  rmSync(dir, { recursive: true })
})

/** Lets the next minute's look at the files happen, and waits until it has. */
const minute = async (): Promise<void> => {
  await until(() => clock.sleepers === 1)
  clock.advance(60_000)
  await until(() => clock.sleepers === 1)
}
const served = () => servedSerial(listening.address)
const warnings = () => log.text().match(/cannot be used as they are now/g)?.length ?? 0
const replace = (file: string, content: string) => {
  writeFileSync(`${file}.new`, content)
  renameSync(`${file}.new`, file)
}

test('a pair that is replaced by renaming is served within a minute, and a session that is open goes on', async () => {
  const { certFile, keyFile } = writePair(dir, first!)
  await listen({ ...first!, certFile, keyFile })
  const open = await openTlsSession(listening.address)
  expect(open.serial).toBe(first!.serial)
  replace(certFile, second!.cert)
  replace(keyFile, second!.key)
  expect(await served()).toBe(first!.serial)
  await minute()
  expect(await served()).toBe(second!.serial)
  expect(listening.certificate!.expiry.getTime()).toBe(second!.expires)
  expect(log.text()).toContain(`"serial":"${second!.serial}"`)
  expect(await open.send('ann@example.com', 'bot@agents.localhost', 'Subject: hi\r\n\r\nhi')).toMatch(/^250/)
  open.close()
  expect(warnings()).toBe(0)
})

test('a certificate that has expired is warned of once, until another one is used', async () => {
  const { certFile, keyFile } = writePair(dir, first!)
  await listen({ ...first!, certFile, keyFile })
  const expired = () => log.text().match(/has expired/g)?.length ?? 0
  await minute()
  expect(expired()).toBe(0)
  clock.advance(first!.expires - clock.now().getTime())
  await minute()
  await minute()
  expect(expired()).toBe(1)
  writePair(dir, second!)
  await minute()
  await minute()
  expect(await served()).toBe(second!.serial)
  expect(expired()).toBe(1)
})

test('a pair whose folder is exchanged behind a link, as Kubernetes does, is served too', async () => {
  for (const [name, pair] of Object.entries({ '..1': first!, '..2': second! })) {
    mkdirSync(join(dir, name))
    writePair(join(dir, name), pair)
  }
  symlinkSync('..1', join(dir, '..data'))
  const [certFile, keyFile] = ['tls.crt', 'tls.key'].map((name) => join(dir, name)) as [string, string]
  symlinkSync(join('..data', 'tls.crt'), certFile)
  symlinkSync(join('..data', 'tls.key'), keyFile)
  await listen({ ...first!, certFile, keyFile })
  expect(await served()).toBe(first!.serial)
  symlinkSync('..2', join(dir, '..data_tmp'))
  renameSync(join(dir, '..data_tmp'), join(dir, '..data'))
  await minute()
  expect(await served()).toBe(second!.serial)
})

test.each(['key', 'cert'] as const)(
  'while only the new %s is there, the former pair is served, with one warning',
  async (part) => {
    const files = writePair(dir, first!)
    await listen(files)
    const other = part === 'key' ? 'cert' : 'key'
    writeFileSync(files[`${part}File`], second![part])
    await minute()
    await minute()
    expect(await served()).toBe(first!.serial)
    expect(warnings()).toBe(1)
    writeFileSync(files[`${other}File`], second![other])
    await minute()
    expect(await served()).toBe(second!.serial)
    expect(warnings()).toBe(1)
  },
)

test.each([
  ['garbage', () => '\0\xff not a certificate'],
  ['nothing', () => ''],
  ['half of a certificate', () => second!.cert.slice(0, 300)],
  ['a chain whose second half is missing', () => `${second!.cert}\n${third!.cert.slice(0, 300)}`],
  ['a private key', () => second!.key],
])(
  'with %s as certificate the former pair is served, with one warning, until it is whole',
  async (_, written) => {
    const { certFile, keyFile } = writePair(dir, first!)
    await listen({ ...first!, certFile, keyFile })
    writeFileSync(keyFile, second!.key)
    writeFileSync(certFile, written())
    await minute()
    await minute()
    expect(await served()).toBe(first!.serial)
    expect(listening.certificate!.expiry.getTime()).toBe(first!.expires)
    expect(warnings()).toBe(1)
    expect(log.text()).not.toContain('PRIVATE KEY')
    writeFileSync(certFile, second!.cert)
    await minute()
    expect(await served()).toBe(second!.serial)
  },
)

test('when the files disappear, the former pair is served, with one warning for each time', async () => {
  const files = writePair(dir, first!)
  await listen(files)
  for (const time of [1, 2]) {
    rmSync(files.certFile)
    rmSync(files.keyFile)
    await minute()
    await minute()
    expect(await served()).toBe(first!.serial)
    expect(warnings()).toBe(time)
    writePair(dir, first!)
    await minute()
  }
  writePair(dir, third!)
  await minute()
  expect(await served()).toBe(third!.serial)
})

test.each([
  ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
  ['a device', (file: string) => symlinkSync('/dev/zero', file)],
  [
    'more than memory has',
    (file: string) => {
      writeFileSync(file, '')
      truncateSync(file, 600e6)
    },
  ],
])('%s instead of a file is not waited for, nor read', async (_, put) => {
  const files = writePair(dir, first!)
  await listen(files)
  // Made beside it first: otherwise what is read meanwhile is missing, which is said too.
  const made = `${files.certFile}.made`
  put(made)
  rmSync(files.certFile)
  renameSync(made, files.certFile)
  await minute()
  await minute()
  expect(await served()).toBe(first!.serial)
  expect(warnings()).toBe(1)
  expect(log.text()).toMatch(/cert\S* is (?:not a file|too long)/)
  rmSync(files.certFile)
  writePair(dir, second!)
  await minute()
  expect(await served()).toBe(second!.serial)
})

test('what is asked for is read at once, and what is wrong is said again', async () => {
  const files = writePair(dir, first!)
  await listen(files)
  writePair(dir, second!)
  await listening.certificate!.reload()
  expect(await served()).toBe(second!.serial)
  writeFileSync(files.certFile, 'garbage')
  await listening.certificate!.reload()
  await listening.certificate!.reload()
  expect(await served()).toBe(second!.serial)
  expect(warnings()).toBe(2)
})

test('the certificate that the service made itself is not followed', async () => {
  channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls: null },
    relayUrl: null,
    ...{ outboxDir: join(dir, 'outbox'), dataDir: dir, resolver: fakeResolver({}), log, clock },
  })
  listening = await channel.listen(sinkWith())
  expect(readFileSync(join(dir, 'smtp.crt'), 'utf8')).toContain('BEGIN CERTIFICATE')
  expect(listening.certificate).toBeUndefined()
  expect(clock.sleepers).toBe(0)
})
