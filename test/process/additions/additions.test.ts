import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ChangedCopy } from '../../support/changed-copy.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { temporaryDir } from '../../support/postgres.ts'
import { cleanUp, runIn } from '../../support/process.ts'
import { apiOf } from '../../support/service.ts'
import type { Running } from './additions.ts'
import { addChannel, testChannel } from './channel.ts'
import { addEventType, testEventType } from './event-type.ts'
import { addField, testField } from './filter.ts'
import { addSetting, testSetting } from './setting.ts'

/**
 * The service with an additional channel, setting of agents, field of messages and type of event: a copy of the
 * sources is changed as docs/development.md describes for each, then compiled and started once, since that takes longer
 * than all else.
 */
const copy = new ChangedCopy()
const dataDir = temporaryDir()
let database: TestDatabase
let running: Running
/** How many files each addition changes by hand, those of the web application included. */
const files: Record<string, number> = {}

beforeAll(async () => {
  files.channel = copy.make(await addChannel())
  files.setting = copy.make(addSetting)
  files.field = copy.make(addField)
  files.eventType = copy.make(addEventType)
  await copy.build()
  database = await createTestDatabase()
  const service = runIn(copy.dir, {
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: dataDir,
  })
  const { http, smtp } = await service.ready()
  running = { http, smtp, owner: apiOf(http, /amt_[0-9A-Za-z]{43}/.exec(service.stdout)![0]) }
})

// Not within `beforeAll`, where Vitest never runs it.
afterAll(async () => {
  await cleanUp(dataDir)
  await database?.drop()
  copy.remove()
})

test.each([
  ['channel', 7],
  ['setting', 6],
  ['field', 6],
  // The fourth is the one that appends it.
  ['eventType', 3],
])('%s: at most %i files are changed by hand', (addition, most) => {
  expect(files[addition]).toBeLessThanOrEqual(most)
})

test('everything compiles with them', () => copy.compile(), 240_000)

describe('a new channel', () => testChannel(() => running))
describe('a new setting of agents', () => testSetting(() => running))
describe('a new field of messages', () => testField(() => running))
describe('a new type of event', () => testEventType(() => running, copy))
