import { afterAll, expect, test } from 'vitest'
import { deliver } from '../support/mail.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

const dataDir = preparedDataDir()
const token = 'the token of the owner of this test'
const receiver = await createReceiver()
let service: ServiceProcess
let ready: { http: string; smtp: string }

const start = async (): Promise<void> => {
  service = run({
    DATA_DIR: dataDir,
    OWNER_TOKEN: token,
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOW: '127.0.0.1',
    RATE_LIMIT: '100000',
  })
  ready = await service.ready()
}
afterAll(async () => {
  await cleanUp(dataDir)
  await receiver.close()
})

const MAILS = 60
const KILLS = 3

test('messages are released while the service is killed: none is lost, and none raises its event twice', async () => {
  await start()
  const owner = () => apiOf(ready.http, token)
  const id: string = (await owner()('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body.id
  const path = `/agents/${id}/messages`
  const to: string = (await owner()('GET', `/agents/${id}/addresses`)).body[0].value
  receiver.always('/hook', { status: 200 })
  await owner()('POST', `/agents/${id}/webhooks`, { url: `${receiver.url}/hook` })
  for (let n = 0; n < MAILS; n += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        deliver(ready.smtp, { from: `eve${i}@elsewhere.org`, to, text: `letter ${n + i}` }),
      ),
    )
  const first = (await owner()('GET', `${path}?limit=100`)).body.items as { id: string; status: string }[]
  expect(first.filter(({ status }) => status === 'refused')).toHaveLength(MAILS)

  /** Releases again whatever was not answered for. */
  let answered = 0
  const release = async (messageId: string) => {
    await until(async () => {
      const answer = await owner()('POST', `${path}/${messageId}/release`, {}).catch(() => null)
      return answer?.status === 200
    })
    answered++
  }
  const releasing = (async () => {
    for (let n = 0; n < MAILS; n += 5)
      await Promise.all(first.slice(n, n + 5).map((message) => release(message.id)))
  })()
  for (let kill = 1; kill <= KILLS; kill++) {
    await until(() => answered >= (kill * MAILS) / (KILLS + 1))
    service.kill('SIGKILL')
    await service.exited
    await start()
  }
  await releasing

  const after = (await owner()('GET', `${path}?limit=100`)).body.items as typeof first
  expect(after.map(({ status }) => status)).toEqual(first.map(() => 'received'))
  const events = (await owner()('GET', `/agents/${id}/events?after=0&limit=100`)).body.items
  const ids = first.map((message) => message.id).sort()
  expect(events.map(({ messageId }: { messageId: string }) => messageId).sort()).toEqual(ids)
  expect(events.map((event: { id: number }) => event.id)).toEqual(ids.map((_, index) => index + 1))
  const records = (await owner()('GET', '/audit?action=message.release&limit=100')).body.items
  expect(records.flatMap(({ detail }: { detail: { messages: string[] } }) => detail.messages).sort()).toEqual(
    ids,
  )
  const told = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.message.id))
  await until(() => told().size === MAILS)
})
