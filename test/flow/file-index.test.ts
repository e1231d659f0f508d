import { getEventListeners } from 'node:events'
import { beforeAll, expect, test } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import { mayHaveText } from '../../src/mail/file/format.ts'
import { createFileIndexer } from '../../src/message/index.ts'
import { createFakeClock } from '../support/clock.ts'
import { post } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The worker that adds the words of files to the search index. */

const clock = createFakeClock()
const log = createTestLog()
let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { ROLES: 'api,smtp' }, world: { clock } })
  const owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [], blocked: [] })
})

interface File {
  filename: string
  contentType?: string
  content: string
}

const receive = async (subject: string, attachments: File[] = [{ filename: 'a.txt', content: subject }]) => {
  await post(service, {
    from: 'ann@example.com',
    to: agent.address,
    subject,
    text: 'see the file',
    attachments,
  })
  const { id } = (await agent.api('GET', `/agents/${agent.id}/messages?limit=1`)).body.items[0]
  // As the worker that indexes messages does, which does not run here.
  await service.db.pool.query('insert into unread_file (message_id, agent_id, due_at) values ($1, $2, $3)', [
    id,
    agent.id,
    clock.now(),
  ])
  return id as string
}

const receiveOne = (content: string, filename: string, contentType: string) =>
  receive(content, [{ filename, contentType, content }])

const waiting = async () => {
  const { rows } = await service.db.pool.query<{ id: string; attempts: number }>(
    'select message_id as id, attempts from unread_file where agent_id = $1',
    [agent.id],
  )
  return new Map(rows.map(({ id, attempts }) => [id, attempts]))
}

/** Time goes on meanwhile: the worker may begin to wait only after the clock has been moved. */
const untilWorked = (isDone: () => Promise<boolean>) =>
  until(() => {
    clock.advance(1_000)
    return isDone()
  })

test('a file that cannot be read now is tried again, and then given up; those that were taken with it are not', async () => {
  const [bad, ...good] = [await receive('bad'), await receive('first'), await receive('second')]
  const readLater = async ({ messageId }: { messageId: string }) => {
    if (messageId === bad) throw new AppError('unavailable', 'The reader was killed.')
    return { text: `words of ${messageId}`, problem: null }
  }
  const indexer = createFileIndexer({
    ...service.db,
    clock,
    log,
    fileTexts: { readLater, mayHaveText: () => true } as never,
  })
  indexer.start()
  for (const attempts of [1, 2]) {
    await untilWorked(async () => (await waiting()).get(bad!) === attempts)
    await untilWorked(async () => (await waiting()).size === 1)
    clock.advance(5 * 60_000)
  }
  await untilWorked(async () => (await waiting()).size === 0)
  await indexer.stop()
  expect(log.text()).toContain('The reader was killed.')
  const { rows } = await service.db.pool.query(
    `select message_id as id from message_search where words @@ 'words'::tsquery`,
  )
  expect(rows.map(({ id }) => id).sort()).toEqual(good.toSorted())
})

test('a file whose reader ended with the process is not begun a fourth time, and others are not charged', async () => {
  const [bad, good] = [await receive('poison'), await receive('third')]
  await service.db.pool.query('update unread_file set attempts = 3, due_at = $2 where message_id = $1', [
    bad,
    clock.now(),
  ])
  const begun: string[] = []
  const readLater = async ({ messageId }: { messageId: string }) => {
    begun.push(messageId)
    return { text: 'text', problem: null }
  }
  const indexer = createFileIndexer({
    ...service.db,
    clock,
    log,
    fileTexts: { readLater, mayHaveText: () => true } as never,
  })
  indexer.start()
  await untilWorked(async () => (await waiting()).size === 0)
  await indexer.stop()
  expect(begun).toEqual([good])
  expect(log.text()).toContain('its reader did not end, 3 times')
})

test('a file that has no text by its type and its beginning is not begun', async () => {
  await receiveOne('signature', 'smime.p7s', 'application/pkcs7-signature')
  await receiveOne('no PDF', 'order.pdf', 'application/pdf')
  const some = [
    await receiveOne('%PDF-1.7', 'scan.pdf', 'application/pdf'),
    await receiveOne('plain', 'unknown', 'application/octet-stream'),
  ]
  const begun: string[] = []
  const readLater = async ({ messageId }: { messageId: string }) => {
    begun.push(messageId)
    return { text: 'text', problem: null }
  }
  const fileTexts = { readLater, mayHaveText } as never
  const indexer = createFileIndexer({ ...service.db, clock, log, fileTexts })
  indexer.start()
  await untilWorked(async () => (await waiting()).size === 0)
  await indexer.stop()
  expect(begun.toSorted()).toEqual(some.toSorted())
})

test('of a message whose files take long, those that follow are not read, so that other messages wait no longer', async () => {
  const attachments = Array.from({ length: 10 }, (_, n) => ({ filename: `${n}.txt`, content: `${n}` }))
  const slow = await receive('slow', attachments)
  const next = await receive('next')
  const begun: string[] = []
  const readLater = async ({ messageId, index }: { messageId: string; index: number }) => {
    begun.push(messageId === slow ? `${index}` : 'next')
    if (messageId === slow) clock.advance(25_000)
    return { text: 'text', problem: null }
  }
  const fileTexts = { readLater, mayHaveText: () => true } as never
  const indexer = createFileIndexer({ ...service.db, clock, log, fileTexts })
  indexer.start()
  await untilWorked(async () => (await waiting()).size === 0)
  await indexer.stop()
  expect(begun).toEqual(['0', '1', '2', 'next'])
  const { rows } = await service.db.pool.query(
    `select message_id as id from message_search where words @@ 'text'::tsquery and message_id = any ($1::uuid[])`,
    [[slow, next]],
  )
  expect(rows.map(({ id }) => id).sort()).toEqual([slow, next].sort())
})

test('a round leaves nothing at the signal that ends the worker', async () => {
  const left: number[] = []
  const sleep = async (_: number, signal?: AbortSignal) => {
    left.push(getEventListeners(signal!, 'abort').length)
    await new Promise(setImmediate)
  }
  const fileTexts = { mayHaveText } as never
  const indexer = createFileIndexer({ ...service.db, clock: { ...clock, sleep }, log, fileTexts })
  indexer.start()
  await until(() => left.length >= 5)
  await indexer.stop()
  expect(new Set(left)).toEqual(new Set([0]))
})
