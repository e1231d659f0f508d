import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { deliver } from '../support/mail.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Listener, startListeners } from './listeners.ts'
import { seeded } from './seeded.ts'
import { type ChaosAgent, createAgent } from './traffic.ts'
import { startWorld, type World } from './world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/**
 * Three processes of the service whose PostgreSQL is restarted while mail comes in: each test goes on where
 * the one before it ended.
 */
const BACK_MS = 5_000
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
}, 180_000)
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

/** Mail from several senders at once while `work` runs. */
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

/** Every process is ready again, takes mail, and tells every listener of it. */
const untilBack = async (): Promise<void> => {
  await until(isServed)
  const [next] = [accepted.length]
  await until(() => accepted.length > next)
  const before = listeners.map(({ heard }) => heard.length)
  await until(
    () => listeners.every(({ heard }, n) => heard.length > before[n]!) && taken().has(accepted.at(next)),
  )
}

test.each([
  ['restarted', 'SIGINT'],
  ['killed', 'SIGKILL'],
] as const)(
  'PostgreSQL %s under load: the service is back within 5 s, and nothing that got 250 is lost',
  async (_, signal) => {
    await underLoad(async () => {
      const { pid } = world.postgres
      process.kill(pid, signal)
      await until(() => world.postgres.pid !== pid)
      const from = performance.now()
      await untilBack()
      expect(performance.now() - from).toBeLessThan(BACK_MS)
    })
    await until(() => listeners.every(({ heard }) => heard.length >= accepted.length))
    await until(() => accepted.every((subject) => taken().has(subject)), 20_000)
    for (const { heard } of listeners) expect(heard).toEqual(heard.map((_, index) => index + 1))
  },
)
