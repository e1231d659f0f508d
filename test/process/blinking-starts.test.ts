import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { startWire, type Wire } from '../support/wire.ts'

/** Starts beside a database that comes and goes: each of them waits, and none ends with a stack. `STARTS=50` tries more. */

const STARTS = Number(process.env.STARTS ?? 4)
/** How many start at once: on two cores, more of them only wait for each other. */
const AT_ONCE = 2
vi.setConfig({ testTimeout: 600_000 + STARTS * 30_000 })

const postgres = inject('postgres').url
const name = `blinking_${randomBytes(6).toString('hex')}`
const dir = temporaryDir()
let wire: Wire
beforeAll(async () => {
  await execute(postgres, `CREATE DATABASE ${name}`)
  wire = await startWire(urlOf(postgres, name))
})
afterAll(async () => {
  await wire.cut()
  await cleanUp(dir)
  await execute(postgres, `DROP DATABASE ${name} WITH (FORCE)`)
})

test('every start beside a database that comes and goes succeeds', async () => {
  let blinks = 0
  let ended = false
  /** Up for 20 to 400 ms, down for 10 to 200 ms, for the first seconds of each start. */
  const blink = async (forMs: number) => {
    const until = Date.now() + forMs
    while (Date.now() < until && !ended) {
      await wire.cut()
      await sleep(10 + Math.random() * 190)
      await wire.mend()
      blinks++
      await sleep(20 + Math.random() * 380)
    }
  }
  const settings = {
    DATABASE_URL: wire.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    LOG_LEVEL: 'error',
  }
  for (let n = 0; n < STARTS; n += AT_ONCE) {
    const starts = Array.from({ length: AT_ONCE }, (_, m) =>
      run({ ...settings, DATA_DIR: `${dir}/${n + m}` }),
    )
    const blinking = blink(8_000)
    const outcomes = await Promise.all(
      starts.map((start) =>
        start.ready().then(
          () => 'ready',
          (error: Error) => error.message,
        ),
      ),
    )
    await blinking
    expect(outcomes).toEqual(starts.map(() => 'ready'))
    for (const start of starts) start.kill('SIGTERM')
    for (const { code } of await Promise.all(starts.map(({ exited }) => exited))) expect(code).toBe(0)
  }
  ended = true
  expect(blinks).toBeGreaterThan(STARTS)
})
