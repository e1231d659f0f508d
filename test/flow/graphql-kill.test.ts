import { createClient } from 'graphql-sse'
import { afterAll, expect, test, vi } from 'vitest'
import { deliver } from '../support/mail.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

// Each start of Node and PostgreSQL takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

const dataDir = temporaryDir()
const token = 'the token of the owner of this test'
let service: ServiceProcess
let ready: { http: string; smtp: string }

const start = async (): Promise<void> => {
  service = run({ DATA_DIR: dataDir, OWNER_TOKEN: token, LOG_LEVEL: 'warn' })
  ready = await service.ready()
}
afterAll(() => cleanUp(dataDir))

const EVENTS =
  'subscription ($id: UUID!, $after: SafeInt) { messageReceived(agentId: $id, after: $after) { id message { text } } }'

interface MessageEvent {
  id: number
  message: { text: string }
}

const MAILS = 120

test('after a SIGKILL in mid-stream and a restart, `after` resumes without losing or repeating an event', {
  timeout: 180_000,
}, async () => {
  await start()
  const owner = apiOf(ready.http, token)
  const id: string = (await owner('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body.id
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const to: string = (await owner('GET', `/agents/${id}/addresses`)).body[0].value

  const accepted: string[] = []
  let killed = false
  /** Sends every mail until it is accepted, always with the same Message-ID. */
  const send = async (n: number): Promise<void> => {
    const letter = {
      from: `ann${n % 10}@example.com`,
      to,
      text: `letter ${n}`,
      messageId: `<${n}@example.com>`,
      date: new Date(0),
    }
    await until(async () => (await deliver(ready.smtp, letter)).accepted.length === 1, 30_000)
    accepted.push(`letter ${n}`)
  }
  const writing = (async () => {
    for (let n = 0; n < MAILS; n += 4) await Promise.all([n, n + 1, n + 2, n + 3].map(send))
  })()

  const events: MessageEvent[] = []
  const reading = (async () => {
    while (events.length < MAILS) {
      const client = createClient({
        url: `${ready.http}/graphql`,
        headers: { Authorization: `Bearer ${token}` },
        retryAttempts: 0,
      })
      await new Promise<void>((resolve) => {
        client.subscribe<{ messageReceived: MessageEvent }>(
          { query: EVENTS, variables: { id, after: events.at(-1)?.id ?? 0 } },
          {
            next: ({ data }) => {
              if (data) events.push(data.messageReceived)
              if (events.length >= MAILS) client.dispose()
            },
            error: () => resolve(),
            complete: () => resolve(),
          },
        )
      })
      client.dispose()
      if (events.length < MAILS) await until(() => killed, 60_000)
    }
  })()

  await until(() => events.length >= MAILS / 3, 60_000)
  service.kill('SIGKILL')
  await service.exited
  await start()
  killed = true
  await Promise.all([writing, reading])
  expect(events.map((one) => one.id)).toEqual(Array.from({ length: MAILS }, (_, n) => n + 1))
  expect(events.map(({ message }) => message.text.trim()).sort()).toEqual([...accepted].sort())
})
