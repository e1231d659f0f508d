import { silentLogger } from '../../src/core/logger.ts'
import { openDb } from '../../src/db/client.ts'
import { createWorker } from './webhook-world.ts'

/**
 * A worker in its own process: `webhook-worker.ts DATABASE_URL MASTER_KEY`. `'start'` → it delivers; `'stop'`
 * → `'stopped'`.
 */
const [url, masterKey] = process.argv.slice(2) as [string, string]
const db = await openDb(url, { max: 10, log: silentLogger })
let lanes = createWorker(db, Buffer.from(masterKey, 'base64'))

process.on('message', async (order: 'start' | 'stop') => {
  if (order === 'start') return lanes.start()
  await lanes.stop(1_000)
  lanes = createWorker(db, Buffer.from(masterKey, 'base64'))
  process.send?.('stopped')
})
process.on('disconnect', () => process.exit())
process.send?.('up')
