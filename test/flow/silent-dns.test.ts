import { rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { createEmailChannel, type EmailChannel } from '../../src/channel/email/email-channel.ts'
import type { Listening } from '../../src/core/channel/inbound.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { SmtpLimits } from '../../src/mail/receive/smtp-limits.ts'
import { withoutSilent } from '../../src/mail/verify/resolver.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { temporaryDir } from '../support/postgres.ts'
import { sendRaw } from '../support/raw-smtp.ts'
import { sinkWith } from '../support/sink.ts'
import { dialSmtp } from '../support/smtp-session.ts'
import { until } from '../support/until.ts'

/** Mail from domains whose name servers never answer. Sources are addresses in 127.0.0.0/8. */

const dataDir = temporaryDir()
let clock: FakeClock
let channel: EmailChannel
let listening: Listening
let stored: number
/** The domains that were asked for and do not answer. */
let asked: Set<string>

const listen = async (limits: Partial<SmtpLimits> = {}): Promise<void> => {
  clock = createFakeClock()
  stored = 0
  asked = new Set()
  channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls: null, limits: { tickMs: 5, ...limits } },
    relayUrl: null,
    outboxDir: dataDir,
    dataDir,
    readerLimits: { threads: 1, perThread: 2 },
    resolver: async (name) => {
      const [silent] = /silent\d+\.example$/.exec(name) ?? []
      if (silent === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
      asked.add(silent)
      return new Promise(() => undefined)
    },
    log: silentLogger,
    clock,
  })
  listening = await channel.listen(
    sinkWith({ accepts: async () => true, inbound: async () => void stored++ }),
  )
}
afterEach(async () => {
  await listening.stop(100)
  await channel.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const port = () => Number(listening.address.split(':')[1])

/** Sends mail from as many domains, a few from each address, and waits until all of it waits for DNS at once. */
const holdUp = async (mails: number, perAddress: number) => {
  const answers: string[] = []
  const sending = Array.from({ length: mails }, async (_, n) => {
    const domain = `silent${n}.example`
    const session = await dialSmtp(port(), { localAddress: `127.0.1.${1 + Math.floor(n / perAddress)}` })
    for (const line of [`MAIL FROM:<ann@${domain}>`, 'RCPT TO:<bot@agents.localhost>', 'DATA'])
      expect(await session.send(line)).toMatch(/^[23]/)
    answers.push(await session.send(`From: ann@${domain}\r\nSubject: hi\r\n\r\nhello\r\n.`))
    session.socket.destroy()
  })
  await until(() => asked.size - answers.length === mails)
  return { answers, done: Promise.all(sending) }
}

const honest = () =>
  sendRaw(
    `127.0.0.1:${port()}`,
    'ben@answers.example',
    'bot@agents.localhost',
    Buffer.from('From: ben@answers.example\r\nSubject: hi\r\n\r\nhello\r\n'),
  )

test('a mail that waits for DNS takes no reader: many wait at once, and others are read', async () => {
  await listen()
  const { done } = await holdUp(24, 3)
  const before = stored
  for (let n = 1; n <= 3; n++) {
    expect(await honest()).toMatch(/^250/)
    expect(stored).toBeGreaterThanOrEqual(before + n)
  }
  await done
})

test('when all sessions wait for DNS, one of them makes way for another sender', async () => {
  await listen({ connections: 6 })
  const { answers, done } = await holdUp(6, 3)
  clock.advance(2_001)
  expect(await honest()).toMatch(/^250/)
  await done
  expect(answers.filter((answer) => /^421 .*waiting to be read/.test(answer))).toHaveLength(1)
})

test('a domain that does not answer three times is not asked again for half a minute, whatever the name', async () => {
  clock = createFakeClock()
  const queries: string[] = []
  let silent = true
  const resolve = withoutSilent(async (name) => {
    queries.push(name)
    if (silent && name.endsWith('silent.example')) throw Object.assign(new Error(name), { code: 'ETIMEOUT' })
    return ['answer']
  }, clock)
  const ask = (name: string) => resolve(name, 'A').catch(({ code }: NodeJS.ErrnoException) => code)
  for (const name of ['a.silent.example', 'b.silent.example', '_dmarc.silent.example'])
    expect(await ask(name)).toBe('ETIMEOUT')
  expect(queries.splice(0)).toHaveLength(3)
  expect(await ask('d.silent.example')).toBe('ETIMEOUT')
  expect(await ask('other.example')).toEqual(['answer'])
  expect(queries.splice(0)).toEqual(['other.example'])
  silent = false
  clock.advance(30_001)
  expect(await ask('e.silent.example')).toEqual(['answer'])
  silent = true
  expect(await ask('f.silent.example')).toBe('ETIMEOUT')
  expect(queries).toEqual(['e.silent.example', 'f.silent.example'])
})
