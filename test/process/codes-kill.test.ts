import { afterAll, expect, test } from 'vitest'
import { deliver } from '../support/mail.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'

const ROUNDS = Number(process.env.CODES_KILL_ROUNDS ?? 6)
const dataDir = preparedDataDir()
const token = 'the token of the owner of this test'
let service: ServiceProcess
let ready: { http: string; smtp: string }
const start = async (): Promise<void> => {
  service = run({ DATA_DIR: dataDir, OWNER_TOKEN: token, LOG_LEVEL: 'warn' })
  ready = await service.ready()
}
afterAll(() => cleanUp(dataDir))

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('killed while a request waits for a code or takes it: the same key gets it, and nobody else', async () => {
  await start()
  const setUp = apiOf(ready.http, token)
  const id: string = (await setUp('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body.id
  await setUp('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const to: string = (await setUp('GET', `/agents/${id}/addresses`)).body[0].value
  for (let round = 0; round < ROUNDS; round++) {
    const owner = apiOf(ready.http, token)
    const key = { 'Idempotency-Key': `round-${round}` }
    const body = { seconds: 60, unproven: true }
    const asked = owner('POST', `/agents/${id}/codes/take`, body, key).catch(() => null)
    await pause(200)
    const code = String(500_000 + round)
    // Sent again after the crash, it is the same mail to the byte.
    const letter = {
      ...{
        from: 'no-reply@shop.example',
        to,
        subject: 'Sign in',
        text: `Your verification code is ${code}.`,
      },
      ...{ messageId: `<${round}@shop.example>`, date: new Date(0) },
    }
    const sent = deliver(ready.smtp, letter).catch(() => null)
    // From before the code is stored until after it was answered.
    await pause(round * 60)
    service.kill('SIGKILL')
    const first = await asked
    await sent
    await start()
    await deliver(ready.smtp, letter)
    const again = apiOf(ready.http, token)
    expect((await again('POST', `/agents/${id}/codes/take`, body, key)).body.value).toBe(code)
    if (first?.status === 200) expect(first.body.value).toBe(code)
    expect((await again('POST', `/agents/${id}/codes/take`, { unproven: true })).status).toBe(404)
  }
  const { body } = await apiOf(ready.http, token)('GET', `/audit?agentId=${id}&action=code.take&limit=100`)
  expect(body.items).toHaveLength(ROUNDS)
})
