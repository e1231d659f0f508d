import { createClient } from 'graphql-sse'
import { afterAll, expect, test } from 'vitest'
import { deliver } from '../support/mail.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

const dataDir = preparedDataDir()
const token = 'the token of the owner of this test'
let service: ServiceProcess
let ready: { http: string; smtp: string }

const start = async (): Promise<void> => {
  service = run({ DATA_DIR: dataDir, OWNER_TOKEN: token, LOG_LEVEL: 'warn' })
  ready = await service.ready()
}
afterAll(() => cleanUp(dataDir))

const EVENTS =
  'subscription ($id: UUID!, $after: SafeInt) { messageReceived(agentId: $id, after: $after) { id messageId message { text } } }'

interface MessageEvent {
  id: number
  messageId: string
  message: { text: string }
}

const CHANGES =
  'subscription ($after: String) { workspaceChanged(after: $after) { position truncated changes { kind ids } } }'

interface WorkspaceChanges {
  position: string
  truncated: boolean
  changes: { kind: string; ids: string[] }[]
}

/** Reads a subscription until `done`, again from where it ended whenever it ends. */
const readOn = async <Data>(
  { query, variables }: { query: string; variables: () => Record<string, unknown> },
  take: (data: Data) => void,
  done: () => boolean,
) => {
  while (!done()) {
    const client = createClient({
      url: `${ready.http}/graphql`,
      headers: { Authorization: `Bearer ${token}` },
      retryAttempts: 0,
    })
    await new Promise<void>((resolve) => {
      client.subscribe<Data>(
        { query, variables: variables() },
        {
          next: ({ data }) => {
            if (data) take(data)
            if (done()) client.dispose()
          },
          error: () => resolve(),
          complete: () => resolve(),
        },
      )
    })
    client.dispose()
    if (!done()) await until(() => killed)
  }
}

const MAILS = 120
let killed = false

test('after a SIGKILL in mid-stream and a restart, `after` resumes without losing or repeating an event', {
  timeout: 180_000,
}, async () => {
  await start()
  const owner = apiOf(ready.http, token)
  const id: string = (await owner('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body.id
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const to: string = (await owner('GET', `/agents/${id}/addresses`)).body[0].value

  const accepted: string[] = []
  /** Sends every mail until it is accepted, always with the same Message-ID. */
  const send = async (n: number): Promise<void> => {
    const letter = {
      from: `ann${n % 10}@example.com`,
      to,
      text: `letter ${n}`,
      messageId: `<${n}@example.com>`,
      date: new Date(0),
    }
    await until(async () => (await deliver(ready.smtp, letter)).accepted.length === 1)
    accepted.push(`letter ${n}`)
  }

  const events: MessageEvent[] = []
  const reading = readOn<{ messageReceived: MessageEvent }>(
    { query: EVENTS, variables: () => ({ id, after: events.at(-1)?.id ?? 0 }) },
    ({ messageReceived }) => events.push(messageReceived),
    () => events.length >= MAILS,
  )
  const told: string[] = []
  let after: string | undefined
  const watching = readOn<{ workspaceChanged: WorkspaceChanges }>(
    { query: CHANGES, variables: () => ({ after }) },
    ({ workspaceChanged: { position, truncated, changes } }) => {
      expect(truncated).toBe(false)
      after = position
      told.push(...changes.filter(({ kind }) => kind === 'message_arrived').flatMap(({ ids }) => ids))
    },
    () => told.length >= MAILS,
  )
  await until(() => after)
  const writing = (async () => {
    for (let n = 0; n < MAILS; n += 4) await Promise.all([n, n + 1, n + 2, n + 3].map(send))
  })()

  await until(() => events.length >= MAILS / 3)
  service.kill('SIGKILL')
  await service.exited
  await start()
  killed = true
  await Promise.all([writing, reading, watching])
  expect(events.map((one) => one.id)).toEqual(Array.from({ length: MAILS }, (_, n) => n + 1))
  expect(told.toSorted()).toEqual(events.map(({ messageId }) => messageId).toSorted())
  expect(events.map(({ message }) => message.text.trim()).sort()).toEqual([...accepted].sort())
})
