import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver } from '../support/mail.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Listener, startListeners } from './listeners.ts'
import { seeded } from './seeded.ts'
import { type ChaosAgent, createAgent } from './traffic.ts'
import { startWorld, type World } from './world.ts'

/**
 * Three service processes whose PostgreSQL is restarted while mail arrives. Each test continues where the
 * previous one ended.
 */
const RECOVERY_MS = 5_000
const SENDERS = 4
let world: World
let agent: ChaosAgent
let listeners: Listener[]
const left = new AbortController()
beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  world = await startWorld(0)
  agent = await createAgent(world, 'agent')
  listeners = startListeners(world, seeded(1), agent, left.signal)
})
afterAll(async () => {
  left.abort()
  await world?.close()
})

const accepted: string[] = []
let count = 0
const write = async (): Promise<void> => {
  const subject = `Mail ${count++}`
  const { place } = world.members[count % 2]!
  await deliver(place.smtp!, { from: `s${count}@example.com`, to: agent.address, subject, text: 'hi' })
  accepted.push(subject)
}

/** Sends mail from several senders concurrently while `work` runs. */
const underLoad = async (work: () => Promise<void>): Promise<void> => {
  const over = new AbortController()
  const sending = async () => {
    while (!over.signal.aborted) await write().catch(() => undefined)
  }
  const senders = Promise.all(Array.from({ length: SENDERS }, sending))
  const before = accepted.length
  await until(() => accepted.length > before + 10)
  try {
    await work()
  } finally {
    over.abort()
    await senders
  }
}

const taken = () =>
  new Set(
    world
      .receiverLines()
      .flatMap((line) => (line.kind === 'got' ? [JSON.parse(line.body).data.message.subject] : [])),
  )
const isServed = async () => {
  const answers = await Promise.all(
    world.members.map(({ place }) => apiOf(place.http, world.ownerToken)('GET', '/readyz')),
  )
  return answers.every(({ status }) => status === 200)
}

/** Waits until every process is ready again, and new mail reaches every listener. */
const untilRecovered = async (): Promise<void> => {
  await until(isServed)
  const [next] = [accepted.length]
  await until(() => accepted.length > next)
  const before = listeners.map(({ received }) => received.length)
  await until(
    () =>
      listeners.every(({ received }, n) => received.length > before[n]!) && taken().has(accepted.at(next)),
  )
}

test.each([
  ['restarted', 'SIGINT'],
  ['killed', 'SIGKILL'],
] as const)(
  'when PostgreSQL is %s under load, the service recovers within 5 seconds and loses no accepted mail',
  async (_, signal) => {
    await underLoad(async () => {
      const { pid } = world.postgres
      process.kill(pid, signal)
      await until(() => world.postgres.pid !== pid)
      const from = performance.now()
      await untilRecovered()
      expect(performance.now() - from).toBeLessThan(RECOVERY_MS)
    })
    await until(() => listeners.every(({ received }) => received.length >= accepted.length))
    await until(() => accepted.every((subject) => taken().has(subject)))
    for (const { received } of listeners) expect(received).toEqual(received.map((_, index) => index + 1))
  },
)
