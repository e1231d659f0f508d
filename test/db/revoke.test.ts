import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { revoking, TOKEN_REVOKED } from '../../src/workspace/index.ts'
import { afterFile } from '../support/after-file.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const db = await openTestDatabase()
const other = createNotifier({ url: db.url, pool: db.pool, log: silentLogger, clock: systemClock })
await other.start()
afterFile(() => other.stop())
const heard: string[] = []
other.subscribe(TOKEN_REVOKED, (id) => heard.push(id))

test('other processes hear of revoked tokens even if this one is killed right after the commit', async () => {
  const killed = { ...db, afterCommit: () => undefined, notifier: { publish: () => undefined } }
  await revoking(killed, async () => ({ ended: ['one', 'two'] }))
  await until(() => heard.length === 2)
  expect(heard).toEqual(['one', 'two'])
})

test('this process hears of revoked tokens before the others, of none if the transaction fails', async () => {
  const here: [string, string, object | undefined][] = []
  const notifier = { publish: (...args: [string, string, object?]) => here.push(args as never) }
  const failing = revoking({ ...db, notifier } as never, async () => {
    throw new Error('undo')
  })
  await expect(failing).rejects.toThrow('undo')
  expect(here).toEqual([])
  const result = await revoking({ ...db, notifier } as never, async () => ({ ended: ['three'], token: 'x' }))
  expect(result.token).toBe('x')
  expect(here).toEqual([[TOKEN_REVOKED, 'three', { toOthers: false }]])
})
