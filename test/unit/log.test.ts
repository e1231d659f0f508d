import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createLogger } from '../../src/observability/log.ts'
import { Repeats } from '../../src/observability/repeats.ts'

function capture(level: string, sample = 1) {
  const lines: string[] = []
  const stream = { write: (line: string) => lines.push(line) }
  const log = createLogger(level, { sample, stream })
  return { log, lines }
}

test('a line is JSON with its time, its level as a word, its fields and its message', () => {
  const { log, lines } = capture('info')
  log.child({ request: 'r1' }).info({ ms: 3 }, 'done')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    request: 'r1',
    ms: 3,
    msg: 'done',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
  })
})

test('messages below the level are not written', () => {
  const { log, lines } = capture('warn')
  log.info({}, 'no')
  log.error({}, 'yes')
  expect(lines).toHaveLength(1)
})

test.each(['authorization', 'token', 'secret', 'password', 'text'])(
  'a field named %s is never written, at any depth',
  (key) => {
    const { log, lines } = capture('debug')
    log.debug(
      {
        [key]: 's3cr3t',
        headers: { [key]: 's3cr3t' },
        request: { headers: { [key]: 's3cr3t', [key.toUpperCase()]: 's3cr3t', Authorization: 's3cr3t' } },
      },
      'asked',
    )
    log.debug(
      { err: Object.assign(new Error('no'), { [key]: 's3cr3t' }), all: [{ [key]: 's3cr3t' }] },
      'failed',
    )
    log.child({ [key]: 's3cr3t' }).debug({}, 'asked')
    expect(lines.join()).not.toContain('s3cr3t')
  },
)

test('the cause of an error is logged', () => {
  const { log, lines } = capture('info')
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')
  expect(lines[0]).toContain('inner')
})

test('sampling keeps about the share, and all or none of the lines of one request', () => {
  const { log, lines } = capture('info', 0.1)
  const ids = Array.from({ length: 5_000 }, () => randomUUID())
  for (const requestId of ids) {
    log.info({ requestId, status: 200 }, 'request')
    log.child({}).info({ requestId }, 'incoming message stored')
  }
  const kept = lines.map((line) => JSON.parse(line).requestId as string)
  expect(kept.length).toBeGreaterThan(2 * 350)
  expect(kept.length).toBeLessThan(2 * 650)
  for (const id of new Set(kept)) expect(kept.filter((one) => one === id)).toHaveLength(2)
})

test.each([
  ['an error', { requestId: 'r', status: 200 }, 'error'],
  ['a warning', { messageId: 'm' }, 'warn'],
  ['a request that failed', { requestId: 'r', status: 500 }, 'info'],
  ['a request that was refused', { requestId: 'r', status: 401 }, 'info'],
  ['a request whose client left', { requestId: 'r', status: null }, 'info'],
  ['a mail that was not accepted', { session: 's', outcome: '552' }, 'info'],
  ['a delivery that failed', { event: 'evt_1', outcome: 'failed' }, 'info'],
  ['a message that was refused', { messageId: 'm', status: 'refused', refusal: 'spam' }, 'info'],
  ['a line about the service itself', { reason: 'SIGTERM' }, 'info'],
] as const)('%s is never left out', (_, fields, level) => {
  const { log, lines } = capture('info', 0.000_001)
  log.info({ requestId: randomUUID(), status: 200 }, 'request')
  log[level](fields, 'kept')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['kept'])
})

test('a warning that only repeats a reason is written once a minute, and says how many were left out', () => {
  let now = 0
  const repeats = new Repeats(() => now)
  const fields = { error: 'connect ECONNREFUSED' }
  expect(repeats.pass(fields, 'could not look')).toEqual(fields)
  for (now of [1_000, 2_000, 59_999]) expect(repeats.pass(fields, 'could not look')).toBeUndefined()
  expect(repeats.pass({ error: 'starting up' }, 'could not look')).toEqual({ error: 'starting up' })
  expect(repeats.pass(fields, 'could not send')).toEqual(fields)
  now = 60_000
  expect(repeats.pass(fields, 'could not look')).toEqual({ ...fields, repeated: 3 })
})

test('warnings about a request, a mail or a delivery are all written', () => {
  const { log, lines } = capture('info')
  for (let n = 0; n < 2; n++) {
    log.warn({ error: 'no', requestId: 'r1' }, 'failed')
    log.error({ event: 'smtp.inbound', session: 's1', reason: 'no' }, 'failed')
    log.child({ session: 's1' }).warn({ error: 'no' }, 'failed')
    log.info({ error: 'no' }, 'failed')
    log.warn({ error: 'no' }, 'failed')
  }
  expect(lines).toHaveLength(9)
})
