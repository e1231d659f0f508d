import { afterAll, expect, test } from 'vitest'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

const ROUNDS = Number(process.env.QUESTIONS_KILL_ROUNDS ?? 5)
const dataDir = preparedDataDir()
const token = 'the token of the owner of this test'
const receiver = await createReceiver()
let service: ServiceProcess
let http: string
const start = async (): Promise<void> => {
  service = run({ DATA_DIR: dataDir, OWNER_TOKEN: token, LOG_LEVEL: 'warn', WEBHOOK_ALLOW: '127.0.0.1' })
  http = (await service.ready()).http
}
afterAll(async () => {
  await cleanUp(dataDir)
  await receiver.close()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const api = (...request: Parameters<ReturnType<typeof apiOf>>) => apiOf(http, token)(...request)

test('killed while a member answers: the question has one answer, and its event comes once', async () => {
  await start()
  const id: string = (await api('POST', '/agents', { name: 'Survivor', icon: 'bot' })).body.id
  receiver.always('/hook', { status: 200 })
  const events = ['question.answered']
  await api('POST', `/agents/${id}/webhooks`, { url: `${receiver.url}/hook`, events })
  const path = `/agents/${id}/questions`
  const answered = new Map<string, string>()
  for (let round = 0; round < ROUNDS; round++) {
    const question: string = (await api('POST', path, { text: `Round ${round}?` })).body.id
    const first = api('POST', `${path}/${question}/answer`, { text: 'first' }).catch(() => null)
    // From before the answer is stored until after its event was sent.
    await pause(round * 8)
    service.kill('SIGKILL')
    const told = await first
    await service.exited
    await start()
    const again = await api('POST', `${path}/${question}/answer`, { text: 'second' })
    const { answer } = (await api('GET', `${path}/${question}`)).body
    if (told?.status === 200) expect(answer.text).toBe('first')
    expect(again.status).toBe(answer.text === 'second' ? 200 : 409)
    answered.set(question, answer.text)
  }
  const { items } = (await api('GET', `/agents/${id}/events?after=0&types=question.answered`)).body
  const seen = items.map(
    ({ messageId, question }: { messageId: string; question: { answer: { text: string } } }) => [
      messageId,
      question.answer.text,
    ],
  )
  expect(seen).toEqual([...answered])
  const hooked = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.messageId))
  await until(() => hooked().size === ROUNDS)
})
