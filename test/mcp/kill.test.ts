import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { deliver } from '../support/mail.ts'
import { postRpc, type RpcStream, streamRpc } from '../support/mcp.ts'
import { bodyOf, proving, withoutChallenges } from '../support/mcp-receiver.ts'
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
  service = run({ DATA_DIR: dataDir, OWNER_TOKEN: token, LOG_LEVEL: 'warn', WEBHOOK_ALLOW: '127.0.0.1' })
  ready = await service.ready()
}
afterAll(async () => {
  await cleanUp(dataDir)
  await receiver.close()
})

const MAILS = 80
const EVENT = 'notifications/events/event'

test('killed in the middle and started again: a stream goes on behind its cursor, a subscription by itself, and nothing is lost', async () => {
  await start()
  const owner = apiOf(ready.http, token)
  const id: string = (await owner('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body.id
  const own: string = (await owner('POST', `/agents/${id}/tokens`, {})).body.token
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const to: string = (await owner('GET', `/agents/${id}/addresses`)).body[0].value
  receiver.always('/hook', proving())
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  receiver.expect('/hook', secret)
  const delivery = { mode: 'webhook', url: `${receiver.url}/hook`, secret }
  const { body } = await postRpc(ready.http, own, 'events/subscribe', {
    name: 'message.received',
    arguments: {},
    delivery,
  })
  expect(body.result.id).toMatch(/^sub_/)

  /** Sends again, under the same Message-ID, whatever was not answered for. */
  const send = (n: number) =>
    until(async () => {
      const letter = {
        from: `ann${n % 10}@example.com`,
        to,
        text: `letter ${n}`,
        messageId: `<${n}@example.com>`,
        date: new Date(0),
      }
      return (await deliver(ready.smtp, letter)).accepted.length === 1
    })
  const writing = (async () => {
    for (let n = 0; n < MAILS; n += 4) await Promise.all([n, n + 1, n + 2, n + 3].map(send))
  })()

  const heard: string[] = []
  let killed = false
  const listen = async (): Promise<void> => {
    const params = { name: 'message.received', arguments: {}, cursor: heard.at(-1) ?? '0' }
    const one: RpcStream = await streamRpc(ready.http, own, 'events/stream', params)
    let open = true
    void one.ended
      .catch(() => undefined)
      .then(() => {
        open = false
      })
    await until(() => !open || heard.length + one.of(EVENT).length >= MAILS)
    heard.push(...one.of(EVENT).map(({ params }) => params.cursor))
    one.close()
  }
  const reading = (async () => {
    await listen()
    await until(() => killed)
    while (heard.length < MAILS) await listen()
  })()

  const delivered = () => withoutChallenges(receiver.received).filter(({ verified }) => verified !== null)
  await until(() => delivered().length >= MAILS / 4)
  service.kill('SIGKILL')
  await service.exited
  await start()
  killed = true
  await Promise.all([writing, reading])
  const all = Array.from({ length: MAILS }, (_, n) => String(n + 1))
  expect(heard).toEqual(all)
  await until(() => new Set(delivered().map((got) => bodyOf(got).cursor)).size === MAILS)
  // At least once, and in order: what was posted last before the kill may come again.
  const cursors = delivered().map((got) => bodyOf(got).cursor as string)
  expect([...new Set(cursors)]).toEqual(all)
})
