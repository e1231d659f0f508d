import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFoundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { apiOf } from './api.ts'
import { seed } from './seed.ts'

/** Fills the empty workspace of a running service, for `npm run dev -- --seed`. Arguments: its addresses. */

const [, , http = '', smtp = ''] = process.argv
const config = readConfig(process.env)
const token = readFileSync(join(config.dataDir, 'owner-token'), 'utf8').trim()
const api = apiOf(http, token)
if ((await api('GET', '/agents')).body.length > 0)
  process.stdout.write('The workspace has agents already; nothing was added.\n')
else {
  const [host = '', port] = smtp.split(':')
  const { id } = (await api('GET', '/workspace')).body
  const { db, close } = await openFoundation(config, silentLogger, { service: false })
  try {
    await seed(
      { http, smtp: { host, port: Number(port) }, db },
      { id, api },
      'https://shop.northwind.example/hooks',
    )
    process.stdout.write('The workspace has two agents with messages, drafts, a webhook and secrets now.\n')
  } finally {
    await close()
  }
}
