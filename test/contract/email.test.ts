import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { createEmailChannel } from '../../src/channel/email/email-channel.ts'
import { fakeResolver } from '../support/dns.ts'
import { createTestLog } from '../support/log.ts'
import { deliver } from '../support/mail.ts'
import { startRelay } from '../support/relay.ts'
import { sinkWith } from '../support/sink.ts'
import { describeChannel, type Receipt } from './channel.ts'

const REFUSED = '550 5.1.1 no such user'
const PASSWORD = 'relay-password-4711'

describeChannel('email', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ams-contract-'))
  const relay = await startRelay()
  const log = createTestLog()
  let sink = sinkWith()
  let down = false
  const channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls: null },
    relayUrl: relay.url.replace('//', `//relay:${PASSWORD}@`),
    outboxDir: join(dataDir, 'outbox'),
    dataDir,
    resolver: fakeResolver({}),
    log,
  })
  const listening = await channel.listen(
    sinkWith({ accepts: (address) => sink.accepts(address), inbound: (message) => sink.inbound(message) }),
  )
  afterAll(async () => {
    await listening.stop(100)
    await channel.close()
    if (!down) await relay.stop()
  })
  const receiptOf = ({ responseCode = 0 }: { responseCode?: number }): Receipt =>
    responseCode < 500 ? 'retry' : 'refused'
  const [ours, theirs] = ['bot@agents.localhost', 'ann@example.com']
  return {
    channel,
    spellings: [
      ['Ann@Example.COM', 'ann@example.com'],
      ['ann+news@example.com', 'ann+news@example.com'],
    ],
    malformed: ['ann', 'ann@', '@example.com', 'ann@example.com, bo@example.com', 'Ann <ann@example.com>'],
    ours,
    theirs,
    setSink: (next) => {
      sink = next
    },
    receive: (text) =>
      deliver(listening.address, { from: theirs, to: ours, text }).then(
        () => 'accepted',
        (error) => receiptOf(error),
      ),
    behave: async (behavior) => {
      if (down) await relay.start()
      down = behavior === 'is down'
      if (down) await relay.stop()
      relay.refuse(
        theirs,
        behavior === 'refuses permanently'
          ? REFUSED
          : behavior === 'refuses temporarily'
            ? `451 4.3.0 ${REFUSED}`
            : null,
      )
    },
    reason: REFUSED,
    credentials: [PASSWORD],
    log: () => log.text(),
  }
})
