import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'
import { startRelay } from '../support/relay.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

const dataDir = preparedDataDir()
const token = 'the token of the owner of this test'
const relay = await startRelay()
const receiver = await createReceiver()
let service: ServiceProcess
let http: string

const start = async (): Promise<void> => {
  service = run({
    DATA_DIR: dataDir,
    OWNER_TOKEN: token,
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOW: '127.0.0.1',
    SMTP_RELAY_URL: relay.url,
    RATE_LIMIT: '100000',
  })
  http = (await service.ready()).http
}
afterAll(async () => {
  await cleanUp(dataDir)
  await relay.stop()
  await receiver.close()
})

const api = (...request: Parameters<ReturnType<typeof apiOf>>) =>
  apiOf(http, token)(...request).catch(() => null)

/** Half of them wait for approval, the others for their time. */
const MESSAGES = 24
const KILLS = 3
const STEPS = MESSAGES * 2

test('messages wait, are approved and are sent while the service is killed: none is lost, and each has its events once', async () => {
  await start()
  const types = ['message.held', 'message.sent', 'message.failed']
  const make = async (approval: string): Promise<string> => {
    const { id } = (await api('POST', '/agents', { name: 'Survivor', icon: 'bot' }))!.body
    await api('PATCH', `/agents/${id}`, { approval, eventTypes: types })
    return id
  }
  const asking = await make('all')
  const scheduling = await make('none')
  receiver.always('/hook', { status: 200 })
  await api('POST', `/agents/${asking}/webhooks`, { url: `${receiver.url}/hook`, events: types })

  let steps = 0
  /** Repeats a request under the same key until it is answered; returns the message's id. */
  const send = async (agent: string, n: number): Promise<string> => {
    let [key, body]: [string, object] = [randomUUID(), {}]
    const renew = () => {
      key = randomUUID()
      const ahead = agent === scheduling ? { sendAt: new Date(Date.now() + 4_000).toISOString() } : {}
      body = { channel: 'email', to: [`bo${n}@example.com`], text: `letter ${n}`, ...ahead }
    }
    renew()
    const answer = await until(async () => {
      const given = await api('POST', `/agents/${agent}/messages`, body, { 'Idempotency-Key': key })
      if (given?.status === 400) renew() // its time has passed meanwhile, and nothing was stored
      return given?.status === 201 && given
    })
    steps++
    return answer.body.id
  }
  const approve = async (messageId: string) => {
    await until(async () => {
      const given = await api('POST', `/agents/${asking}/messages/${messageId}/approve`)
      // Whoever asks again because the answer was lost is told that it is approved.
      return given?.status === 200 || given?.status === 409
    })
    steps++
  }
  const sentIds = new Map<string, string[]>([
    [asking, []],
    [scheduling, []],
  ])
  const working = (async () => {
    for (let n = 0; n < MESSAGES; n += 4)
      await Promise.all(
        [0, 1, 2, 3].map(async (i) => {
          const agent = i % 2 === 0 ? asking : scheduling
          const id = await send(agent, n + i)
          sentIds.get(agent)!.push(id)
          if (agent === asking) await approve(id)
          else steps++
        }),
      )
  })()
  for (let kill = 1; kill <= KILLS; kill++) {
    await until(() => steps >= (kill * STEPS) / (KILLS + 1))
    service.kill('SIGKILL')
    await service.exited
    await start()
  }
  await working

  for (const [agent, ids] of sentIds) {
    const sent = async () => (await api('GET', `/agents/${agent}/messages?status=sent&limit=100`))?.body.items
    const messages: { id: string }[] = await until(async () => {
      const items = await sent()
      return items?.length === ids.length && items
    })
    expect(messages.map(({ id }) => id).sort()).toEqual([...ids].sort())
    const all = (await api('GET', `/agents/${agent}/messages?limit=100`))!.body.items
    expect(all).toHaveLength(ids.length)
    const events: { id: number; type: string; messageId: string }[] = (await api(
      'GET',
      `/agents/${agent}/events?after=0&limit=100`,
    ))!.body.items
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1))
    for (const type of ['message.held', 'message.sent'])
      expect(
        events
          .filter((event) => event.type === type)
          .map(({ messageId }) => messageId)
          .sort(),
      ).toEqual([...ids].sort())
    expect(events).toHaveLength(ids.length * 2)
  }
  // A mail may arrive twice when the relay's answer was lost, under one Message-ID.
  expect(new Set(relay.mails.map(({ mail }) => mail.messageId)).size).toBe(MESSAGES)
  const told = () => new Set(receiver.received.map(({ body }) => Number(JSON.parse(body).cursor)))
  await until(() => told().size === MESSAGES)
  expect([...told()]).toEqual([...told()].sort((a, b) => a - b))
})
