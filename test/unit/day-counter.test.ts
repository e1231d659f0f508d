import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { Db } from '../../src/db/client.ts'
import { DayCounter } from '../../src/workspace/usage/day-counter.ts'
import { DELIVERY_ACCEPTED, DELIVERY_FAILED } from '../../src/workspace/usage/day-counts.ts'

/** A table of counts by id, in which each of the first `failures` statements is lost, or only its result is. */
const tableOf = (failures: ('statement' | 'result')[] = []) => {
  const rows = new Map<string, unknown[]>()
  const query = async ({ values }: { values: unknown[][] }) => {
    const failure = failures.shift()
    if (failure !== 'statement')
      for (const [n, id] of (values[0] as string[]).entries())
        if (!rows.has(id))
          rows.set(
            id,
            values.slice(1).map((column) => column[n]),
          )
    if (failure) throw new Error('the connection is lost')
    return { rows: [] }
  }
  const counter = new DayCounter({ pool: { query } as unknown as Db['pool'], log: silentLogger })
  return { rows, counter }
}

const at = new Date('2026-01-01T23:59:59Z')
const accepted = { agentId: 'a', workspaceId: 'w', metric: DELIVERY_ACCEPTED, at }

test('one row for each agent, day and metric, written when it stops', async () => {
  const { rows, counter } = tableOf()
  for (let n = 0; n < 3; n++) counter.add(accepted)
  counter.add({ ...accepted, metric: DELIVERY_FAILED })
  counter.add({ ...accepted, at: new Date(at.getTime() + 1000) })
  counter.add({ ...accepted, agentId: 'b' })
  await counter.stop()
  expect([...rows.values()]).toEqual([
    ['a', 'w', '2026-01-01', 'delivery_accepted', 3],
    ['a', 'w', '2026-01-01', 'delivery_failed', 1],
    ['a', 'w', '2026-01-02', 'delivery_accepted', 1],
    ['b', 'w', '2026-01-01', 'delivery_accepted', 1],
  ])
})

test('a write that failed is repeated, and counts once when only its result was lost', async () => {
  const { rows, counter } = tableOf(['statement', 'result'])
  counter.add(accepted)
  const written = async () => {
    while (rows.size === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await written()
  counter.add(accepted)
  await counter.stop()
  expect([...rows.values()].map((row) => row.at(-1))).toEqual([1, 1])
})
