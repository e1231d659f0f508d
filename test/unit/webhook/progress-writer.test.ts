import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Db } from '../../../src/db/client.ts'
import type { Progress } from '../../../src/webhook/delivery/lane/progress.ts'
import { ProgressWriter } from '../../../src/webhook/delivery/progress-writer.ts'

const base: Progress = {
  lane: 'lane',
  agentId: 'agent',
  workspaceId: 'workspace',
  position: 1,
  attempts: 0,
  error: null,
  retryAt: null,
  lastDeliveredAt: null,
  release: false,
  revision: 1,
  answered: 0,
}
const EARLIER = new Date('2026-01-01T10:00:00Z')
const LATER = new Date('2026-01-01T11:00:00Z')

/** A writer with a database that runs `query` for each write. */
const writerOn = (query: () => Promise<unknown>, done: (progress: Progress) => void): ProgressWriter =>
  new ProgressWriter({
    pool: { query } as unknown as Db['pool'],
    prisma: {} as Db['prisma'],
    afterCommit: (effect) => effect(),
    lease: { owner: 'owner', ms: 1000 },
    log: silentLogger,
    counter: { add: () => undefined },
    written: done,
  })

const ROWS = { rows: [{ mine: 'lane', rewound: null }] }

/** What is written of a lane of which these were noted, one after the other, before the write. */
const written = async (...changes: Partial<Progress>[]): Promise<Progress> => {
  const results: Progress[] = []
  const writer = writerOn(
    async () => ROWS,
    (progress) => results.push(progress),
  )
  for (const change of changes) writer.note({ progress: { ...base, ...change }, settled: null })
  await writer.stop(1000)
  expect(results).toHaveLength(1)
  return results[0]!
}

test('what was noted last is written', async () => {
  const last = { position: 3, attempts: 2, error: 'answered 500', retryAt: LATER, release: true, answered: 4 }
  expect(await written({ position: 2, error: 'no answer', answered: 3 }, last)).toEqual({ ...base, ...last })
})

test('the last delivery stays, unless there was another one', async () => {
  expect(await written({ lastDeliveredAt: EARLIER }, {})).toMatchObject({ lastDeliveredAt: EARLIER })
  expect(await written({ lastDeliveredAt: EARLIER }, { recovered: true })).toMatchObject({
    lastDeliveredAt: EARLIER,
  })
  expect(await written({ lastDeliveredAt: EARLIER }, { lastDeliveredAt: LATER })).toMatchObject({
    lastDeliveredAt: LATER,
  })
})

test.each(['failedAt', 'givenUpAt'] as const)(
  'the first %s counts, until the lane recovers',
  async (field) => {
    expect(await written({ [field]: EARLIER }, {})).toMatchObject({ [field]: EARLIER })
    expect(await written({}, { [field]: LATER })).toMatchObject({ [field]: LATER })
    expect(await written({ [field]: EARLIER }, { [field]: LATER })).toMatchObject({ [field]: EARLIER })
    expect(await written({ [field]: EARLIER }, { recovered: true })).not.toHaveProperty(field)
  },
)

test('a recovery stays, and a failure after it is a new one', async () => {
  expect(await written({ recovered: true }, {})).toMatchObject({ recovered: true })
  expect(await written({ failedAt: EARLIER }, { recovered: true }, { failedAt: LATER })).toMatchObject({
    recovered: true,
    failedAt: LATER,
  })
})

test('what is noted while a write takes place is gathered too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const writes: ((rows: unknown) => void)[] = []
  const positions: number[] = []
  const query = () => new Promise((resolve) => writes.push(resolve))
  const writer = writerOn(query, ({ position }) => positions.push(position))
  const note = (position: number) => writer.note({ progress: { ...base, position }, settled: null })
  note(1)
  vi.advanceTimersToNextTimer()
  note(2)
  writes[0]!(ROWS)
  await setImmediate()
  expect(positions).toEqual([1])
  note(3)
  expect(writes).toHaveLength(1)
  vi.advanceTimersToNextTimer()
  writes[1]!(ROWS)
  await writer.stop(1000)
  expect(positions).toEqual([1, 3])
  expect(writes).toHaveLength(2)
})
